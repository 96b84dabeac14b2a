"""Which task is a session's own: what it claimed, began or was told, and not what it only looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.stage_names import Detected, Stage
from lifecycle.core.tracker import GITHUB, Task, Tracker
from lifecycle.core.values.configured import StageSettings
from lifecycle.stages.decisions.instructions import following
from lifecycle.stages.session import session_record, workflow_tasks
from lifecycle.stages.session.activation import SEAT, StageCall
from lifecycle.stages.session.workflow_tasks import Activity
from lifecycle.stages.transcript import tasks_taken
from lifecycle.stages.transcript.turn import StageFinding, Tier, Turn
from lifecycle.storage.workflow_files import WorkflowFiles

ENDING = (Detected.ISSUE_CLOSED, Detected.SESSION_CLEARED)
"""What is completed when the session's task is closed."""

AGENT = re.compile(r"-\d{12,}$")
"""How such a name ends, or that of a claim's agent: no person is called so, and no program's user."""


@dataclass
class Own:
    """What one stop shows of the session's task; nobody is asked for anything.

    Attributes:
        call: the event, and what may be touched for it.
        stages: the workflow's settings.
        files: what the workflow keeps in this worktree.
        kept: what is kept of the session.
        turn: what the agent said and did, by the transcript.
        finding: the stage that was found in it.
        tracker: the worktree's.
        before: its last answer, as it was kept.
    """

    call: StageCall
    stages: StageSettings
    files: WorkflowFiles
    kept: session_record.SessionRecord
    turn: Turn
    finding: StageFinding

    def __post_init__(self) -> None:
        self.tracker = self.call.world.tracker
        key = workflow_tasks.key_of(self.tracker, self.stages)
        self.before = workflow_tasks.known(self.files, key)

    def starts(self) -> tuple[str, str]:
        """The commands that begin a task here."""
        is_typed = any(text.startswith("/") for text in self.turn.named)
        # Its other ways to begin a task are known by their words; asking it for this one starts a process.
        typed = self.tracker.wording().start if is_typed else ""
        return self.stages.start, typed

    def taken_up(self) -> tuple[str, ...]:
        """The tasks that commands of this session start, show, claim or close."""
        return (*tasks_taken.ids_in(self.turn.named, self.starts()), *self.closed())

    def closed(self) -> tuple[str, ...]:
        """The tasks that a command closed, as it was found."""
        closed = self.finding.subjects if self.finding.tier is Tier.INFERENCE else ()
        return tuple(map(tasks_taken.plain, closed))

    def mine(self, known: Activity | None) -> tuple[Task, ...]:
        """The open tasks that this very agent holds; a name that sessions share says nothing."""
        actor = self.tracker.actor
        tasks = known.tasks if known is not None and SEAT.search(actor) else ()
        mine = (task for task in tasks if task.assignee == actor)
        return tuple(task for task in mine if task.id != self.kept.ended)

    def is_ours(self) -> bool:
        """True if the transcript shows the workflow at work in this session."""
        turn, record = self.turn, self.kept
        if record.task or record.memory.set_stage is not None or self.finding.tier is Tier.MARKER:
            return True
        is_over = bool(record.ended) or _is_over(turn)
        return not is_over and (turn.asked is not None or turn.is_question or turn.is_signed)

    def own_task(self, known: Activity, claimed: str, state: Detected) -> str:
        """The session's task: set by hand, else claimed, begun last, known, or the only one; "" for none.

        A task that is only looked at never takes the place of another.
        """
        if self.kept.is_set and self.kept.task:
            return self.kept.task
        if self.turn.taken and known.find(self.turn.taken) is not None:
            return self.turn.taken
        if state in ENDING:
            return self._ending(known, claimed, state)
        if claimed and known.find(claimed) is not None:
            return claimed
        starts = self.starts()
        begun = _last(known, tasks_taken.begun_in(self.turn.named, starts))
        if begun or self.kept.task:
            return begun or self.kept.task
        instructed = _last(known, (tasks_taken.told_in(self.turn.instruction, starts),))
        actor = self.tracker.actor
        held = [task.id for task in known.tasks if task.assignee == actor]
        own = held[0] if len(held) == 1 else ""
        first, second = (own, instructed) if self.turn.asked is Stage.CODING else (instructed, own)
        named = first or second or _last(known, tasks_taken.ids_in(self.turn.named, starts))
        free = [task for task in known.tasks if task.assignee in ("", actor)]
        is_only = len(known.tasks) == len(free) == 1 and self.is_ours()
        return named or (free[0].id if is_only else "")

    def _ending(self, known: Activity, claimed: str, state: Detected) -> str:
        """The task that is closed by now: another that is open was not meant.

        A close command is about the session's own task if it names that, or one that was begun since.
        """
        starts, turn, before = self.starts(), self.turn, self.before
        # The instructions of the first stage and the last are about the next task.
        is_its_own = turn.asked not in (None, Stage.CODING, Stage.NEXT_TASK)
        instructed = tasks_taken.told_in(turn.instruction if is_its_own else "", starts)
        own = self.kept.task or claimed or instructed
        begun = tasks_taken.begun_in(self.turn.named, starts)
        closed = self.closed() if state is Detected.ISSUE_CLOSED else ()
        if closed and own not in closed:
            meant = [name for name in begun if name in closed and before and before.find(name)]
            own = meant[-1] if meant else own
        return own or _last(known, begun) or "".join(closed[-1:])


def spelled(tracker: Tracker, task: str) -> str:
    """The task as the journal spells it: `#42` for an issue of GitHub's."""
    return f"#{tasks_taken.plain(task)}" if task and tracker.name == GITHUB else task


def _last(known: Activity, names: Iterable[str]) -> str:
    """The last of these that is one of the workflow's open tasks."""
    return next((name for name in reversed(tuple(names)) if known.find(name) is not None), "")


def _is_over(turn: Turn) -> bool:
    """True if the transcript shows that the line of stages ended: the last one's marker was said."""
    if turn.asked is None or not turn.markers:
        return False
    return following(turn.markers[-1], session_record.line_told(turn.instruction)) is None


def claimed_task(call: StageCall) -> str:
    """The id that the worktree's claim has in its tracker; "" without a claim of this session's."""
    claim = call.claim
    if claim is None or claim.outcome or not claim.is_ours:
        return ""
    return claim.task_in(call.world.tracker.name)
