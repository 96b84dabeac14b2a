"""A test run that was seen: on which tree it ran, and where it is written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle import journal, log, stage_log
from lifecycle.errors import GitFailed, Transient
from lifecycle.stages import evidence, session, tree
from lifecycle.stages.evidence import Ended
from lifecycle.stages.session import Kept

if TYPE_CHECKING:
    from lifecycle.answers.call import Call
    from lifecycle.stage_settings import StageSettings
    from lifecycle.stages.evidence import Run
    from lifecycle.stages.shelf import Shelf


def tree_of(call: Call, stages: StageSettings) -> str:
    """The tree as it is now; "" if nobody asks for it, or git cannot say, which the log tells."""
    if not stages.require_evidence:
        return ""
    world = call.world
    try:
        return tree.fingerprint(world.root, world.deadline, world.environment)
    except (GitFailed, Transient) as error:
        log.write(world.root, f"{call.hook}: {error.sentence}")
        return ""


def keep(call: Call, shelf: Shelf, run: Run, *, is_over: bool = True) -> None:
    """Remember a run, and say so in the log and, once it is over, in the journal. Under the lock."""
    if not evidence.add(shelf, run):
        return
    root = call.world.root
    still = "" if is_over else ", in the background"
    stage_log.write(
        str(root), f"Test run seen: {run.outcome}{still} ({evidence.shown(run.command)})"
    )
    if not is_over:
        return
    memory = session.load(shelf, call.session)
    journal.note(root, _entry(call, run, memory or Kept(call.session)))


def _entry(call: Call, run: Run, kept: Kept) -> journal.Entry:
    command = evidence.shown(run.command)
    outcome = Ended.UNKNOWN if run.outcome is Ended.NOTHING else Ended(run.outcome)
    return journal.Entry(
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
