"""What `lifecycle stage status` shows: active or why not, the task, the line of stages, what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lifecycle.app import tracker_opening
from lifecycle.core.errors import GitFailed, LifecycleError, Transient
from lifecycle.core.redact import quoted
from lifecycle.core.stage_names import COMPLETES, LINE, MARKERS, Detected, Stage
from lifecycle.core.timing.deadline import Deadline
from lifecycle.evidence import seen_runs, tree_hash
from lifecycle.evidence.seen_runs import EvidenceStanding
from lifecycle.stages.decisions import decide
from lifecycle.stages.decisions.table import following
from lifecycle.stages.session import activation, session_record, workflow_tasks
from lifecycle.stages.transcript import session_end_lines
from lifecycle.storage import workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles

if TYPE_CHECKING:
    from lifecycle.cli.command_session import Session
    from lifecycle.core.values.configured import StageSettings
    from lifecycle.stages.session.session_record import SessionRecord
    from lifecycle.stages.session.workflow_tasks import Activity
    from lifecycle.stages.transcript.turn import Turn

_MISSING = {
    EvidenceStanding.RED: decide.MISSING[decide.Evidence.RED],
    EvidenceStanding.CHANGED: decide.MISSING[decide.Evidence.CHANGED],
    EvidenceStanding.NONE: decide.MISSING[decide.Evidence.MISSING],
    EvidenceStanding.UNKNOWN: decide.MISSING[decide.Evidence.UNKNOWN],
    EvidenceStanding.NOTHING: decide.MISSING[decide.Evidence.NOTHING],
}


UNHEARD = "Note: no hook of ours is wired here, so no session is led; run: lifecycle init --stages"


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines for a person, and the same for `--json`."""

    lines: list[str]
    data: dict[str, Any]


def look(at: Session, kept: SessionRecord | None) -> Shown:
    """Where the workflow stands; the tracker is asked.

    Raises:
        BadConfig: the settings cannot be used.
    """
    stages = at.world.settings.stages
    shelf = WorkflowFiles(at.root)
    why = _why_off(stages, shelf)
    if why:
        return Shown([why], {"active": False, "why": why})
    activation.wanted_in(at.world)
    try:
        known = _asked(at, stages, shelf)
    except LifecycleError as error:
        why = f"Not active: the tracker does not answer. {error.sentence}"
        return Shown([why], {"active": False, "why": why})
    note = tracker_opening.note_of(at.world)
    notes = [f"Note: {note}"] if note else []
    if not known.tasks:
        why = f"Not active: there is no open task with the label {stages.label}."
        return Shown([why, *notes], {"active": False, "why": why, "tasks": []})
    count = "1 open task" if len(known.tasks) == 1 else f"{len(known.tasks)} open tasks"
    first = f"Active: {count} with the label {stages.label}."
    data = {"active": True, "why": "", "tasks": [task.id for task in known.tasks]}
    shown = _session(at, stages, known, kept)
    unheard = [] if _is_heard(at) else [UNHEARD]
    return Shown([first, *notes, *shown.lines, *unheard], data | shown.data)


def _is_heard(at: Session) -> bool:
    """True if a hook of ours hears the end of a turn here."""
    from lifecycle.setup.init.found_hooks import ClientSetup

    client = ClientSetup.read(at.root, at.world.environment)
    return client.plugin_runs or bool(client.of("on-stop"))


def _why_off(stages: StageSettings, shelf: WorkflowFiles) -> str:
    if not stages.use:
        return f"Not active: {workflow_marks.CONFIG} does not switch it on; run: lifecycle init --stages"
    if shelf.is_off:
        return "Not active: it is switched off in this worktree; run: lifecycle stage on"
    return ""


def _asked(at: Session, stages: StageSettings, shelf: WorkflowFiles) -> Activity:
    """The tracker's answer, which hooks believe from now on: a label that was just added counts at once."""
    tracker = at.world.tracker
    before = workflow_tasks.known(shelf, workflow_tasks.key_of(tracker, stages))
    known = workflow_tasks.ask(tracker, stages, at.world.clock.now(), before)
    with shelf.locked(at.world.deadline.remaining()):
        workflow_tasks.keep(shelf, known)
    return known


