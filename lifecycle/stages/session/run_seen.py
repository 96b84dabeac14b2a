"""A test run that was seen: on which tree it ran, and where it is written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.core.errors import GitFailed, Transient
from lifecycle.evidence import seen_runs, tree_hash
from lifecycle.evidence.seen_runs import EndedRun
from lifecycle.stages.session import session_record
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.storage import journal, journal_entry, log, stage_log

if TYPE_CHECKING:
    from lifecycle.core.values.configured import StageSettings
    from lifecycle.evidence.seen_runs import SeenRun
    from lifecycle.stages.session.stage_call import StageCall
    from lifecycle.storage.workflow_files import WorkflowFiles


def tree_of(call: StageCall, stages: StageSettings) -> str:
    """The tree as it is now; "" if nobody asks for it, or git cannot say, which the log tells."""
    if not stages.require_evidence:
        return ""
    world = call.world
    try:
        return tree_hash.fingerprint(world.root, world.deadline, world.environment)
    except (GitFailed, Transient) as error:
        log.write(world.root, f"{call.hook}: {error.sentence}")
        return ""


def keep(call: StageCall, shelf: WorkflowFiles, run: SeenRun, *, is_over: bool = True) -> None:
    """Remember a run, and say so in the log and, once it is over, in the journal. Under the lock."""
    if not seen_runs.add(shelf, run):
        return
    root = call.world.root
    still = "" if is_over else ", in the background"
    stage_log.write(
        str(root), f"Test run seen: {run.outcome}{still} ({seen_runs.shown(run.command)})"
    )
    if not is_over:
        return
    memory = session_record.load(shelf, call.session)
    journal.note(root, _entry(call, run, memory or SessionRecord(call.session)))


def _entry(call: StageCall, run: SeenRun, kept: SessionRecord) -> journal_entry.JournalEntry:
    command = seen_runs.shown(run.command)
    outcome = EndedRun.UNKNOWN if run.outcome is EndedRun.NOTHING else EndedRun(run.outcome)
    return journal_entry.JournalEntry(
        at=run.at,
        system=journal.STAGES,
        kind=journal.CHECK,
        task=kept.spelled or kept.task,
        actor=kept.actor,
        session=call.session,
        source="TESTING",
        key=f"check:{run.id}" if run.id else "",
        detail={"outcome": outcome.value, "command": command, "tree": run.tree},
    )
