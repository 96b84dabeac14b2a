"""Which parts of a pull request's conversations were said, which are news, and who gets them. Pure.

A reviewing bot finds something new at each push, so its reviews never end: after some rounds the agent gets
its findings no more. People's are never held back.

Facts that GitHub knows, such as whether a thread is answered or resolved, are never kept; GitHub is asked.
Only facts that nobody else has are kept: what was said, at which head, how often, and to whom.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from lifecycle.core.light_dataclass import dataclass, field, from_json, replace
from lifecycle.feedback.reviews.remarks import PullConversation, Remark, ReviewPoint, Trusted

QUIET_SECONDS = 90.0
"""Seconds without a new remark before news is said, so that one review is said as one."""

LONGEST_QUIET = 600.0
"""Seconds after which news is said even if somebody keeps writing, or GitHub's clock is ahead."""

_KEPT = 5_000
"""The most rows of a ledger; the newest are kept, and a dropped one would be said again."""

MOST_ROUNDS = 3
"""Heads at which the agent gets bots' findings, over a pull request's whole life."""

CALM_ROUNDS = 2
"""Rounds after which the agent gets only findings that are serious or have no known class."""

MOST_TIMES = 3
"""How often the agent gets one point of a bot: a bot may answer every answer."""

_LESSER = ("minor", "nit")


@dataclass(frozen=True, slots=True)
class ToldPoint:
    """What was said of one point: `seen` is the remark's stamp, `head` the commit then.

    `is_resolved`: GitHub showed it resolved since, so it is news if reopened. `packet`: the key of the
    agent's packet that contains it, "" for what the user got.
    """

    seen: str
    head: str
    times: int = 1
    is_resolved: bool = False
    packet: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRound:
    """One head at which the agent got bots' findings, and which ones."""

    head: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReviewLedger:
    """What was said about one pull request.

    Attributes:
        number: the pull request's; for another one, an empty ledger begins.
        looked: the digest of the conversations that were read last.
        due: when the waiting news is said; None if there is none.
        waits_since: when the waiting news was first seen.
        told: by the id of thread, review or comment.
        rounds: of bots' findings, the oldest first.
    """

    number: int
    looked: str = ""
    due: float | None = None
    waits_since: float | None = None
    told: Mapping[str, ToldPoint] = field(default_factory=dict)
    rounds: tuple[ReviewRound, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any], number: int) -> ReviewLedger:
        """The ledger that JSON contains; an empty one for another pull request or an unknown shape."""
        ledger: ReviewLedger | None = from_json(cls, data, is_whole=False)
        return ledger if ledger is not None and ledger.number == number else cls(number)

    def without(self, packets: Collection[str]) -> ReviewLedger:
        """The ledger as if these packets had not been made: their points are news if they still apply.

        How often, and in which round, a point was said earlier still counts.
        """
        unheard = {key: row for key, row in self.told.items() if row.packet in packets}
        if not unheard:
            return self
        rows = {key: row for key, row in self.told.items() if key not in unheard}
        for key, row in unheard.items():
            if row.times > 1:
                rows[key] = replace(row, seen="", times=row.times - 1, packet="")
        heads = {row.head for row in unheard.values()}
        kept = (p for p in self.rounds if p.head not in heads or {*p.keys} - unheard.keys())
        return replace(self, told=rows, rounds=tuple(kept))

    def unsaid(self, points: Iterable[ReviewPoint]) -> tuple[ReviewPoint, ...]:
        """The points that were not said in their present form: edited and reopened ones are news, too."""
        return tuple(filter(self._is_new, points))

    def _is_new(self, point: ReviewPoint) -> bool:
        row = self.told.get(point.key)
        if row is None or row.is_resolved:
            return True
        # Bots rewrite their summary of the change at each push: only their threads count.
        is_rewritten = point.thread is None and point.remark.trusted is Trusted.BOT
        return row.seen != point.remark.stamp and not is_rewritten

    def telling(self, points: Iterable[ReviewPoint], head: str, packet: str = "") -> ReviewLedger:
        """The ledger with these points noted as said at this head, in the packet with this key."""
        rows = dict(self.told)
        for point in points:
            before = rows.pop(point.key, None)
            times = before.times + 1 if before is not None else 1
            rows[point.key] = ToldPoint(point.remark.stamp, head, times, packet=packet)
        return replace(self, told=dict(list(rows.items())[-_KEPT:]))


