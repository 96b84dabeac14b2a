"""Wait for news of a pull request without a claim here; and how any wait ended, and why.

Such a wait uses the rules of claims: they decide what a look tells, on a record that lives only as long as
the wait. How a wait ended is a value, for the command that prints it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from lifecycle.app import news_packets
from lifecycle.app.waiting.wait_loop import Waiting, Watching, Within
from lifecycle.app.wiring import WorktreeWorld, sentence
from lifecycle.claim.decisions.pull import pace, review
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine import briefing
from lifecycle.claim.record import claim_file, sections
from lifecycle.claim.record.state import Record
from lifecycle.core import errors
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.plan import Notice, Wake
from lifecycle.core.timing import DeadlineReached, parse_time, render_time
from lifecycle.core.values.checks import Verdict
from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import Look, PullRequest, PullState
from lifecycle.feedback.checks.packet import FailurePacket
from lifecycle.feedback.waiting.endings import Ending, WaitFor, news_ends, states_end
from lifecycle.storage import feedback_files

SETTLE_SECONDS = 60.0
"""Seconds from its beginning in which a wait distrusts a head that is not the one pushed last."""

OF_CREDENTIALS = (errors.NoToken, errors.BadCredentials, errors.NoPermission, errors.MissingScope)


@dataclass(frozen=True, slots=True)
class Waited:
    """How a wait ended.

    Attributes:
        ending: what ended it.
        pull, head: the pull request and its head, 0 and "" if none was seen.
        said: the news, which counts as told.
        state: sentences on the pull request's state, if there was no news.
        packet: what failed, for failed checks.
        why: lines on a conflict, or on what failed in the merge queue.
        problem: what went wrong with the last look, "" if nothing did.
    """

    ending: Ending
    pull: int = 0
    head: str = ""
    said: tuple[Notice, ...] = ()
    state: tuple[str, ...] = ()
    packet: FailurePacket | None = None
    why: tuple[str, ...] = ()
    problem: str = ""


def states_of(record: sections.PullRecord, *, is_held: bool = False) -> set[str]:
    """The states of an open pull request, according to the record of the last look.

    `is_held`: its checks wait for somebody once none is running any more, whatever they say themselves.
    """
    states = {"approved": record.is_approved, "conflicting": record.conflicts_with}
    checks = record.checks or {}
    if checks.get("sha") == record.head:
        is_over = not (checks.get("running") or checks.get("unfinished"))
        verdict = checks.get("verdict")
        states |= {"unchecked": checks.get("is_unchecked"), "green": verdict == Verdict.GREEN}
        states |= {"failed": is_over and verdict == Verdict.FAILED}
        states |= {"held": is_over and (is_held or checks.get("waits"))}
    return {state for state, is_so in states.items() if is_so}


FIRST_RETRY = 15.0
"""Seconds until GitHub is asked again after it gave no answer, unless it named a time."""


class CommandWait(Waiting[Waited]):
    """The wait of a command: it ends with news, with a refusal of GitHub, and when its time is up."""

    wanted: WaitFor
    _record: Record

    def _next(self) -> float | Waited:
        ended = self._ended()
        if ended is None and self.left <= 0:
            # GitHub was never reached; the time of a look is kept in whole seconds.
            if self.problem is not None and self._seen_at < int(self.began):
                raise self.problem
            why = self.problem or self._record.troubles.get("Look")
            ended = self._of(Ending.TIME_OUT, why.sentence if why is not None else "")
        return self._due() if ended is None else ended

    @abstractmethod
    def _ended(self) -> Waited | None:
        """How the wait ended before its time was up; None if it has not ended."""

    @abstractmethod
    def _due(self) -> float:
        """When to look, in seconds since the epoch; NEVER if looking would change nothing."""

    @abstractmethod
    def _of(self, ending: Ending, problem: str = "") -> Waited:
        """The end with the pull request's state, without its news."""

    @property
    def _seen_at(self) -> float:
        """When GitHub last showed what the record has."""
        return max(parse_time(self._record.claim.last_check_poll) or 0.0, self.confirmed)

    def _refused(self) -> Waited | None:
        """The end if GitHub does not take the credentials; raises its other refusals."""
        if isinstance(self.problem, OF_CREDENTIALS):
            return self._of(Ending.CREDENTIALS, self.problem.sentence)
        if self.problem is not None and not isinstance(self.problem, errors.Transient):
            raise self.problem
        return None

    def _explained(self, ending: Ending, news: Iterable[Notice]) -> Waited:
        """The end with its reasons: the packet of failed checks, and lines on other news."""
        ended, world = self._of(ending), self.world
        is_red = ending is Ending.RED and ended.pull != 0
        if not is_red and ending not in (Ending.CONFLICT, Ending.THROWN_OUT):
            return ended
        try:
            with world.deadline.renewed(news_packets.FETCH_SECONDS), self.within():
                if is_red:
                    from lifecycle.feedback.checks.fetching import fetch

                    return replace(ended, packet=fetch(world, ended.pull), problem="")
                why = news_packets.prepared(world, news).values()
                return replace(ended, why=tuple(line for lines in why for line in lines))
        except (DeadlineReached, errors.LifecycleError, OSError) as error:
            if not is_red:  # between two of them: the sentence of each says where to look
                return ended
            problem = news_packets.unread(getattr(error, "sentence", ""), ended.pull)
            return replace(ended, problem=problem)


