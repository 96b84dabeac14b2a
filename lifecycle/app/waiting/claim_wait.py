"""Wait for news of the claim's pull request: as the only waiter here, or beside one that lives.

A process of the claim's session becomes its waiter if there is none. Beside another waiter it asks GitHub
nothing: the files tell what that waiter found, and the waiter leaves the news to us. A person beside a live
session reads the news, but takes none of it off the queue.
"""

from __future__ import annotations

import contextlib

from lifecycle.app import news_packets
from lifecycle.app.idle_look import idle_look, join, shared, watched
from lifecycle.app.waiting import pull_wait
from lifecycle.app.waiting.pull_wait import OF_CREDENTIALS, SETTLE_SECONDS, Waited, Within
from lifecycle.app.wiring import WorktreeWorld, sentence
from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.pull import pace
from lifecycle.claim.decisions.table import PHASES, Phase
from lifecycle.claim.engine import briefing, observing
from lifecycle.claim.engine.look import Report
from lifecycle.claim.engine.observing import believed
from lifecycle.claim.record.claim_store import ClaimStore, Listener
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import HeldByAnother, LifecycleError, LockBusy, Refused, Transient
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.timing import parse_time
from lifecycle.core.values.configured import HOOK_SECONDS
from lifecycle.feedback.waiting import endings
from lifecycle.feedback.waiting.endings import Ending, Standing, WaitFor
from lifecycle.storage import signs_of_life
from lifecycle.storage.store import STATE

CHANNEL = "wait"
SLICE_SECONDS = 1.0
"""Seconds between two checks whether files have changed, or the waiter beside us has gone."""

BESIDE_SECONDS = 5.0
"""Seconds between two checks whether the waiter beside us has looked."""

LAST_SECONDS = 2.0
"""Seconds before the end of the wait at which it looks once more, so that its last report is true."""

GONE = "The claim has ended, so there is nothing to wait for; to see how it ended: lifecycle status"

AGENTS = (Audience.ACT, Audience.NEXT, Audience.NEWS, Audience.ASK, Audience.NOTE)