def key_of(number: int, points: Iterable[ReviewPoint]) -> str:
    """The packet's key: the pull request's number, and a hash of its points in their present wording."""
    stamps = " ".join(sorted(f"{point.key}={point.remark.stamp}" for point in points))
    return f"{number}-{hashlib.sha256(stamps.encode()).hexdigest()[:8]}"


def points(conversation: PullConversation, rows: Mapping[str, ToldPoint]) -> list[ReviewPoint]:
    """All points that need an answer, said or not: threads, requests for changes, texts, comments.

    A resolved thread needs none; nor does an answered one, unless it was resolved once and reopened.
    Strangers' words are not included: `strangers` has them.
    """
    open_points: list[ReviewPoint] = []
    for thread in conversation.threads:
        row = rows.get(thread.id)
        is_open_again = row is not None and row.is_resolved
        newest = _newest(thread.shown)
        if newest is None or thread.is_resolved or (thread.is_answered and not is_open_again):
            continue
        open_points.append(ReviewPoint(thread.id, newest, thread))
    asked = {request.key for request in conversation.standing}
    for text in filter(_speaks, conversation.texts):
        is_text = text.review_state == "COMMENTED" and bool(text.remark.body.strip())
        if not text.review_state or is_text or text.key in asked:
            open_points.append(text)
    return open_points


def strangers(conversation: PullConversation) -> list[ReviewPoint]:
    """The points of people and bots without rights here: only for the user."""
    threads = (thread for thread in conversation.threads if not thread.is_resolved)
    remarks = ((remark, thread) for thread in threads for remark in thread.shown)
    candidates = [ReviewPoint(f"S{remark.id}", remark, thread) for remark, thread in remarks]
    candidates += [_under("S", text) for text in conversation.texts if not text.remark.is_hidden]
    theirs = (point for point in candidates if point.remark.trusted is Trusted.STRANGER)
    return [point for point in theirs if point.remark.body.strip()]


def approvals(conversation: PullConversation) -> list[ReviewPoint]:
    """The texts of approvals: they need no answer, and nobody would look for them on GitHub."""
    texts = (text for text in conversation.texts if text.review_state == "APPROVED")
    return [text for text in filter(_speaks, texts) if text.remark.body.strip()]


def limited(conversation: PullConversation) -> list[ReviewPoint]:
    """The remarks of bots that they did not review: for the user, who may assume that they did."""
    texts = (text for text in conversation.texts if text.remark.is_limited)
    return [_under("L", text) for text in texts if not text.remark.is_hidden]


def resolved(ledger: ReviewLedger, conversation: PullConversation) -> ReviewLedger:
    """Mark points that GitHub shows as resolved: they are dropped, and are news if reopened."""
    over = {thread.id for thread in conversation.threads if thread.is_resolved}
    rows = {key: replace(ledger.told[key], is_resolved=True) for key in over & {*ledger.told}}
    return replace(ledger, told={**ledger.told, **rows})


def _under(prefix: str, text: ReviewPoint) -> ReviewPoint:
    """The text as a point for the user, whose key is its remark's."""
    return replace(text, key=f"{prefix}{text.remark.id}")


def _newest(remarks: Iterable[Remark]) -> Remark | None:
    """The remark with the latest change, among those whose authors may speak to the agent."""
    kept = [remark for remark in remarks if remark.is_trusted and not remark.is_limited]
    return max(reversed(kept), key=lambda remark: remark.changed_at, default=None)


def _speaks(text: ReviewPoint) -> bool:
    """True if a text outside of threads may be a point of its own."""
    remark = text.remark
    is_aside = remark.is_hidden or remark.is_limited or remark.is_summary
    return remark.is_trusted and not is_aside


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """What to say now, to whom, and the ledger after that.

    Attributes:
        agent: points for the agent; the most serious first.
        person: bots' points for the user: minor ones of late rounds, repeated ones, all after a stop.
        strangers, limited, approvals: what only the user gets.
        must_reproduce: the agent has to reproduce each bot's finding before it changes anything.
        question: why a person is asked: "rounds", "no progress", or "".
    """

    ledger: ReviewLedger
    agent: tuple[ReviewPoint, ...] = ()
    person: tuple[ReviewPoint, ...] = ()
    strangers: tuple[ReviewPoint, ...] = ()
    limited: tuple[ReviewPoint, ...] = ()
    approvals: tuple[ReviewPoint, ...] = ()
    must_reproduce: bool = False
    question: str = ""


