"""Which task is a session's own: one that it claimed, began or was told, not one that it only viewed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.stage_names import Detected, Stage
from lifecycle.core.tracker import ClaimFacts, Task, Tracker
from lifecycle.core.values.configured import StageSettings
from lifecycle.stages.decisions.instructions import following
from lifecycle.stages.session import session_record, workflow_tasks
from lifecycle.stages.session.activation import SEAT, StageCall
from lifecycle.stages.transcript import tasks_taken
from lifecycle.stages.transcript.turn import StageFinding, Tier, Turn
from lifecycle.storage.workflow_files import WorkflowFiles

ENDING = (Detected.ISSUE_CLOSED, Detected.SESSION_CLEARED)
"""The states in which the session's task is closed."""

HANDOFF = "lifecycle handoff"
"""Words that the instruction to close contains if there is a claim."""

AGENT = re.compile(r"-\d{12,}$")
"""The end of an agent's name (a claim's, too): no person and no program's user has such a name."""


@dataclass
class Own:
    """What one stop shows of the session's task; the tracker is not asked.

    Attributes:
        call: the event, and what may be changed in response.
        files: the workflow's files in this worktree.
        kept: the record of the session.
        turn: what the agent said and did, by the transcript.
        finding: the stage that was found in it.
        is_run_over: a run ended at this stop, which may have been about no labelled task.
    """

    call: StageCall
    files: WorkflowFiles
    kept: session_record.SessionRecord
    turn: Turn
    finding: StageFinding
    is_run_over: bool = False

    @property
    def stages(self) -> StageSettings:
        """The workflow's settings."""
        return self.call.world.settings.stages

    @cached_property
    def tracker(self) -> Tracker:
        """The worktree's tracker."""
        return self.call.world.tracker

    @cached_property
    def before(self) -> workflow_tasks.Activity | None:
        """The tracker's last answer, as it was kept."""
        return workflow_tasks.known(self.files, self.tracker, self.stages)

    @cached_property
    def claimed(self) -> str:
        """The tracker's id for the worktree's claim; "" if this session has no claim."""
        claim = self.call.claim
        is_mine = claim is not None and claim.is_ours and not claim.outcome
        return claim.task_in(self.tracker.name) if claim is not None and is_mine else ""

    @cached_property
    def closed_claim(self) -> ClaimFacts | None:
        """The last claim here, if it ended with its issue closed."""
        claim = self.call.claim
        return claim if claim is not None and claim.outcome == "closed" else None

    @cached_property
    def has_ended(self) -> bool:
        """True if the session was told to close its claim's issue, and the claim has ended."""
        is_more = any(state is not Detected.ISSUE_CLOSED for state in self.turn.markers)
        is_told = self.turn.asked is Stage.COMMIT_CLOSE and HANDOFF in self.turn.instruction
        last = self.closed_claim if is_told and not is_more else None
        if last is None or last.session not in ("", self.call.session):
            return False
        return self.kept.task in ("", last.task_in(self.tracker.name))

    @cached_property
    def state(self) -> Detected:
        """The state that counts as found: a stage that was set by hand counts like a completed one."""
        if self.kept.memory.set_stage is not None:
            return Detected.CODING_COMPLETE
        return Detected.ISSUE_CLOSED if self.has_ended else self.finding.state

    @cached_property
    def starts(self) -> tuple[str, str]:
        """The commands that begin a task here."""
        is_typed = any(text.startswith("/") for text in self.turn.named)
        # The tracker's other ways to begin a task are known by their words; asking here starts a process.
        typed = self.tracker.wording().start if is_typed else ""
        return self.stages.start, typed

    @cached_property
    def begun(self) -> tuple[str, ...]:
        """The tasks that commands of this session start or claim."""
        return tasks_taken.begun_in(self.turn.named, self.starts)

    @cached_property
    def closed(self) -> tuple[str, ...]:
        """The tasks that a command closed, as it was found."""
        return tuple(map(tasks_taken.plain, self.finding.subjects))

    def mine(self, known: workflow_tasks.Activity | None) -> tuple[Task, ...]:
        """The open tasks that this very agent holds; a name that several sessions share proves nothing."""
        actor = self.tracker.actor
        tasks = known.tasks if known is not None and SEAT.search(actor) else ()
        return tuple(t for t in tasks if t.assignee == actor and t.id != self.kept.ended)

    @cached_property
    def is_ours(self) -> bool:
        """True if the transcript shows the workflow at work in this session, or a person set its stage."""
        turn, record = self.turn, self.kept
        is_set = record.memory.set_stage is not None and not self.is_run_over
        if record.task or is_set or self.finding.tier is Tier.MARKER:
            return True
        # The marker of the last stage ends the line of stages.
        ends = turn.markers[-1:] if turn.asked is not None else ()
        line = session_record.line_told(turn.instruction)
        is_over = bool(record.ended) or any(following(end, line) is None for end in ends)
        return not is_over and (turn.asked is not None or turn.is_question or turn.is_signed)

    def own_task(self, known: workflow_tasks.Activity) -> str:
        """The session's task: set by hand, else claimed, begun last, known, or the only one; "" for none.

        A task that is only viewed never replaces another.
        """
        if self.kept.is_set and self.kept.task:
            return self.kept.task
        if known.find(self.turn.taken) is not None:
            return self.turn.taken
        if self.state in ENDING:
            return self._ending(known)
        if known.find(self.claimed) is not None:
            return self.claimed
        begun = _last(known, self.begun)
        if begun or self.kept.task:
            return begun or self.kept.task
        instructed = _last(known, (tasks_taken.told_in(self.turn.instruction, self.starts),))
        actor = self.tracker.actor
        held = [task.id for task in known.tasks if task.assignee == actor]
        own = held[0] if len(held) == 1 else ""
        first, second = (own, instructed) if self.turn.asked is Stage.CODING else (instructed, own)
        named = first or second or _last(known, tasks_taken.ids_in(self.turn.named, self.starts))
        free = [task for task in known.tasks if task.assignee in ("", actor)]
        # It began one that is gone by now: the only one that is left was not meant. Other words are no ids.
        alike = [other.id for other in known.tasks[:1]]
        ids = [n for n in self.begun for id_ in alike if tasks_taken.is_about_others(f"#{n}", id_)]
        gone = "".join(name for name in ids[-1:] if name != self.kept.ended)
        is_only = len(known.tasks) == len(free) == 1 and self.is_ours and not gone
        return named or (free[0].id if is_only else gone)

    def _ending(self, known: workflow_tasks.Activity) -> str:
        """The task that is closed by now; an open one was not meant.

        A close command is about the session's own task if it names that, or one that was begun since.
        """
        turn, before = self.turn, self.before
        # The instructions of the first and the last stage are about the next task.
        is_its_own = turn.asked not in (None, Stage.CODING, Stage.NEXT_TASK)
        instructed = tasks_taken.told_in(turn.instruction if is_its_own else "", self.starts)
        own = self.kept.task or self.claimed or instructed
        closed = self.closed if self.state is Detected.ISSUE_CLOSED else ()
        if closed and own not in closed:
            meant = [name for name in self.begun if name in closed and before and before.find(name)]
            own = meant[-1] if meant else own
        return own or _last(known, self.begun) or "".join(closed[-1:])


def _last(known: workflow_tasks.Activity, names: Iterable[str]) -> str:
    """The last of these names that is one of the workflow's open tasks."""
    return next((name for name in reversed(tuple(names)) if known.find(name) is not None), "")