@dataclass(eq=False)
class ClaimWait:
    """One wait for the claim's pull request.

    Attributes:
        world, claim_store: those of the worktree.
        session: the client's session that runs this, or "".
        wanted: what to wait for.
        seconds: how long to wait at most.
        within: makes a context that ends a hanging call.
    """

    world: WorktreeWorld
    claim_store: ClaimStore
    session: str
    wanted: WaitFor
    seconds: float
    within: Within
    not_before: float = 0.0
    again: float = 0.0
    confirmed: float = 0.0
    is_new: bool = True
    is_doubted: bool = False
    problem: LifecycleError | None = None
    _record: Record | None = None
    _files: tuple[int, int] | None = None
    _is_waiter: bool = False

    def __post_init__(self) -> None:
        self.clock = self.world.clock
        self.began = self.clock.now()
        self.ends = self.clock.monotonic() + self.seconds
        self._held = contextlib.ExitStack()

    def run(self) -> Waited:
        """Wait, and say how it ended.

        Raises:
            Refused: there is nothing to wait for.
            HeldByAnother: another agent has the task by now.
            LifecycleError: GitHub refuses a request for another reason than credentials.
        """
        try:
            with self._held:
                return self._run()
        finally:
            signs_of_life.leave_command(self.claim_store.folder)

    def _run(self) -> Waited:
        while True:
            record = self._changed()
            if self.is_new and record is not None:
                self.is_new = False
                self._refuse(record)
                join(self.world, watched(self.world, self.claim_store, record), self.within())
                self._sign()
                # The queued news may not be true any more.
                if self._is_unseen(record) and self._look_if_due():
                    continue
            ended = self._ended(record) if record is not None else None
            if ended is not None:
                return ended
            if self.clock.monotonic() >= self.ends:
                return self._out_of_time()
            self._sign()
            if not self._look_if_due():
                left = self.ends - self.clock.monotonic()
                self.clock.sleep(max(min(SLICE_SECONDS, left), 0.0))

    def _changed(self) -> Record | None:
        """The claim as it is now; None if nothing was written since it was last read."""
        folder = self.claim_store.folder
        files = self.claim_store.mtime_ns(), folder.mtime_ns(STATE)
        if files == self._files:
            return None
        self._files = files
        record = self.claim_store.load(repair=False).record
        if record is None:
            raise Refused(GONE)
        self._record = believed(self.world, self.claim_store, record)  # another token asks at once
        return self._record

    def _ended(self, record: Record) -> Waited | None:
        """How the wait ended; None if it has not ended."""
        self._refuse(record)
        notices = self._waiting(record)
        # News that another channel told since this wait began ends the wait as well.
        entries = self.claim_store.state.get("said", {}).items()
        newest = [key for key, entry in entries if entry.get("offered", 0.0) >= self.began]
        own = [key for key in newest if key.startswith(f"{record.claim_key}/")]
        notices += [Notice(key, "", Audience.NOTE) for key in own]
        news = endings.gravest(endings.news_ends(notice, self.wanted) for notice in notices)
        ending = news or self._standing_ends(record)
        if isinstance(self.problem, OF_CREDENTIALS):
            return self._of(record, Ending.CREDENTIALS, problem=self.problem.sentence)
        if self.problem is not None and not isinstance(self.problem, Transient):
            raise self.problem
        held = record.troubles.get("Look")
        # A refusal of another process since then counts; what was refused before is tried again.
        if held is not None and held.is_final and held.until > self.began + pace.LOOK_AGAIN:
            return self._of(record, Ending.CREDENTIALS, problem=held.sentence)
        if ending is None and self._next(record) is None:
            ending = Ending.PERSON
        if ending is None or (self.is_doubted and not notices):
            return None
        return self._told(record, ending)

    def _refuse(self, record: Record) -> None:
        """Refuse to wait for news that cannot come."""
        claim, phase = record.claim, PHASES.get(record.claim.phase)
        if record.is_lost:
            lost = HeldByAnother if record.ownership.taken_by else Refused
            raise lost(derive.loss_line(record))
        if record.ending.releasing is not None:
            raise Refused(sentence("being-released", number=claim.issue_number))
        if record.ending.override and not claim.pr_number:
            raise Refused(sentence("closing-without", number=claim.issue_number))
        if phase is None or phase is Phase.CODING:
            why = "has no pull request yet, so there is nothing to wait for"
            if claim.pr_number:
                why = f"is back in {claim.phase}, so PR #{claim.pr_number} is not watched"
            raise Refused(sentence("not-handed-off", number=claim.issue_number, why=why))

    def _waiting(self, record: Record) -> list[Notice]:
        audiences = observing.deliverable(record, self.session, AGENTS)
        waiting = self.claim_store.ledger.waiting()
        return [notice for notice in waiting if notice.audience in audiences]

    def _standing_ends(self, record: Record) -> Ending | None:
        """The ending that follows from the state; git is run for the pushed head only if it matters."""
        standing = self._standing(record)
        ending = endings.standing_ends(standing, self.wanted)
        if ending is None or standing.is_merged or standing.is_closed or self._is_current(record):
            return ending
        return None

    def _standing(self, record: Record) -> Standing:
        phase = PHASES.get(record.claim.phase)
        if phase in (Phase.MERGED_DETECTED, Phase.DONE):
            return Standing(is_merged=record.judged == Phase.MERGED_DETECTED)
        if phase is Phase.PR_CLOSED:
            return Standing(is_closed=record.judged == phase and self._is_fresh(record))
        is_to_be_read = record.pull.is_unread and self._may_look()
        if phase is not Phase.CHECKS_RUNNING or is_to_be_read or not self._is_fresh(record):
            return Standing()
        trouble = record.troubles.get("RerunJobs")
        is_refused = bool(record.pull.reruns) and trouble is not None and trouble.is_final
        standing = pull_wait.standing_of(record.pull)
        is_held = standing.is_held or is_refused or briefing.is_asked(record)
        return replace(standing, is_held=is_held)

    def _is_fresh(self, record: Record) -> bool:
        """True if the checks were read no longer before this wait than one poll."""
        return self._seen_at(record) >= self.began - self.world.settings.poll_seconds

    def _seen_at(self, record: Record) -> float:
        """When GitHub last showed what the record has."""
        return max(parse_time(record.claim.last_check_poll) or 0.0, self.confirmed)

    def _is_current(self, record: Record) -> bool:
        """True if the PR's head was pushed from here last, or GitHub has shown another for a while."""
        if self._seen_at(record) > self.began + SETTLE_SECONDS:
            return True
        pushed = self.world.git.remote_head_of(record.claim.branch, self.world.settings.remote)
        return pushed in (None, record.pull.head)

    def _is_unseen(self, record: Record) -> bool:
        """True if nobody looked since shortly before this wait: then it looks at once."""
        return self._seen_at(record) < self.began - pace.SOONEST and self._may_look()

    def _every(self, record: Record) -> float:
        """Seconds that have to pass between two polls of the checks now."""
        interval, left = self.world.settings.poll_seconds, self.ends - self.clock.monotonic()
        is_last = left <= LAST_SECONDS and self._may_look()
        is_soon = is_last or self.is_doubted or self._is_unseen(record)
        return min(pace.SOONEST, interval) if is_soon else interval

    def _next(self, record: Record) -> float | None:
        """When to look, in seconds since the epoch; None if looking would change nothing."""
        if record.pull.is_unread:
            return 0.0
        is_settled = self.claim_store.marks.is_stamped(self.claim_store.mtime_ns())
        every, now, stopped = self._every(record), self.clock.now(), self.began - pace.STOP_GRACE
        return pace.next_look(record, every, now, settled=is_settled, stopped_at=stopped)

    def _look_if_due(self) -> bool:
        """Look at GitHub if a look is due and we may look; False if not."""
        now, may_look, record = self.clock.now(), self._may_look(), self._record
        if record is None or self.clock.monotonic() < self.not_before:
            return False
        moment = self._next(record)
        if moment is None or max(moment, self.again) > now:
            return False
        interval, answer = self._every(record), None
        if interval == self.world.settings.poll_seconds:
            watching = watched(self.world, self.claim_store, record)
            answer = shared(self.world, watching, self.within(), self._look_seconds())
        if answer is not None and not answer.is_whole:
            self.again = answer.again
            self.problem = Transient(answer.problem) if answer.problem else None
            if answer.is_same:
                self.confirmed, self._files, self.is_doubted = now, None, False
            return answer.is_same
        if not may_look:  # the waiter beside us looks: its files tell
            self.again = now + BESIDE_SECONDS
            return False
        soonest = min(pace.SOONEST, self.world.settings.poll_seconds)
        self.not_before = self.clock.monotonic() + soonest
        report = self._looked(interval)
        self.is_doubted = False
        waiting = news_packets.to_be_read(self.claim_store.ledger, report.record)
        if report.problem is None and news_packets.judged(self.world, waiting, self.within()):
            report = self._looked(interval)
        self.world.deadline.renew(None)
        self._files, self.problem = None, report.problem
        seen = report.record
        if isinstance(report.problem, LockBusy) or (seen and "Look" not in seen.troubles):
            self.problem = None  # another process looks, or only writing failed after the read
        if report.problem is not None:
            self.world.close()
        return True

    def _looked(self, interval: float) -> Report:
        to = Listener(CHANNEL, (), self.session)
        seconds = self._look_seconds()
        return idle_look(self.world, self.claim_store, self.within(), to, interval, seconds)

    def _look_seconds(self) -> float:
        return pull_wait.look_seconds(self.ends - self.clock.monotonic())

    def _may_look(self) -> bool:
        """True if nobody else looks: we hold the waiter's lock, or the session has no waiter."""
        if self._is_waiter:
            return True
        folder = self.claim_store.folder
        if self._record is not None and self._is_beside(self._record):
            return not signs_of_life.is_live(folder, self.clock.now())
        with contextlib.suppress(LockBusy):
            self._held.enter_context(signs_of_life.alone(folder, 0))
            self._is_waiter = True
        return self._is_waiter

    def _is_beside(self, record: Record) -> bool:
        """True if the news is for another live session, not for us."""
        signs = self.claim_store.signs(record)
        return observing.is_held(record, self.session or "-", signs, self.clock.now())

    def _sign(self) -> None:
        folder, until = self.claim_store.folder, self.clock.now() + SLICE_SECONDS
        if self._is_waiter:
            signs_of_life.promise(folder, self.session, until)
        if self._record is not None and not self._is_beside(self._record):
            signs_of_life.promise_command(folder, self.wanted.value, until)

    def _told(self, record: Record, ending: Ending) -> Waited | None:
        """The end with its news, which counts as told from now on; its reasons are read first.

        None if a failure that was seen shortly before this wait is over.
        """
        ended, waiting = self._of(record, ending), self._waiting(record)
        ended = pull_wait.explained(self.world, ended, waiting, self.within)
        packet = ended.packet
        if packet is not None and not (packet.count or packet.unseen or waiting):
            self.is_doubted = self._seen_at(record) < self.began
            if self.is_doubted:
                return None
        if self._is_beside(record):
            return replace(ended, said=tuple(self.claim_store.ledger.waiting()))
        with self.claim_store.folder.locked(HOOK_SECONDS):
            self.claim_store.load(repair=False)
            audiences = observing.deliverable(record, self.session, AGENTS)
            notices = self.claim_store.take(Listener(CHANNEL, audiences, self.session))
        return replace(ended, said=notices)

    def _of(self, record: Record, ending: Ending, problem: str = "") -> Waited:
        number, head, state = record.claim.pull, record.pull.head, briefing.state_lines(record)
        return Waited(ending, number, head, state=tuple(state), problem=problem)

    def _out_of_time(self) -> Waited:
        """The end without news; if GitHub was never reached, the problem is raised."""
        record = self._record
        if record is None:
            raise Refused(GONE)
        if isinstance(self.problem, Transient) and self._seen_at(record) < self.began:
            raise self.problem
        trouble = self.problem or record.troubles.get("Look")
        sentence = trouble.sentence if trouble is not None else ""
        return self._of(record, Ending.TIME_OUT, problem=sentence)
