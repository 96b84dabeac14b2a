"""What the staged workflow says when a session starts.

After `/clear` it is the stage of the task that was under way, which the client gives to the agent with the
next prompt; or else the next task's instruction, with which on-clear starts a turn. A session that is
resumed or compacted is told its stage and its marker, from the transcript. At any other start, and where
the session that was cleared was not led, one line says that there are tasks, and one which of them a
session of this worktree left under way.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.core.light_dataclass import replace
from lifecycle.core.redact import as_data, quoted
from lifecycle.core.stage_names import Stage
from lifecycle.core.values.configured import StageSettings
from lifecycle.settings.running_client import Client
from lifecycle.stages.decisions import instructions
from lifecycle.stages.decisions.decide import Memory
from lifecycle.stages.session import activation, session_record, workflow_tasks
from lifecycle.stages.session.activation import StageCall
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.stages.session.workflow_tasks import Activity
from lifecycle.stages.stop.staged_task import facts_of
from lifecycle.stages.transcript import stop_input, tasks_taken
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.trackers.registry import OWN_COMMANDS

GOES_ON = ("resume", "compact", "fork")
CLEAR = "clear"

KEPT_SECONDS = 1.5
"""What is left of a start's time for the board, whatever the tracker does."""


def start_lines(call: StageCall) -> list[str]:
    """Lines for the agent; none where the workflow is not active, or something went wrong."""
    return _lines(call, _text)


def wake_lines(call: StageCall) -> list[str]:
    """The next task's instruction, with which a turn is started after `/clear`; once for each session."""
    return _lines(call, _wake) if _is_attended(call) else []


def _lines(call: StageCall, text_of: Callable[[StageCall, StageSettings], str]) -> list[str]:
    with activation.guarded(call, "Session started: {}"):
        stages = activation.wanted_in(call.world)
        if stages is not None:
            with call.world.deadline.keeping(KEPT_SECONDS):
                return text_of(call, stages).splitlines()
    return []


def _text(call: StageCall, stages: StageSettings) -> str:
    source = str(call.event.get("source") or "")
    files = WorkflowFiles(call.world.root)
    if source in GOES_ON:
        return _going_on(call, stages, _of_this_client(call, files))
    known = _activity(call, stages, files)
    if not known.tasks:
        return ""
    last = _cleared(call, files) if source == CLEAR else None
    before = _before(call, last, known)
    facts = _facts(call, stages, known, before)
    if before is not None:
        with files.locked():
            session_record.save(files, before)
        return instructions.again(Stage(before.stage), facts, instructions.GOES_ON)
    if call.has_claim:
        return ""
    if last is None:
        offer = _offer(known, facts) if facts.next_task else ""
        return f"{_left(call, known)}\n{offer}".strip()
    if not facts.next_task:
        return ""
    return "" if _is_attended(call) and call.starts_on_clear else _next(facts)


def _wake(call: StageCall, stages: StageSettings) -> str:
    """The instruction, if a session that was led was cleared between two tasks, and nobody said it yet."""
    files = WorkflowFiles(call.world.root)
    last = _cleared(call, files)
    if last is None or call.has_claim:
        return ""
    known = _activity(call, stages, files)
    facts = _facts(call, stages, known, None)
    if _before(call, last, known) is not None or not facts.next_task:
        return ""
    now = call.world.clock.now()
    woken = SessionRecord(call.session, stage=Stage.CODING.value, client=last.client, at=now)
    with files.locked():
        if session_record.load(files, call.session) is not None:
            return ""  # a second copy of this event
        session_record.save(files, woken)
    return _next(facts)


def _next(facts: instructions.Facts) -> str:
    done = instructions.COMPLETED[Stage.NEXT_TASK]
    return instructions.instruction(Stage.CODING, facts, done)


def _is_attended(call: StageCall) -> bool:
    """True if somebody sits in front of the client; elsewhere exit 2 starts no turn."""
    return bool(call.session) and call.client is Client.ATTENDED