class BranchWait(CommandWait):
    """One wait for a pull request by its number; as `claim_wait.ClaimWait`, without a claim."""

    def __init__(
        self, world: WorktreeWorld, pull: int, *, wanted: WaitFor, seconds: float, within: Within
    ) -> None:
        super().__init__(world, within, seconds)
        self.wanted = wanted
        self.pull: PullRequest | None = None
        self.looked = 0.0
        self._number = pull
        values = {**dict.fromkeys(claim_file.FIELDS), "phase": Phase.CHECKS_RUNNING.value}
        values |= {"issue_number": pull, "pr_number": pull, "branch": ""}
        self._record = Record(values=values)
        self._told: set[str] = set()
        self._done: Waited | None = None

    def _ended(self) -> Waited | None:
        return self._done or self._refused()

    def _due(self) -> float:
        return max(pace.next_poll(self._record, self.every, self.clock.now()), self.again)

    def _watching(self) -> Watching | None:
        due = self._record.pull.reviews.get("due")
        is_due = isinstance(due, int | float) and due <= self.clock.now()
        node_id = self.pull.node_id if self.pull is not None else ""
        return ([node_id], self.looked) if node_id and not is_due else None

    def _pause(self, moment: float) -> None:
        super()._pause(moment)
        if self.left <= 0 and not self._is_known():
            self._look()  # so that its last report is true

    def _look(self) -> None:
        """Read the pull request once."""
        self.problem = None
        try:
            with self.world.deadline.renewed(self.look_seconds), self.within():
                notices, ending = self._read()
        except DeadlineReached:
            self.problem = errors.Transient("GitHub did not answer in time.")
        except errors.LifecycleError as error:
            self.problem = error
        else:
            self._told |= {notice.key for notice in notices}  # no news to this wait any more
            if ending is not None:
                self._done = replace(self._explained(ending, notices), said=tuple(notices))
        retry = getattr(self.problem, "retry_after", None) or FIRST_RETRY
        self.not_before = self.clock.monotonic() + (retry if self.problem else self.soonest)

    def _read(self) -> tuple[list[Notice], Ending | None]:
        """Read the pull request in one request: the notices new to this wait, and how it ends."""
        number = self._number
        branch = self.pull.branch if self.pull is not None else ""
        look = Look(issue=number, branch=branch, pr_number=number, checks=True, reviews=True)
        observed = self.world.forge.observe(look)
        pull = observed.by_number
        if pull is None:
            raise errors.NotFound(sentence("no-pull", number=number, world=self.world))
        self.pull = pull
        self.looked = now = self.clock.now()
        if pull.state is not PullState.OPEN:
            return [], Ending.GOOD if pull.state is PullState.MERGED else Ending.CLOSED
        news = self.world.reviews.heard(pull, self._record.pull.reviews, now, is_asked=False)
        record = self._record.with_pull(reviews=news.known)
        for name, text in news.papers:
            feedback_files.write(self.world.root, name, text)
        settings = Settings(poll_seconds=self.every)
        snapshot = Snapshot(Wake.IDLE, now, record, settings, observation=observed)
        known, judged = review.judge(replace(snapshot, looked_at_checks=True), pull)
        values = {"branch": pull.branch, "last_check_poll": render_time(now)}
        self._record = replace(self._record.with_values(values), pull=known)
        unheard = [notice for notice in (*news.notices, *judged) if notice.key not in self._told]
        ending = news_ends(unheard, self.wanted) or states_end(states_of(known), self.wanted)
        return unheard, ending

    def _of(self, ending: Ending, problem: str = "") -> Waited:
        head = self.pull.head_sha if self.pull is not None else ""
        return Waited(ending, self._number, head, state=self._state(), problem=problem)

    def _state(self) -> tuple[str, ...]:
        """Sentences on the pull request's state."""
        if self.pull is None:
            return ()
        where = f"PR #{self._number} {self.pull.url} is {self.pull.state.value.lower()}."
        is_open = self.pull.state is PullState.OPEN
        return (where, briefing.checks_line(self._record)) if is_open else (where,)
