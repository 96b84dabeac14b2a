"""Which parts of a pull request's conversations were said, by GitHub's ids, and which are news. Pure.

Facts that GitHub knows, such as whether a thread is answered or resolved, are never kept; GitHub is asked.
Only facts that nobody else has are kept: what was said, at which head, how often, and to whom.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from lifecycle.core.light_dataclass import dataclass, field, from_json, replace
from lifecycle.feedback.reviews.remarks import PullConversation, Remark, ReviewPoint, Trusted

QUIET_SECONDS = 90.0
"""Seconds without a new remark before news is said, so that one review is said as one."""

LONGEST_QUIET = 600.0
"""Seconds after which news is said even if somebody keeps writing, or GitHub's clock is ahead."""

_KEPT = 5_000
"""The most rows of a ledger; the newest are kept, and a dropped one would be said again."""


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


def due_at(waiting: Iterable[ReviewPoint], since: float) -> float:
    """When news may be said: some time after the last remark, at most LONGEST_QUIET after `since`."""
    newest = max(point.remark.changed_at for point in waiting)
    return min(newest + QUIET_SECONDS, since + LONGEST_QUIET)


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
