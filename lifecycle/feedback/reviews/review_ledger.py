"""Which parts of a pull request's conversations were told, by GitHub's ids, and which are news. Pure.

GitHub is asked for everything that it knows: whether a thread is answered or resolved is never kept. Only
facts that nobody else has are kept: what was told, at which head, how often, and to whom.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from lifecycle.core.light_dataclass import asdict, dataclass, field, from_json, replace
from lifecycle.feedback.reviews.remarks import PullConversation, Remark, ReviewPoint, Trusted

QUIET_SECONDS = 90.0
"""Seconds without a new remark after which news is told, so that one review is told as one."""

LONGEST_QUIET = 600.0
"""Seconds after which news is told although somebody never pauses, or GitHub's clock is ahead."""

_KEPT = 5_000
"""Rows of a ledger at most, the newest: what is dropped would be told again."""


@dataclass(frozen=True, slots=True)
class ToldPoint:
    """What was told of one point: `seen` is the remark's stamp, `head` the commit then.

    `is_resolved` if GitHub showed it resolved since: what is opened again is news. `packet` is the key of the
    agent's packet that has it, "" for what was told to the user.
    """

    seen: str
    head: str
    times: int = 1
    is_resolved: bool = False
    packet: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRound:
    """One head at which bots' findings were told to the agent, and which."""

    head: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReviewLedger:
    """What was told of one pull request.

    Attributes:
        number: the pull request's; another one begins an empty ledger.
        looked: the digest of the conversations that were read last.
        due: when the waiting news is told; None if there is none.
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

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], number: int) -> ReviewLedger:
        """What `as_json` gave; an empty one for another pull request or another shape."""
        ledger: ReviewLedger | None = from_json(cls, data, is_whole=False)
        return ledger if ledger is not None and ledger.number == number else cls(number)

    def packed(self, points: Iterable[ReviewPoint], packet: str) -> ReviewLedger:
        """The ledger with these points, which are told, in the packet of that key."""
        rows = {point.key: replace(self.told[point.key], packet=packet) for point in points}
        return replace(self, told={**self.told, **rows})

    def without(self, packets: Collection[str]) -> ReviewLedger:
        """The ledger as if these packets had not been made: what still stands of them is news.

        What an earlier one told goes on counting: how often, and in which round.
        """
        unheard = {key: row for key, row in self.told.items() if row.packet in packets}
        if not unheard:
            return self
        rows = {key: row for key, row in self.told.items() if key not in unheard}
        for key, row in unheard.items():
            if row.times > 1:
                rows[key] = replace(row, seen="", times=row.times - 1, packet="")
        heads = {row.head for row in unheard.values()}
        rounds = [
            past
            for past in self.rounds
            if past.head not in heads or not unheard.keys() >= {*past.keys}
        ]
        return replace(self, told=rows, rounds=tuple(rounds))

    def telling(self, points: Iterable[ReviewPoint], head: str) -> ReviewLedger:
        """The ledger with these points noted as told at this head."""
        rows = dict(self.told)
        for point in points:
            before = rows.pop(point.key, None)
            times = before.times + 1 if before is not None else 1
            rows[point.key] = ToldPoint(point.remark.stamp, head, times)
        return replace(self, told=dict(list(rows.items())[-_KEPT:]))


def points(conversation: PullConversation, rows: Mapping[str, ToldPoint]) -> list[ReviewPoint]:
    """All points that wait for somebody, told or not: threads, requests for changes, texts, comments.

    A thread that is resolved waits for nobody, and one that is answered neither, unless it was resolved
    once and opened again. Strangers' words make no point: `strangers` has them.
    """
    open_points: list[ReviewPoint] = []
    for thread in conversation.threads:
        row = rows.get(thread.id)
        is_open_again = row is not None and row.is_resolved
        newest = _newest(thread.shown)
        if newest is None or thread.is_resolved or (thread.is_answered and not is_open_again):
            continue
        open_points.append(ReviewPoint(thread.id, newest, thread))
    asked = {standing.id for standing in conversation.standing}
    for review in conversation.reviews:
        is_text = review.state == "COMMENTED" and bool(review.remark.body.strip())
        if (review.id in asked or is_text) and _speaks(review.remark):
            open_points.append(review.point)
    speaking = filter(_speaks, conversation.comments)
    return [*open_points, *(ReviewPoint(f"C{comment.id}", comment) for comment in speaking)]


def news(conversation: PullConversation, rows: Mapping[str, ToldPoint]) -> list[ReviewPoint]:
    """The points that nobody was told of as they are now: edits are news, and what is opened again."""
    return [point for point in points(conversation, rows) if _is_new(point, rows)]


def _is_new(point: ReviewPoint, rows: Mapping[str, ToldPoint]) -> bool:
    row = rows.get(point.key)
    if row is None or row.is_resolved:
        return True
    # Bots rewrite what they say of the change as a whole at each push: their threads count, and it not.
    is_rewritten = point.thread is None and point.remark.trusted is Trusted.BOT
    return row.seen != point.remark.stamp and not is_rewritten


def strangers(conversation: PullConversation, rows: Mapping[str, ToldPoint]) -> list[ReviewPoint]:
    """The untold points of people and bots without rights here: for the user alone."""
    candidates = [
        ReviewPoint(f"S{remark.id}", remark, thread)
        for thread in conversation.threads
        if not thread.is_resolved
        for remark in thread.shown
    ]
    texts = [review.point for review in conversation.reviews]
    candidates += [replace(text, key=f"S{text.remark.id}") for text in texts]
    candidates += [ReviewPoint(f"S{comment.id}", comment) for comment in conversation.comments]
    seen = (point for point in candidates if not point.remark.is_hidden)
    theirs = (point for point in seen if point.remark.trusted is Trusted.STRANGER)
    return [point for point in theirs if point.remark.body.strip() and _is_new(point, rows)]


def approvals(conversation: PullConversation, rows: Mapping[str, ToldPoint]) -> list[ReviewPoint]:
    """The untold texts of approvals: they ask for no answer, and nobody looks for them there."""
    texts = (review.point for review in conversation.reviews if review.state == "APPROVED")
    speaking = (text for text in texts if text.remark.body.strip() and _speaks(text.remark))
    return [point for point in speaking if _is_new(point, rows)]


def limited(conversation: PullConversation, rows: Mapping[str, ToldPoint]) -> list[ReviewPoint]:
    """The untold remarks of bots that they did not review: for the user, who may think that they did."""
    texts = [*conversation.comments, *(review.remark for review in conversation.reviews)]
    return [
        ReviewPoint(f"L{remark.id}", remark)
        for remark in texts
        if remark.is_limited and not remark.is_hidden and f"L{remark.id}" not in rows
    ]


def resolved(ledger: ReviewLedger, conversation: PullConversation) -> ReviewLedger:
    """Mark what GitHub shows resolved: it is dropped, and is news if it is opened again."""
    states = {thread.id: thread.is_resolved for thread in conversation.threads}
    rows = {
        key: replace(row, is_resolved=True) if states.get(key) else row
        for key, row in ledger.told.items()
    }
    return replace(ledger, told=rows)


def due_at(waiting: Iterable[ReviewPoint], since: float) -> float:
    """When news may be told: a while after the last word, and LONGEST_QUIET after `since` at the latest."""
    newest = max(point.remark.changed_at for point in waiting)
    return min(newest + QUIET_SECONDS, since + LONGEST_QUIET)


def _newest(remarks: Iterable[Remark]) -> Remark | None:
    """The remark that was written or edited last by somebody who may speak to the agent."""
    kept = [remark for remark in remarks if remark.is_trusted and not remark.is_limited]
    return max(reversed(kept), key=lambda remark: remark.changed_at, default=None)


def _speaks(remark: Remark) -> bool:
    """True if a text that is in no thread may be a point of its own."""
    is_aside = remark.is_hidden or remark.is_limited or remark.is_summary
    return remark.is_trusted and not is_aside
