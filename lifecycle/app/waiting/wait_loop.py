"""The loop of every process that waits for a pull request's news.

It looks once more when that is due, within a hook's time, and shares its looks with this machine's other
waiters. What a process waits for, and what it does in between, is said by its own kind of `Waiting`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.claim.decisions.pull import pace, review
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine.look import Report, tick
from lifecycle.claim.engine.observing import TOO_LATE
from lifecycle.claim.record.claim_store import ClaimStore, Listener
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import LifecycleError, Transient
from lifecycle.core.plan import Wake
from lifecycle.core.timing import DeadlineReached, parse_time
from lifecycle.core.values.configured import HOOK_SECONDS, Settings
from lifecycle.feedback.waiting.shared_looks import SharedLooks
from lifecycle.storage import log, state_file

S = TypeVar("S")
T = TypeVar("T")

Watching = tuple[Sequence[str], float]
"""A pull request by its ids, and when somebody here last looked at it whole."""

SHORTEST_LOOK = 2.0
"""Seconds that a look may take even if the wait that it belongs to is over before."""

Within = Callable[[], AbstractContextManager[None]]
"""A function that makes a context which ends a hanging call, with DeadlineReached."""


def look_seconds(left: float) -> float:
    """How long a look of a wait may take that has so many seconds left: no longer than a hook's."""
    return min(max(left, SHORTEST_LOOK), HOOK_SECONDS)