def _session(
    at: Session, stages: StageSettings, known: Activity, kept: SessionRecord | None
) -> Shown:
    if kept is None:
        nobody = "No session was led here yet; it begins with a session that works on one of them."
        return Shown([nobody], {"session": None})
    turn = (
        session_end_lines.read(kept.transcript, deep=session_end_lines.DEEP)
        if kept.transcript
        else None
    )
    line = _line(stages, kept, turn)
    if kept.ended and not kept.task:
        return _ended(kept, line)
    stage = _stage(kept, turn, line)
    own = kept.task or _taken(turn, known)
    task = known.find(own)
    name = f"{own} {quoted(task.title) if task is not None else ''}".strip() or "not known yet"
    memory = kept.memory
    missing = _missing(at, stages, stage)
    lines = [
        f"Session {kept.session or 'that stops next'}, task {name}.",
        " → ".join(f"[{one.value}]" if one is stage else one.value for one in line),
    ]
    if stage is not None:
        lines.append(f"It ends with ::: WORKFLOW_STAGE: {MARKERS[stage].value} :::")
    lines += [f"Missing: {missing}."] if missing else []
    lines.append(f"Told to go on {memory.blocks} of {stages.max_blocks} times.")
    lines += ["It was let go, having been told too often."] if memory.is_let_go else []
    data = {
        "session": kept.session,
        "task": own,
        "stage": stage.value if stage is not None else None,
        "line": [one.value for one in line],
        "missing": missing,
        "blocks": memory.blocks,
        "max_blocks": stages.max_blocks,
        "let_go": memory.is_let_go,
    }
    return Shown(lines, data)


def _taken(turn: Turn | None, known: Activity) -> str:
    """The task that the session took after its last one was closed; "" if no stop was looked at since."""
    name = turn.taken if turn is not None else ""
    return name if known.find(name) is not None else ""


def _line(stages: StageSettings, kept: SessionRecord, turn: Turn | None) -> tuple[Stage, ...]:
    """The stages of the session's task: by its labels, else as it was told them."""
    if kept.labels or turn is None:
        return stages.line_of(kept.labels)
    return session_record.line_told(turn.instruction)


def _ended(kept: SessionRecord, line: tuple[Stage, ...]) -> Shown:
    """A session whose task was led to its end, and which nobody leads any more."""
    names = [one.value for one in line]
    lines = [
        f"Session {kept.session} was led to the end of {kept.ended}, and is not led any more.",
        " → ".join(names),
    ]
    data = {"session": kept.session, "task": "", "ended": kept.ended, "stage": None, "line": names}
    return Shown(lines, data)


def _stage(kept: SessionRecord, turn: Turn | None, line: tuple[Stage, ...]) -> Stage | None:
    """What the session is at: set by hand, else as its transcript tells, else as it was told last."""
    if kept.memory.set_stage is not None:
        return kept.memory.set_stage
    if kept.memory.is_let_go and kept.stage in list(LINE):
        return Stage(kept.stage)  # as the note said that told the user
    if turn is not None and turn.markers:
        return following(Detected(turn.markers[-1]), line)
    if turn is not None and turn.asked is not None:
        return turn.asked
    return Stage(kept.stage) if kept.stage in list(LINE) else None


def _missing(at: Session, stages: StageSettings, stage: Stage | None) -> str:
    """What stands between the session and a marker that counts; "" if nothing does."""
    is_past = stage is not None and LINE.index(stage) >= LINE.index(
        COMPLETES[Detected.TESTS_PASSING]
    )
    if not stages.require_evidence or not is_past:
        return ""
    deadline = Deadline.after(at.world.clock, 10.0)
    try:
        now = tree_hash.fingerprint(at.root, deadline, at.world.environment)
    except (GitFailed, Transient) as error:
        return error.sentence.rstrip(".")
    return _MISSING.get(seen_runs.standing(seen_runs.load(WorkflowFiles(at.root)), now), "")