def decide(
    conversation: PullConversation, ledger: ReviewLedger, now: float, *, is_asked: bool
) -> ReviewDecision:
    """Decide what to say about a conversation now; nothing while somebody may still be writing.

    Args:
        conversation: the whole conversation.
        ledger: what was said so far.
        now: seconds since the epoch.
        is_asked: somebody ran a command for this, so the answer does not wait.
    """
    ledger = resolved(ledger, conversation)
    fresh = ledger.unsaid(points(conversation, ledger.told))
    # The other points are only for the user.
    theirs = ledger.unsaid(strangers(conversation))
    unreviewed = ledger.unsaid(limited(conversation))
    approving = ledger.unsaid(approvals(conversation))
    others = [*theirs, *unreviewed, *approving]
    calm = replace(ledger, due=None, waits_since=None)
    if not (fresh or others):
        return ReviewDecision(calm)
    since = ledger.waits_since if ledger.waits_since is not None else now
    newest = max(point.remark.changed_at for point in [*fresh, *others])
    due = min(newest + QUIET_SECONDS, since + LONGEST_QUIET)
    if now < due and not is_asked:
        return ReviewDecision(replace(ledger, due=due, waits_since=since))
    answer = _told(conversation, calm, fresh)
    after = answer.ledger.telling(others, conversation.head)
    return replace(answer, ledger=after, strangers=theirs, limited=unreviewed, approvals=approving)


def _told(
    conversation: PullConversation, ledger: ReviewLedger, fresh: Sequence[ReviewPoint]
) -> ReviewDecision:
    head = conversation.head
    persons = [point for point in fresh if not point.is_bots]
    bots = [point for point in fresh if point.is_bots]
    heads = {past.head: past.keys for past in ledger.rounds}
    count = len({*heads, head})
    question = ""
    if bots and count > MOST_ROUNDS:
        question = "rounds"
    elif bots and ledger.rounds and not _has_progress(conversation, ledger.rounds[-1]):
        question = "no progress"
    worn_out = {key for key, row in ledger.told.items() if row.times >= MOST_TIMES}
    kept = [] if question else [point for point in bots if point.key not in worn_out]
    if count > CALM_ROUNDS:
        kept = [point for point in kept if point.remark.severity not in _LESSER]
    agent = tuple(sorted([*persons, *kept], key=_rank))
    for_person = tuple(point for point in bots if point not in kept)
    packet = key_of(conversation.number, agent)
    after = ledger.telling(agent, head, packet).telling(for_person, head)
    if kept:
        # A head that is gone back to is the last round again.
        keys = dict.fromkeys((*heads.pop(head, ()), *(point.key for point in kept)))
        rounds = {**heads, head: tuple(keys)}
        after = replace(after, rounds=tuple(ReviewRound(*past) for past in rounds.items()))
    is_late = bool(kept) and count > CALM_ROUNDS
    return ReviewDecision(after, agent, for_person, must_reproduce=is_late, question=question)


def _has_progress(conversation: PullConversation, last: ReviewRound) -> bool:
    """True if the last round had a result, or its head is still the current one: the agent is at it.

    A thread that was answered, resolved or outdated is a result. If a round has only texts that cannot be
    answered in place, the next push is its result.
    """
    if last.head == conversation.head:
        return True
    threads = [thread for thread in conversation.threads if thread.id in last.keys]
    done = (thread.is_resolved or thread.is_answered or thread.is_outdated for thread in threads)
    return not threads or any(done)


_CLASSES = ("blocking", "major", "", "minor", "nit")


def _rank(point: ReviewPoint) -> tuple[bool, bool, int]:
    """The sort key of a point: requests for changes, then people, then bots by the finding's class."""
    asks = point.review_state == "CHANGES_REQUESTED"
    return not asks, point.is_bots, _CLASSES.index(point.remark.severity)


def to_ask_again(conversation: PullConversation) -> tuple[str, ...]:
    """Who may be asked to review this head again, in GitHub's order; each at most once for a head.

    These are people whose last review is of an older commit and not an approval, and who are not asked now.
    Bots are not: they review each push by themselves, or when asked in words of their own.
    """
    reviews = (text for text in conversation.texts if text.review_state)
    last = conversation.last_of(text for text in reviews if text.remark.trusted is Trusted.PERSON)
    asked = (text for text in last if text.review_state != "APPROVED")
    return tuple(text.remark.author for text in asked if text.remark.sha != conversation.head)
