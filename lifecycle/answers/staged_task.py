"""Which task a session works on, how it stands, and what an instruction is filled with.

A tracker is asked only where a stage was completed and its last answer is older than a minute, or where
a task was closed; and where a question is due and nothing is known of its tasks at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lifecycle.claim.table import Phase
from lifecycle.errors import NotFound
from lifecycle.redact import as_data
from lifecycle.stage_names import COMPLETES, LINE, Detected, Stage
from lifecycle.stages import activity, evidence, session, tree
from lifecycle.stages.activity import Activity
from lifecycle.stages.decide import Evidence, Holding
from lifecycle.stages.evidence import Standing
from lifecycle.stages.instructions import Facts
from lifecycle.tracker import Task, TaskStatus, Tracker, Wording

if TYPE_CHECKING:
    from lifecycle.answers.call import Call
    from lifecycle.claim.state import Record
    from lifecycle.stage_settings import StageSettings
    from lifecycle.stages.session import Kept
    from lifecycle.stages.shelf import Shelf
    from lifecycle.stages.turn import Found, Turn

GITHUB = "github"
HANDOFF = "lifecycle handoff"
"""What the instruction to close has in it under a claim."""

_ENDING = (Detected.ISSUE_CLOSED, Detected.SESSION_CLEARED)
_LINE = re.compile(r"^WORKFLOW STAGES: (.+)$", re.MULTILINE)
_SEAT = re.compile(r"-\d{12}$")
"""How the name of an agent ends that this product made up (`tracking.seat_of`)."""

_STANDS = {
    Standing.GREEN: Evidence.GREEN,
    Standing.RED: Evidence.RED,
    Standing.CHANGED: Evidence.CHANGED,
    Standing.NONE: Evidence.MISSING,
}


@dataclass(frozen=True, slots=True)
class Work:
    """A session's task as far as a decision needs it.

    Attributes:
        facts: what instructions are filled with.
        is_on_task: the session works on one of the workflow's tasks.
        task, title, labels: the task, if it is known.
        holder: who has it, as the tracker writes it.
        actor: in whose name the tracker is spoken to.
        journal_task: the task as the journal spells it.
        remaining: how many tasks are left that are not another agent's; None if that does not matter.
        evidence: of the tests, if it is required.
        conflict: a sentence if the task is another's now, or blocked.
        holding: how the claim stands.
        asked: an answer of the tracker's that is new, and to be kept.
    """

    facts: Facts
    is_on_task: bool
    task: str = ""
    title: str = ""
    labels: tuple[str, ...] = ()
    holder: str = ""
    actor: str = ""
    journal_task: str = ""
    remaining: int | None = None
    evidence: Evidence = Evidence.NOT_NEEDED
    conflict: str = ""
    holding: Holding = Holding.NONE
    asked: Activity | None = field(default=None)


def work_of(
    call: Call, stages: StageSettings, shelf: Shelf, kept: Kept, turn: Turn, found: Found
) -> Work | None:
    """What the session works on; None if the workflow is not active for it.

    Raises:
        LifecycleError: the tracker, or git, did not answer.
    """
    return _Search(call, stages, shelf, kept, turn, found).work()


def wording_of(tracker: Tracker) -> Wording:
    """The tracker's commands; a task is begun by claiming it where the client has no command for that."""
    wording = tracker.wording()
    return replace(wording, start=wording.start or wording.claim)


def has_ended(call: Call, turn: Turn, kept: Kept) -> bool:
    """True if the claim ended whose closing the session was told to bring about."""
    if turn.asked is not Stage.COMMIT_CLOSE or turn.markers or HANDOFF not in turn.instruction:
        return False
    if call.record is not None and not call.record.outcome:
        return False
    last = call.desk.remembered()
    if last is None or last.outcome != "closed" or last.session not in ("", call.session):
        return False
    return kept.task in ("", _id_of(call, last))


