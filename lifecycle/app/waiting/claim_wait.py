"""Wait for news of the claim's pull request: as the only waiter here, or beside one that lives.

A process of the claim's session becomes its waiter if there is none. Beside another waiter it asks GitHub
nothing: the files tell what that waiter found, and the waiter leaves the news to us. A person beside a live
session reads the news, but takes none of it off the queue.
"""

from __future__ import annotations

import contextlib

from lifecycle.app import news_packets
from lifecycle.app.waiting.pull_wait import SETTLE_SECONDS, CommandWait, Waited, states_of
from lifecycle.app.waiting.wait_loop import Watching, Within, watched
from lifecycle.app.wiring import WorktreeWorld, sentence
from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.pull import pace
from lifecycle.claim.decisions.table import PHASES, Phase
from lifecycle.claim.engine import briefing, observing
from lifecycle.claim.record.claim_store import ClaimStore, Listener
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import HeldByAnother, LockBusy, Refused
from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.values.configured import HOOK_SECONDS
from lifecycle.feedback.waiting.endings import Ending, WaitFor, news_ends, states_end
from lifecycle.settings import running_client
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


class ClaimWait(CommandWait):
    """One wait for the claim's pull request."""

    longest_pause = SLICE_SECONDS

    def __init__(
        self,
        world: WorktreeWorld,
        claim_store: ClaimStore,
        *,
        wanted: WaitFor,
        seconds: float,
        within: Within,
    ) -> None:
        super().__init__(world, within, seconds)
        self.claim_store, self.wanted = claim_store, wanted
        self.session = running_client.session_of({}, world.environment)
        self.is_doubted = False
        self._files: tuple[int, int, float] | None = None
        self._is_waiter = False
        self._held = contextlib.ExitStack()

    def run(self) -> Waited:
        """Wait, and say how it ended.

        Raises:
            Refused: there is nothing to wait for.
            HeldByAnother: another agent has the task by now.
            LifecycleError: GitHub refuses a request for another reason than credentials.
        """
        with self._held:
            self._held.callback(signs_of_life.leave_command, self.claim_store.folder)
            self._record = self._read()
            self._join(watched(self.world, self.claim_store, self._record))
            self._sign()
            # The queued news may not be true any more.
            if self._is_unseen() and self._due() <= self.clock.now() and not self._is_known():
                self._look()
            return super().run()

    def _ended(self) -> Waited | None:
        self._sign()
        files = self.claim_store.mtime_ns(), self.claim_store.folder.mtime_ns(STATE), self.confirmed
        if files != self._files:
            self._files, self._record = files, self._read()
            return self._refused() or self._news(self._record)
        return None

    def _read(self) -> Record:
        """The claim as it is now; Refused if no news can come."""
        record = self.claim_store.load(repair=False).record
        if record is None:
            raise Refused(GONE)
        self._refuse(record)
        # Another token asks at once.
        return observing.believed(self.world, self.claim_store, record)

    def _news(self, record: Record) -> Waited | None:
        """The end by news, or by a state that leaves nothing to wait for; None if there is neither."""
        notices = self._waiting(record)
        # News that another channel told since this wait began ends the wait as well.
        entries = self.claim_store.state.get("said", {}).items()
        newest = [key for key, entry in entries if entry.get("offered", 0.0) >= self.began]
        own = [key for key in newest if key.startswith(f"{record.claim_key}/")]
        notices += [Notice(key, "", Audience.NOTE) for key in own]
        ending = news_ends(notices, self.wanted) or self._states_end(record)
        held = record.troubles.get("Look")
        # A refusal of another process since then counts; what was refused before is tried again.
        if held is not None and held.is_final and held.until > self.began + pace.LOOK_AGAIN:
            return self._of(Ending.CREDENTIALS, held.sentence)
        if ending is None and self._due() == pace.NEVER:
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

    def _states_end(self, record: Record) -> Ending | None:
        """The ending that follows from the state; git is run for the pushed head only if there is one.

        If GitHub shows another head than that one for a while, it counts as well.
        """
        phase, is_fresh = PHASES.get(record.claim.phase), self._seen_at >= self.began - self.every
        if phase in (Phase.MERGED_DETECTED, Phase.DONE):
            return Ending.GOOD if record.judged == Phase.MERGED_DETECTED else None
        if phase is Phase.PR_CLOSED:
            return Ending.CLOSED if record.judged == phase and is_fresh else None
        is_to_be_read = record.pull.is_unread and self._may_look()
        if phase is not Phase.CHECKS_RUNNING or is_to_be_read or not is_fresh:
            return None
        trouble = record.troubles.get("RerunJobs")
        is_refused = bool(record.pull.reruns) and trouble is not None and trouble.is_final
        states = states_of(record.pull, is_held=is_refused or briefing.is_asked(record))
        ending = states_end(states, self.wanted)
        if ending is None or self._seen_at > self.began + SETTLE_SECONDS:
            return ending
        pushed = self.world.git.remote_head_of(record.claim.branch, self.world.settings.remote)
        return ending if pushed in (None, record.pull.head) else None

    def _is_unseen(self) -> bool:
        """True if nobody looked since shortly before this wait: then it looks at once."""
        return self._seen_at < self.began - pace.SOONEST and self._may_look()

    @property
    def _interval(self) -> float:
        """Seconds that have to pass between two polls of the checks now."""
        is_last = self.left <= LAST_SECONDS and self._may_look()
        return self.soonest if is_last or self.is_doubted or self._is_unseen() else self.every

    def _due(self) -> float:
        record, moment = self._record, 0.0
        if not record.pull.is_unread:
            settled = self.claim_store.marks.is_stamped(self.claim_store.mtime_ns())
            now, stopped = self.clock.now(), self.began - pace.STOP_GRACE
            due = pace.next_look(record, self._interval, now, settled=settled, stopped_at=stopped)
            moment = pace.NEVER if due is None else due
        return max(moment, self.again)

    def _watching(self) -> Watching | None:
        is_shared = self._interval == self.every and not self.is_doubted
        return watched(self.world, self.claim_store, self._record) if is_shared else None

    def _look(self) -> None:
        if not self._may_look():  # the waiter beside us looks: its files tell
            self.again = self.clock.now() + BESIDE_SECONDS
            return
        interval, to = self._interval, Listener(CHANNEL, (), self.session)
        report = self._ticked(self.claim_store, to, interval)
        self.is_doubted = False
        waiting = news_packets.to_be_read(self.claim_store.ledger, report.record)
        if report.problem is None and news_packets.judged(self.world, waiting, self.within()):
            report = self._ticked(self.claim_store, to, interval)
        self._files, self.problem = None, report.problem
        seen = report.record
        if isinstance(report.problem, LockBusy) or (seen and "Look" not in seen.troubles):
            self.problem = None  # another process looks, or only writing failed after the read
        if report.problem is not None:
            self.world.close()

    def _may_look(self) -> bool:
        """True if nobody else looks: we hold the waiter's lock, or the session has no waiter."""
        if self._is_waiter:
            return True
        folder = self.claim_store.folder
        if self._is_beside():
            return not signs_of_life.is_live(folder, self.clock.now())
        with contextlib.suppress(LockBusy):
            self._held.enter_context(signs_of_life.alone(folder, 0))
            self._is_waiter = True
        return self._is_waiter

    def _is_beside(self) -> bool:
        """True if the news is for another live session, not for us."""
        return observing.is_held(self.claim_store, self._record, self.session or "-")

    def _sign(self) -> None:
        folder, until = self.claim_store.folder, self.clock.now() + SLICE_SECONDS
        if self._may_look() and self._is_waiter:  # it becomes the waiter if there is none
            signs_of_life.promise(folder, self.session, until)
        if not self._is_beside():
            signs_of_life.promise_command(folder, self.wanted.value, until)

    def _told(self, record: Record, ending: Ending) -> Waited | None:
        """The end with its news, which counts as told from now on; its reasons are read first.

        None if a failure that was seen shortly before this wait is over.
        """
        waiting = self._waiting(record)
        ended = self._explained(ending, waiting)
        packet = ended.packet
        if packet is not None and not (packet.count or packet.unseen or waiting):
            self.is_doubted = self._seen_at < self.began
            if self.is_doubted:
                return None
        if self._is_beside():
            return replace(ended, said=tuple(self.claim_store.ledger.waiting()))
        with self.claim_store.folder.locked(HOOK_SECONDS):
            self.claim_store.load(repair=False)
            audiences = observing.deliverable(record, self.session, AGENTS)
            notices = self.claim_store.take(Listener(CHANNEL, audiences, self.session))
        return replace(ended, said=notices)

    def _of(self, ending: Ending, problem: str = "") -> Waited:
        record = self._record
        number, head, state = record.claim.pull, record.pull.head, briefing.state_lines(record)
        return Waited(ending, number, head, state=tuple(state), problem=problem)
