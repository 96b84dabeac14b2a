"""How waiters of one machine and token share looks: what is asked next, who needs a whole look. Pure.

In a round, one request asks for the digest of every pull request that somebody waits for. If a digest
changed, that pull request's waiter makes a whole look, and more until the change had time to settle, as
some news takes a minute. News that does not change a digest is found by one whole look in each round, at
the pull request whose last one is the oldest. So 50 quiet worktrees cost two requests a round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.timing import parse_time

MOST = 50
"""Pull requests in one request: each with its card or issue, a hundred nodes, GitHub's maximum."""

SETTLES = 90.0
"""Seconds after which a whole look has seen everything that a changed digest announced."""

REFRESH = 1800.0
"""The age of a whole look, in seconds, at which another one is due although no digest changed."""

KEPT = 21_600.0
"""Seconds after which a pull request that nobody asks about is forgotten: a machine may have slept."""

RETRY = 15.0
"""Seconds to wait after a failed round, doubled after each further one."""

LONGEST_RETRY = 240.0

RESERVE = 0.1
"""The part of an hour's points that is left to people: below it, waiters wait for the next hour."""

LONGEST_HOLD = 7200.0
"""The most seconds of a hold; a longer one is ignored: no limit of GitHub lasts so long."""

OFF = 3600.0
"""Seconds for which a server that does not know the digest is not asked for it."""


@dataclass(frozen=True, slots=True)
class WatchedPull:
    """One pull request that somebody waits for.

    Attributes:
        ids: its node id, and that of its card or issue.
        asked: when a waiter last asked about it.
        looked: when a waiter last made a whole look at it.
        digest: of the last answer; "" if it cannot be used, as when GitHub left out a part.
        since: when this digest was first seen.
        at: when it was last seen, 0.0 if never.
        refresh: when the last whole look becomes too old.
    """

    ids: tuple[str, ...]
    asked: float = 0.0
    looked: float = 0.0
    digest: str = ""
    since: float = 0.0
    at: float = 0.0
    refresh: float = 0.0


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """The answer to a waiter's question whether its pull request changed.

    Attributes:
        is_whole: it has to make a whole look now.
        again: when it has to ask again, in seconds since the epoch.
        is_same: nothing changed since its whole look. If neither: asking is not allowed now, or under way.
        problem: the sentence on why nobody may ask, "" if there is none.
    """

    is_whole: bool
    again: float
    is_same: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LookBoard:
    """The shared knowledge of all waiters of one token.

    Attributes:
        pulls: what is waited for, by node id.
        hold: until when nobody asks.
        off: until when nothing is shared, because the server cannot be asked for digests.
        size: how many the next request asks for.
        failed: rounds that failed in a row.
        why: the sentence on how the last round failed, "" if it did not.
    """

    pulls: Mapping[str, WatchedPull] = field(default_factory=dict)
    hold: float = 0.0
    off: float = 0.0
    size: int = MOST
    failed: int = 0
    why: str = ""

    def answer(self, key: str, looked: float, now: float, every: float) -> SharedAnswer | None:
        """The board's answer for a last whole look at `looked`; None if GitHub has to be asked."""
        if now < self.off <= now + OFF:
            return SharedAnswer(True, now)
        if now < self.hold <= now + LONGEST_HOLD:
            return SharedAnswer(False, self.hold, problem=self.why)
        pull = self.pulls.get(key)
        if pull is None:
            return None
        is_whole = not pull.digest or looked < max(pull.since + SETTLES, pull.refresh)
        # Known without another round: it was seen within one poll, or is settling.
        is_known = 0 <= now - pull.at < (OFF if is_whole else every)
        return SharedAnswer(is_whole, pull.at + every, is_same=not is_whole) if is_known else None


def enlisted(
    board: LookBoard, ids: Sequence[str], now: float, *, looked: float, every: float
) -> LookBoard:
    """Note that a waiter asked whose last whole look was at `looked`; the same board if that is noted.

    The time of the question is noted only a few times in each poll, so that there are few writes.
    """
    before = board.pulls.get(ids[0]) or WatchedPull(tuple(ids))
    is_noted = before.ids == tuple(ids) and before.looked >= looked
    if is_noted and 0 <= now - before.asked < max(every / 4, 1.0):
        return board
    pull = replace(before, ids=tuple(ids), asked=now, looked=max(before.looked, looked))
    return replace(board, pulls={**board.pulls, ids[0]: pull})


def next_round(board: LookBoard, now: float) -> list[WatchedPull]:
    """What the next request asks for: those not seen for longest first, as many as fit."""
    live = (pull for pull in board.pulls.values() if _is_live(pull, now))
    return sorted(live, key=lambda pull: pull.at)[: board.size]


def answered(board: LookBoard, digests: Mapping[str, str], now: float, rate: object) -> LookBoard:
    """The board after a round.

    Args:
        board: the board before the round.
        digests: all that were asked for, "" for unusable ones.
        now: seconds since the epoch.
        rate: GitHub's `rateLimit`, as far as it was shown; None if it was not.
    """
    pulls = {key: pull for key, pull in board.pulls.items() if _is_live(pull, now)}
    for key, digest in digests.items():
        if key in pulls:
            pull = pulls[key]
            since = pull.since if pull.at and digest == pull.digest else now
            pulls[key] = replace(pull, digest=digest, since=since, at=now)
    oldest = min(pulls, key=lambda key: pulls[key].looked, default=None)
    if oldest is not None and now - pulls[oldest].looked > REFRESH:
        pulls[oldest] = replace(pulls[oldest], refresh=now)
    size, hold = min(board.size + 1, MOST), _reserved(rate, now) or board.hold
    return replace(board, pulls=pulls, size=size, hold=hold, failed=0, why="")


def _reserved(rate: object, now: float) -> float:
    """Until when the rest of the hour's points is left to people; 0.0 if enough are left, or not known."""
    if not isinstance(rate, Mapping):
        return 0.0
    limit, left, resets = rate.get("limit"), rate.get("remaining"), parse_time(rate.get("resetAt"))
    is_short = isinstance(limit, int) and isinstance(left, int) and left < limit * RESERVE
    return resets if is_short and resets is not None and resets > now else 0.0


def failed(board: LookBoard, count: int, now: float, *, named: float | None, why: str) -> LookBoard:
    """The board after a round with no answer, or only a part of one.

    Args:
        board: the board before the round.
        count: how many were asked for; if several, the next request asks for half as many.
        now: seconds since the epoch.
        named: seconds that GitHub demands before the next request, if it does; then the size is kept.
        why: the sentence on the failure.
    """
    if named is not None:
        return replace(board, hold=max(board.hold, now + named), why=why)
    wait = min(RETRY * 2**board.failed, LONGEST_RETRY)
    size = max(min(count, board.size) // 2, 1)
    hold, times = max(board.hold, now + wait), min(board.failed + 1, 8)
    return replace(board, size=size, failed=times, hold=hold, why=why)


def _is_live(pull: WatchedPull, now: float) -> bool:
    return now - pull.asked < KEPT