class _Search:
    """All that is looked up for one stop."""

    def __init__(
        self,
        call: Call,
        stages: StageSettings,
        shelf: Shelf,
        kept: Kept,
        turn: Turn,
        found: Found,
    ) -> None:
        self.call, self.stages, self.shelf = call, stages, shelf
        self.kept, self.turn, self.found = kept, turn, found
        self.now = call.world.clock.now()
        self.asked: Activity | None = None

    def work(self) -> Work | None:
        """The work, or None."""
        is_ours = self._is_ours()
        state = self._state()
        if not state.is_completion and not is_ours and not self.turn.named:
            return None
        known = self._activity(state, may_ask=state.is_completion or is_ours)
        if known is None:
            return None
        claimed = _claimed_task(self.call)
        is_elsewhere = bool(claimed) and known.find(claimed) is None and not is_ours
        is_ending = state in _ENDING and is_ours
        if is_elsewhere or not (known.tasks or is_ending):
            self._keep()
            return None
        task = self._task(known, claimed, state)
        fresh = self._fresh(task, state)
        if fresh is not None and fresh.is_open and not self._has_label(fresh):
            self._keep()
            return None  # somebody took the label off: the workflow does not lead it any more
        return self._work(known, state, fresh, task, claimed)

    def _work(
        self, known: Activity, state: Detected, fresh: Task | None, task: str, claimed: str
    ) -> Work:
        tracker, is_ours = self.call.world.tracker, self._is_ours()
        line = known.find(task)
        labels = line.labels if line is not None else self.kept.labels
        holding = self._holding(claimed, task)
        is_on_task = (
            is_ours or bool(known.named_in(self.turn.named)) or known.find(claimed) is not None
        )
        return Work(
            facts=self._facts(known, task, labels, holding),
            is_on_task=is_on_task,
            task=task,
            title=line.title if line is not None else "",
            labels=labels,
            holder=fresh.assignee if fresh is not None else "",
            actor=tracker.actor,
            journal_task=f"#{task}" if task and tracker.name == GITHUB else task,
            remaining=self._remaining(known, task) if state in _ENDING else None,
            evidence=self._evidence(state),
            conflict=self._conflict(fresh, holding),
            holding=holding,
            asked=self.asked,
        )

    def _fresh(self, task: str, state: Detected) -> Task | None:
        """The task as it is now, where a stage of it was completed; None if it does not matter."""
        if not task or not state.is_completion or state in _ENDING:
            return None
        try:
            return self.call.world.tracker.get(task)
        except NotFound:
            return None  # it is gone: nobody holds it, and nothing blocks it

    def _has_label(self, task: Task) -> bool:
        return any(self.stages.is_label(name) for name in task.labels)

    def _holding(self, claimed: str, task: str) -> Holding:
        """How a claim on GitHub stands to this session's task."""
        if has_ended(self.call, self.turn, self.kept):
            return Holding.ENDED
        record = self.call.record
        if not claimed or claimed != task or record is None:
            return Holding.NONE
        is_begun = record.claim.phase == Phase.CODING or record.releasing is not None
        return Holding.WORKING if is_begun else Holding.WAITING

    def _state(self) -> Detected:
        """What counts as found: the stage that was set by hand is as good as a completed one."""
        if self.kept.memory.set_stage is not None:
            return Detected.CODING_COMPLETE
        is_over = has_ended(self.call, self.turn, self.kept)
        return Detected.ISSUE_CLOSED if is_over else self.found.state

    def _is_ours(self) -> bool:
        """True if the transcript shows the workflow at work in this session."""
        turn = self.turn
        is_told = turn.asked is not None or turn.is_question or bool(turn.markers)
        return is_told or bool(self.kept.task) or self.kept.memory.set_stage is not None

    def _activity(self, state: Detected, *, may_ask: bool) -> Activity | None:
        """The tracker's tasks; None if nothing is known of them and nobody is to be asked."""
        tracker = self.call.world.tracker
        known = activity.known(self.shelf, activity.key_of(tracker, self.stages))
        is_believed = known is not None and (not state.is_completion or known.is_fresh(self.now))
        if known is not None and is_believed and state not in _ENDING:
            return known
        if not may_ask:
            return known
        self.asked = activity.ask(tracker, self.stages, self.now, known)
        return self.asked

    def _keep(self) -> None:
        if self.asked is not None:
            with self.shelf.locked():
                activity.keep(self.shelf, self.asked)

    def _task(self, known: Activity, claimed: str, state: Detected) -> str:
        """What was set by hand; else the claim's; the one named last; what was known; the only one."""
        if self.kept.is_set and self.kept.task:
            return self.kept.task
        if state in _ENDING:  # it is closed by now: another that is open was not meant
            closed = self.found.subjects[-1:] if state is Detected.ISSUE_CLOSED else ()
            return self.kept.task or claimed or "".join(closed)
        if claimed and known.find(claimed) is not None:
            return claimed
        named = known.named_in(self.turn.named)
        if named or self.kept.task:
            return named or self.kept.task
        actor = self.call.world.tracker.actor
        mine = [task.id for task in known.tasks if task.assignee == actor]
        if len(mine) == 1:
            return mine[0]
        return known.tasks[0].id if len(known.tasks) == 1 and self._is_ours() else ""

    def _facts(
        self, known: Activity, task: str, labels: tuple[str, ...], holding: Holding
    ) -> Facts:
        tracker = self.call.world.tracker
        ready = [one.id for one in known.startable if one.id != task]
        return Facts(
            settings=self.stages,
            wording=wording_of(tracker),
            tracker=tracker.name,
            task=as_data(task),
            next_task=as_data(ready[0]) if ready else "",
            line=self.stages.line_of(labels)
            if labels
            else session.line_told(self.turn.instruction),
            is_claimed=holding is not Holding.NONE,
        )

    def _remaining(self, known: Activity, task: str) -> int:
        """Tasks that are left for this agent: not the one that was closed, and not another's."""
        actor = self.call.world.tracker.actor
        others = [
            one
            for one in known.tasks
            if one.status is TaskStatus.IN_PROGRESS and one.assignee not in ("", actor)
            if one.id != task
        ]
        closed = {name.lstrip("#") for name in self.found.subjects} | {task}
        gone = closed if self.found.subjects else set()
        return sum(one not in others and one.id not in gone for one in known.tasks)

    def _evidence(self, state: Detected) -> Evidence:
        needs = state.is_completion and LINE.index(COMPLETES[state]) >= LINE.index(Stage.TESTING)
        if not self.stages.require_evidence or not needs or self.kept.memory.set_stage is not None:
            return Evidence.NOT_NEEDED
        world = self.call.world
        now = tree.fingerprint(world.root, world.deadline, world.environment)
        return _STANDS[evidence.standing(evidence.load(self.shelf), now)]

    def _conflict(self, task: Task | None, holding: Holding) -> str:
        """One sentence if somebody else has the task now, or open tasks block it."""
        if task is None:
            return ""
        if task.blocked_by:
            names = as_data(", ".join(task.blocked_by))
            return f"Task {as_data(task.id)} is blocked by {names}."
        actor = self.call.world.tracker.actor
        is_mine = task.assignee in ("", actor) or holding is not Holding.NONE
        if is_mine or not task.is_open:
            return ""
        known = self.kept.holder if self.kept.task == task.id else ""
        is_another = task.assignee != known if known else bool(_SEAT.search(task.assignee))
        who = as_data(task.assignee)
        return f"Task {as_data(task.id)} is claimed by {who}." if is_another else ""


def _claimed_task(call: Call) -> str:
    """The id that the worktree's claim has in its tracker; "" without a claim of this session's."""
    record = call.record
    if record is None or record.outcome or not call.is_ours:
        return ""
    return _id_of(call, record)


def _id_of(call: Call, record: Record) -> str:
    """A claim's task as the worktree's tracker calls it; "" if it is not one of that tracker's."""
    name = call.world.tracker.name
    if name == GITHUB:
        return str(record.claim.issue_number or "")
    link = record.link
    return link.id if link is not None and link.tracker == name else ""
