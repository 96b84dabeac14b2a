"""What the staged workflow says when a session starts.

After `/clear` it says the stage of the unfinished task, which the client gives to the agent with the next
prompt; or else the next task's instruction, with which on-clear starts a turn. A session that is resumed
or compacted is told its stage and its marker, from the transcript. At any other start, and if the cleared
session was not led, one line says that there are tasks, and another one which of them a session of this
worktree left unfinished.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from lifecycle.core.light_dataclass import replace
from lifecycle.core.redact import as_data, quoted
from lifecycle.core.stage_names import Stage
from lifecycle.settings.running_client import Client, client_of
from lifecycle.stages.decisions import instructions
from lifecycle.stages.decisions.decide import Memory
from lifecycle.stages.session import activation, session_record, workflow_tasks
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.stages.session.workflow_tasks import Activity
from lifecycle.stages.stop.staged_task import facts_of
from lifecycle.stages.transcript import stop_input, tasks_taken
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.trackers.registry import OWN_COMMANDS

GOES_ON = ("resume", "compact", "fork")
CLEAR = "clear"

KEPT_SECONDS = 1.5
"""Seconds of a start's time that are reserved for the board, however slow the tracker is."""


def start_lines(call: activation.StageCall) -> list[str]:
    """Lines for the agent; none if the workflow is not active, or something failed."""
    return _lines(call, _Start.text)


def wake_lines(call: activation.StageCall) -> list[str]:
    """The next task's instruction, which starts a turn after `/clear`; once for each session."""
    return _lines(call, _Start.wake) if _is_attended(call) else []


def _lines(call: activation.StageCall, text_of: Callable[[_Start], str]) -> list[str]:
    with activation.guarded(call, "Session started: {}"):
        if activation.wanted_in(call.world) is not None:
            with call.world.deadline.keeping(KEPT_SECONDS):
                return text_of(_Start(call)).splitlines()
    return []


class _Start:
    """One start of a session."""

    def __init__(self, call: activation.StageCall) -> None:
        self.call = call
        self.stages = call.world.settings.stages
        self.files = WorkflowFiles(call.world.root)
        self.now = call.world.clock.now()

    def text(self) -> str:
        """What the session is told at its start; "" for nothing."""
        call, source = self.call, str(self.call.event.get("source") or "")
        if source in GOES_ON:
            return self._going_on()
        if not self.known.tasks:
            return ""
        last = self._cleared() if source == CLEAR else None
        before = self._before(last)
        facts = self._facts(self.known, before)
        if before is not None:
            with self.files.locked():
                session_record.save(self.files, before)
            return instructions.again(Stage(before.stage), facts, instructions.GOES_ON)
        if call.has_claim:
            return ""
        if last is None:
            offer = _offer(self.known, facts) if facts.next_task else ""
            return f"{_left(call, self.known)}\n{offer}".strip()
        # A person's client is woken by on-clear.
        return "" if not facts.next_task or _is_attended(call) else _next(facts)

    def wake(self) -> str:
        """The instruction, if a led session was cleared between two tasks and was not given it yet."""
        last, session = self._cleared(), self.call.session
        if last is None or self.call.has_claim:
            return ""
        facts = self._facts(self.known, None)
        if self._before(last) is not None or not facts.next_task:
            return ""
        woken = SessionRecord(session, stage=Stage.CODING.value, client=last.client, at=self.now)
        with self.files.locked():
            if session_record.load(self.files, session) is not None:
                return ""  # a second copy of this event
            session_record.save(self.files, woken)
        return _next(facts)

    def _going_on(self) -> str:
        """The instruction of the stage in force, by the transcript; the tracker is not asked."""
        record, client = session_record.load(self.files, self.call.session), self.call.process
        if record is not None and record.client != client:
            # This client continues the session, which is therefore not over.
            record = replace(record, client=client)
            with self.files.locked():
                session_record.save(self.files, record)
        path = str(self.call.event.get("transcript_path") or "")
        turn = stop_input.read(path, deep=stop_input.DEEP)
        if turn.asked is None or turn.markers:
            return ""  # no stage is in force, or it is done: the next stop says what follows
        known = workflow_tasks.known(self.files, self.call.world.tracker, self.stages)
        if known is not None and not known.tasks:
            return ""  # no task is left: the workflow is not active
        facts = self._facts(known or Activity(self.now, ""), record)
        if not facts.task and turn.asked not in (Stage.CODING, Stage.NEXT_TASK):
            named = tasks_taken.told_in(turn.instruction, (self.stages.start,))
            facts = replace(facts, task=as_data(named))
        if record is None or not record.labels:
            facts = replace(facts, line=session_record.line_told(turn.instruction))
        return instructions.again(turn.asked, facts, instructions.GOES_ON)

    @cached_property
    def known(self) -> Activity:
        """The tracker's tasks; the tracker is asked if its last answer is too old."""
        known = workflow_tasks.known(self.files, self.call.world.tracker, self.stages)
        if known is not None and known.is_fresh(self.now):
            return known
        return workflow_tasks.asked_anew(self.call.world, known)

    def _cleared(self) -> SessionRecord | None:
        """The record of the cleared session (the same client's last one), if it was led."""
        own = ("", self.call.session)
        for record in session_record.all_of(self.files):
            if record.client == self.call.process and record.session not in own:
                return record if record.stage else None
        return None

    def _before(self, last: SessionRecord | None) -> SessionRecord | None:
        """The record of a session that was cleared in the middle of a task, as this session's own."""
        if last is None or self.known.find(last.task) is None:
            return None
        mine = replace(last, session=self.call.session, memory=Memory(), at=self.now)
        return replace(mine, ended="", spelled="", transcript="")

    def _facts(self, known: Activity, before: SessionRecord | None) -> instructions.Facts:
        task, labels = (before.task, before.labels) if before is not None else ("", ())
        is_claimed, line = self.call.has_claim and bool(labels), self.stages.line_of(labels)
        return replace(facts_of(self.call, known, task), line=line, is_claimed=is_claimed)


def _next(facts: instructions.Facts) -> str:
    return instructions.instruction(Stage.CODING, facts, instructions.COMPLETED[Stage.NEXT_TASK])


def _is_attended(call: activation.StageCall) -> bool:
    """True if a person uses the client; otherwise exit 2 starts no turn."""
    return bool(call.session) and client_of(call.world.environment) is Client.ATTENDED


def _left(call: activation.StageCall, known: Activity) -> str:
    """One line if a session of this worktree that is over left a task unfinished."""
    for task in known.tasks:
        seat = activation.of(call.world.root, task.assignee, call.session, call.process)
        if seat is not None and seat.is_over:
            command = OWN_COMMANDS.claim.replace("{id}", task.id)
            words = {"task": as_data(task.id), "title": quoted(task.title), "command": command}
            return str(instructions.TEXTS["START"]["left"].format(**words))
    return ""


def _offer(known: Activity, facts: instructions.Facts) -> str:
    """One line: how many tasks there are, which is next, and how to begin."""
    ready = known.startable
    tasks = "1 task is" if len(ready) == 1 else f"{len(ready)} tasks are"
    begin = facts.settings.start or facts.wording.start
    command = begin.replace("{id}", facts.next_task)
    command = command if facts.next_task in command else f"{command} {facts.next_task}"
    words = {"tasks": tasks, "facts": facts, "title": quoted(ready[0].title), "command": command}
    return str(instructions.TEXTS["START"]["offer"].format(**words))