def _of_this_client(call: StageCall, files: WorkflowFiles) -> SessionRecord | None:
    """What is kept of the session, which this client goes on with: it is not over."""
    record, client = session_record.load(files, call.session), call.process
    if record is not None and record.client != client:
        record = replace(record, client=client)
        with files.locked():
            session_record.save(files, record)
    return record


def _going_on(call: StageCall, stages: StageSettings, record: SessionRecord | None) -> str:
    """The instruction of the stage in force, as the transcript tells it; nothing is asked of anybody."""
    path = str(call.event.get("transcript_path") or "")
    turn = stop_input.read(path, deep=stop_input.DEEP)
    if turn.asked is None or turn.markers:
        return ""  # nothing is asked for, or it is done: the next stop says what follows
    key = workflow_tasks.key_of(call.world.tracker, stages)
    known = workflow_tasks.known(WorkflowFiles(call.world.root), key)
    if known is not None and not known.tasks:
        return ""  # nothing is left: the workflow is not active
    known = known or Activity(call.world.clock.now(), "")
    facts = _facts(call, stages, known, record)
    named = tasks_taken.told_in(turn.instruction, (stages.start,))
    if not facts.task and turn.asked not in (Stage.CODING, Stage.NEXT_TASK):
        facts = replace(facts, task=as_data(named))
    if record is None or not record.labels:
        facts = replace(facts, line=session_record.line_told(turn.instruction))
    return instructions.again(turn.asked, facts, instructions.GOES_ON)


def _activity(call: StageCall, stages: StageSettings, files: WorkflowFiles) -> Activity:
    tracker, now = call.world.tracker, call.world.clock.now()
    known = workflow_tasks.known(files, workflow_tasks.key_of(tracker, stages))
    if known is not None and known.is_fresh(now):
        return known
    asked = workflow_tasks.ask(tracker, stages, now, known)
    with files.locked():
        workflow_tasks.keep(files, asked)
    return asked


def _cleared(call: StageCall, files: WorkflowFiles) -> SessionRecord | None:
    """What was kept of the session that was cleared, if it was led: the same client's last one."""
    records = [each for each in session_record.all_of(files) if each.client == call.process]
    last = next((each for each in records if each.session not in ("", call.session)), None)
    return last if last is not None and last.stage else None


def _before(call: StageCall, last: SessionRecord | None, known: Activity) -> SessionRecord | None:
    """The session that was cleared in the middle of a task, as this session's own."""
    if last is None or known.find(last.task) is None:
        return None
    now = call.world.clock.now()
    mine = replace(last, session=call.session, memory=Memory(), at=now)
    return replace(mine, ended="", spelled="", transcript="")


def _facts(
    call: StageCall, stages: StageSettings, known: Activity, before: SessionRecord | None
) -> instructions.Facts:
    task, labels = (before.task, before.labels) if before is not None else ("", ())
    is_claimed = call.has_claim and bool(labels)
    return facts_of(call, stages, known, task, stages.line_of(labels), is_claimed=is_claimed)


def _left(call: StageCall, known: Activity) -> str:
    """One line if a session of this worktree left a task under way, and is over by now."""
    left = activation.left(call.world.root, known.tasks, call.session, call.process)
    if not left:
        return ""
    command = OWN_COMMANDS.claim.replace("{id}", left[0].id)
    return (
        f"Staged workflow: {as_data(left[0].id)} ({quoted(left[0].title)}) is under way in this worktree, "
        "and the session that had it is over. When the user wants it to go on, take it over with: "
        f"{command}"
    )


def _offer(known: Activity, facts: instructions.Facts) -> str:
    """One line: how many tasks there are, which is next, and how to begin."""
    ready = known.startable
    count = "1 task is" if len(ready) == 1 else f"{len(ready)} tasks are"
    begin = facts.settings.start or facts.wording.start
    command = begin.replace("{id}", facts.next_task)
    command = command if facts.next_task in command else f"{command} {facts.next_task}"
    title = quoted(ready[0].title)
    return (
        f"Staged workflow: {count} ready with the label {facts.settings.label}; the next one is "
        f"{facts.next_task} ({title}). When the user wants it, begin with: {command}"
    )