class Waiting(ABC, Generic[T]):
    """One wait for a pull request's news; it ends with a T.

    Attributes:
        world: everything that its looks may use.
        within: makes a context that ends a hanging call.
        began: when it began, in seconds since the epoch.
        ends: when its time is up, by the clock that never runs backwards.
        not_before: no look is made before this moment of the same clock.
        again: when the shared looks may be asked again, in seconds since the epoch.
        confirmed: when they last showed that nothing changed, as well.
        problem: what went wrong with the last look.
    """

    longest_pause = math.inf

    def __init__(self, world: WorktreeWorld, within: Within, seconds: float) -> None:
        self.world = world
        self.within = within
        self.clock = world.clock
        self.began = self.clock.now()
        self.ends = self.clock.monotonic() + seconds
        self.not_before = self.again = self.confirmed = 0.0
        self.problem: LifecycleError | None = None

    def run(self) -> T:
        """Look when a look is due, until the wait has ended; returns how it ended."""
        latest = self.began
        while True:
            if self.clock.now() < latest:
                self.again = 0.0  # the clock was set back, which must not stop it for hours
            latest = self.clock.now()
            moment = self._next()
            if not isinstance(moment, float | int):
                return moment
            now, pause = self.clock.now(), self.not_before - self.clock.monotonic()
            # By the clock that never runs backwards: a corrected clock must not stop it for hours.
            if pause > 0 or moment > now:
                self._pause(max(moment, now + pause))
            elif moment <= 0 or not self._is_known():
                self._look()

    @abstractmethod
    def _next(self) -> float | T:
        """How the wait ended, or when to look next: 0.0 for at once and whole, whatever others know."""

    @abstractmethod
    def _watching(self) -> Watching | None:
        """What to ask the shared looks about; None if it needs a look of its own."""

    @abstractmethod
    def _look(self) -> None:
        """Look at GitHub; what follows from that is said by `_next`."""

    def _pause(self, moment: float) -> None:
        """Wait until that moment, and no longer than the time that is left."""
        seconds = min(moment - self.clock.now(), self.longest_pause, self.left)
        self.clock.sleep(max(seconds, 0.0))

    @property
    def left(self) -> float:
        """Seconds until the time is up."""
        return self.ends - self.clock.monotonic()

    @property
    def look_seconds(self) -> float:
        """Seconds that a look may take now."""
        return look_seconds(self.left)

    @property
    def every(self) -> float:
        """Seconds between two polls; if the settings are wrong, the look itself says so."""
        try:
            return self.world.settings.poll_seconds
        except LifecycleError:
            return Settings().poll_seconds

    @property
    def soonest(self) -> float:
        """The least number of seconds between two looks."""
        return min(pace.SOONEST, self.every)

    def _join(self, watching: Watching | None) -> None:
        """Have the other waiters' next look ask for this pull request as well; asks nobody."""
        if watching is not None:
            self._with_looks(lambda looks: looks.join(*watching))

    def _is_known(self) -> bool:
        """True if this machine's waiters know that nothing changed, or may not ask now.

        There is at most one request for all of them. False means: look yourself. A waiter also looks itself
        if it has to do more than see whether something changed: the claim was edited, something failed,
        reviews are due, failures have to be read again, or GitHub never showed its checks.
        """
        watching = self._watching()
        answer = self._with_looks(lambda looks: looks.ask(*watching)) if watching else None
        if answer is None or answer.is_whole:
            return False
        self.again = answer.again
        self.problem = Transient(answer.problem) if answer.problem else None
        self.confirmed = self.clock.now() if answer.is_same else self.confirmed
        return True

    def _ticked(self, claim_store: ClaimStore, to: Listener, every: float | None = None) -> Report:
        """Look at the claim once; errors are written to the log and the report, and nothing is raised.

        Args:
            claim_store: the claim.
            to: who gets the notices that are taken off the queue.
            every: how old the last poll of the checks has to be, as `poll_seconds` of `tick`.
        """
        world, wake = self.world, Wake.IDLE
        self.not_before = self.clock.monotonic() + self.soonest
        try:
            with world.deadline.renewed(self.look_seconds), self.within():
                report = tick(world, claim_store, wake, to=to, may_read=True, poll_seconds=every)
        except DeadlineReached:
            log.write(world.root, f"{to.channel}: the deadline was reached")
            return Report(problem=Transient(TOO_LATE))
        except LifecycleError as error:
            log.write(world.root, f"{to.channel}: {error.sentence}")
            return Report(problem=error)
        if isinstance(report.problem, Transient) and report.problem.retry_after:
            seconds = report.problem.retry_after
            self._with_looks(lambda looks: looks.hold(seconds))
        return report

    def _with_looks(self, call: Callable[[SharedLooks], S]) -> S | None:
        """The result of `call` with the shared looks; None if there are none, or something went wrong."""
        try:
            with self.world.deadline.renewed(self.look_seconds), self.within():
                looks = self.world.looks
                return call(looks) if looks is not None else None
        except (DeadlineReached, LifecycleError) as error:
            why = getattr(error, "sentence", TOO_LATE)
            log.write(self.world.root, f"looks are not shared: {why}")
            return None


def watched(world: WorktreeWorld, claim_store: ClaimStore, record: Record) -> Watching | None:
    """The pull request's ids and the time of its last whole look; None if it needs a look of its own."""
    ids, due = claim_store.file.get(state_file.WATCHED), record.pull.reviews.get("due")
    looked = parse_time(record.claim.last_check_poll)
    is_edited = record.touched != claim_store.mtime_ns()
    is_due = isinstance(due, int | float) and due <= world.clock.now()
    if not isinstance(ids, list) or ids[:1] != [record.claim.pr_number] or looked is None:
        return None
    if record.claim.phase != Phase.CHECKS_RUNNING or is_edited or is_due or record.troubles:
        return None
    pull, failing = record.pull, record.pull.failures
    is_read_on = failing.get("is_due") or failing.get("base") or pull.is_unread
    # If no check ever comes, no digest changes.
    is_unchecked = looked < review.unchecked_from(pull) <= world.clock.now()
    if is_read_on or pull.reruns or pull.merging.queued or is_unchecked:
        return None  # such a look also reads the logs, the base, a run of the head, or the queue
    return tuple(str(node_id) for node_id in ids[1:]), looked
