"""Repair the tasks of one run: look at each once more, decide, and write.

The look and the writes are the hooks' own. Minutes may pass between the sweep and the repair, so what
is written follows from the closer look, never from the sweep. Nothing is kept between two runs: the next
run continues one that was interrupted anywhere, since it finds what is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from math import inf

from lifecycle.claim.decisions.decide import foresee, look
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine.acting import perform
from lifecycle.core import errors, plan, ports
from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.values.survey import Holding
from lifecycle.core.world import World
from lifecycle.reconcile import finding as found
from lifecycle.reconcile.finding import Finding, State
from lifecycle.reconcile.inferred import InferredTask
from lifecycle.reconcile.judge import ALIVE, Judge, Written, fix_sentence, kind_of, steps

FREE = 10
"""How many writes need no pause: pauses are for large numbers of writes."""

PAUSE = 1.0
"""Seconds between two writes after those."""


@dataclass(slots=True)
class Pace:
    """Counts the writes of a run, and waits before the next one if that is due."""

    clock: ports.Clock
    made: int = 0
    last: float = 0.0

    def wait(self) -> None:
        """Wait until the next write may be made, and count it."""
        left = self.last + PAUSE - self.clock.monotonic()
        if self.made >= FREE and left > 0:
            self.clock.sleep(left)
        self.made += 1
        self.last = self.clock.monotonic()


_GENERAL = (errors.MissingScope, errors.Moved, errors.NoPermission, errors.UnknownOption)
"""Errors of one task that every other task of the repository would meet as well."""

LONGEST_WAIT = 10.0
"""The longest rate limit, in seconds, that is waited out within a task; a longer one ends the run."""

Outcomes = dict[str, errors.LifecycleError | None]
"""For each kind of finding why it failed, None if it was written; "" stands for the whole task."""

_MENDED = "A closer look showed nothing to do."


_CUT = "The run ended in the middle of it; the next one finishes it."


class _Gone(errors.NotFound):
    """The sweep saw the issue, but GitHub does not show it any more."""


class RepairEnd(Exception):
    """The run cannot continue: the limit or the time is up, or GitHub accepts no more from this token."""


@dataclass(slots=True)
class Repairer:
    """Repairs the tasks of one repository.

    Attributes:
        world: the repository's world.
        judge: says what to do.
        pace: the pause between two writes.
        refused: what GitHub refused in general, by kind of action and Status: not tried again.
        is_unanswered: GitHub did not answer for the last task, and nothing was repaired in it.
    """

    world: World
    judge: Judge
    pace: Pace
    refused: dict[str, errors.LifecycleError] = field(default_factory=dict)
    is_unanswered: bool = False
    _outcomes: Outcomes = field(default_factory=dict)
    _begun: str = ""
    _written: list[plan.Action] = field(default_factory=list)
    _due: Written = field(default_factory=dict)

    def repair(self, task: InferredTask, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Repair these findings of a task; returns them with their outcome.

        Raises:
            RepairEnd: nothing more can be done in this run; what was done so far is done.
        """
        self._outcomes, self._begun, self._written, self._due = {}, "", [], {}
        try:
            for planned in self.judge.looks(task):
                self._look_and_act(task, planned)
        except errors.LifecycleError as error:
            self._fail("", error)
        ends = self._outcomes.values()
        is_silent = any(isinstance(error, errors.Transient) for error in ends)
        self.is_unanswered = is_silent and None not in ends
        return tuple(self._told(_became(finding, self._outcomes)) for finding in findings)

    def _told(self, finding: Finding) -> Finding:
        """The finding with what was written, or not written, instead of what the sweep alone planned."""
        if finding.kind not in self._due:
            return finding
        task, due = self._due[finding.kind]
        written = [action for action in due if action in self._written]
        fix = fix_sentence(written, task)
        if finding.state is State.APPLIED:
            return replace(finding, fix=fix or finding.fix)
        missing = fix_sentence([action for action in due if action not in written], task)
        problem = f"Done: {fix} The rest: {finding.problem}" if fix else finding.problem
        return replace(finding, fix=missing or finding.fix, problem=problem)

    def partial(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings of the task in which `repair` was interrupted, with what was done by then.

        The finding that was just being repaired may lack a write: it stays planned, and says so.
        """
        done = {kind for kind, error in self._outcomes.items() if error is None}

        def by_now(finding: Finding) -> Finding:
            if finding.state is not State.PLANNED or finding.kind not in done:
                return finding
            if finding.kind == self._begun:
                return replace(finding, problem=_CUT)
            return self._told(replace(finding, state=State.APPLIED))

        return tuple(map(by_now, findings))

    def _look_and_act(self, task: InferredTask, planned: Snapshot) -> None:
        wanted = look(planned)
        if wanted is None or self._is_hopeless(planned, task):
            return
        if not task.is_agents:
            wanted = replace(wanted, comments=True)
        with self._in_time():
            fresh = task.looked_at(self.world.forge.observe(wanted), self._held(planned))
        if fresh is None:
            raise _Gone(found.sentence("gone"))
        if (fresh.hold and fresh.hold.sha) != (task.hold and task.hold.sha):
            # The findings are not about the same claim any more.
            raise errors.HeldByAnother(found.sentence("lease-changed"))
        if fresh.reverted_by:
            left = found.sentence("reverted", by=fresh.reverted_by)
            self._fail("merged-open", errors.HeldByAnother(left))
        is_kept = planned.record.ending.releasing is None
        for snapshot in self.judge.looks(fresh):
            if (snapshot.record.ending.releasing is None) == is_kept:
                self._act(snapshot, fresh)

    def _held(self, planned: Snapshot) -> Holding | None:
        """The repository's holding now, if it matters: for what ends a task, or shows left work.

        Raises:
            LifecycleError: it could not be read.
        """
        record = planned.record
        is_ending = record.claim.phase == Phase.DONE and bool(record.ownership.lease)
        if not (is_ending or planned.is_silent):
            return None
        (holding,) = self.world.survey.holdings([self.world.base])
        if holding.problem is not None:
            raise holding.problem
        return holding

    def _act(self, snapshot: Snapshot, task: InferredTask) -> None:
        for kind, foreseen in steps(snapshot, task):
            self._due.setdefault(kind, (task, []))[1].append(foreseen)
        facts: list[plan.Fact] = []  # of the action that was just done, instead of an imagined one
        for now, step in foresee(snapshot, lambda _: facts.pop()):
            if isinstance(step.action, plan.ForgetClaim):
                if any(isinstance(action, plan.PostComment) for action in self._written):
                    with self._in_time():
                        perform(step.action, self.world, None, now.record)
                return
            if step.action is not None:
                facts.append(self._done(step.action, now, task))

    def _done(self, action: plan.Action, snapshot: Snapshot, task: InferredTask) -> plan.Fact:
        """The fact after one write, or after a write that is not worth trying.

        Raises:
            Transient: not now; nothing remembers that, and a later step could hide that this is missing.
        """
        kind = kind_of(action, snapshot.record, task)
        due = self._due.setdefault(kind, (task, []))[1]
        due += [action] if action not in due else []
        refusal = self.refused.get(_general(action))
        if refusal is not None:
            self._fail(kind, refusal)
            return plan.Failed(action, refusal)
        self._begun = kind
        self.pace.wait()
        with self._in_time():
            fact = perform(action, self.world, None, snapshot.record)
        if isinstance(fact, plan.Failed):
            error = fact.error
            if isinstance(error, _GENERAL) or "was archived" in error.evidence:
                sentence = f"The same as for another task here: {error.sentence}"
                self.refused[_general(action)] = errors.Rejected(sentence, evidence=error.evidence)
            self._fail(kind, error)
            if isinstance(error, errors.Transient):
                raise error
        else:
            self._outcomes.setdefault(kind, None)
            self._written.append(action)
        return fact

    def _fail(self, kind: str, error: errors.LifecycleError) -> None:
        """Remember the first failure of a kind ("" for all); end the run if no more can be done."""
        _need_going_on(error)
        if self._outcomes.get(kind) is None:
            self._outcomes[kind] = error

    def _in_time(self) -> AbstractContextManager[None]:
        """Context in which no wait is long, however much time the run has."""
        spare = self.world.deadline.left - LONGEST_WAIT
        return self.world.deadline.keeping(spare) if 0 < spare < inf else nullcontext()

    def _is_hopeless(self, snapshot: Snapshot, task: InferredTask) -> bool:
        """True if the task's decisive write was refused in general before, so that no look is worth it.

        That is its first write, or the write that all others serve.
        """
        for number, (kind, action) in enumerate(steps(snapshot, task)):
            refusal = self.refused.get(_general(action))
            if refusal is not None and (number == 0 or isinstance(action, plan.CloseIssue)):
                self._fail(kind, refusal)
                return True
        return False


def failed(findings: Iterable[Finding], error: errors.LifecycleError) -> tuple[Finding, ...]:
    """The findings of a task whose repair could not begin; raises RepairEnd as `Repairer.repair`."""
    _need_going_on(error)
    return tuple(_became(finding, {"": error}) for finding in findings)


def _general(action: plan.Action) -> str:
    """A key for the actions that are refused together with this one."""
    status = f" {action.status}" if isinstance(action, plan.SetBoard) else ""
    return f"{type(action).__name__}{status}"


def _need_going_on(error: errors.LifecycleError) -> None:
    """Raise RepairEnd for an error after which nothing more can be done."""
    is_limit = isinstance(error, errors.Transient) and error.retry_after is not None
    if is_limit or isinstance(error, errors.BadCredentials):
        raise RepairEnd(why_ended(error))


def why_ended(error: errors.LifecycleError) -> str:
    """Why a run ends, in words for people who do not see the requests."""
    if isinstance(error, errors.Transient) and error.retry_after is not None:
        return f"GitHub takes no more requests of this token for {error.retry_after:.0f} seconds."
    return error.sentence


def _became(finding: Finding, outcomes: Outcomes) -> Finding:
    if finding.state is not State.PLANNED:
        return finding
    error = outcomes.get(finding.kind, outcomes.get(""))
    if error is None:
        if finding.kind in outcomes:
            return replace(finding, state=State.APPLIED)
        is_alive = finding.kind == "silent" and None in outcomes.values()
        return replace(finding, state=State.LEFT, problem=ALIVE if is_alive else _MENDED)
    is_branch = finding.kind == "branch-without-pull"
    idle = (errors.NothingToMerge, errors.NotFound) if is_branch else ()
    is_left = isinstance(error, (_Gone, errors.HeldByAnother, *idle))
    return replace(finding, state=State.LEFT if is_left else State.FAILED, problem=error.sentence)
