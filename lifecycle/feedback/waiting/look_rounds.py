"""How waiters of one machine and one token share their looks: what is asked next, who looks whole. Pure.

In a round one request asks for the digest of every pull request that somebody waits for. Whose digest is
another than before looks at it whole, and again until it had time to settle: some news needs a minute
until it is any. What a digest does not tell is found by one whole look a round, at the pull request whose
last one is the oldest. So 50 quiet worktrees cost two requests a round.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lifecycle.core.light_dataclass import asdict, dataclass, field, from_json, replace

MOST = 50
"""Pull requests in one request: with what belongs to each a hundred nodes, as many as GitHub takes."""

SETTLES = 90.0
"""Seconds after which a whole look has seen all that a digest's change is the first sign of."""

REFRESH = 1800.0
"""The age of a whole look from which on another is made although no digest changed."""

KEPT = 21_600.0
"""Seconds after the last question about a pull request until it is forgotten: a machine may have slept."""

RETRY = 15.0
"""Seconds after a failed round; twice as many after each further one."""

LONGEST_RETRY = 240.0

RESERVE = 0.1
"""The part of an hour's points that is left to people: at less, waiters wait for the next hour."""

LONGEST_HOLD = 7200.0
"""Seconds of a hold at most; a longer one is passed over: no limit of GitHub's lasts so long."""

OFF = 3600.0
"""Seconds for which a server that does not know the digest is not asked for it."""


@dataclass(frozen=True, slots=True)
class WatchedPull:
    """One pull request that somebody waits for.

    Attributes:
        ids: its node id, and that of the card or issue that belongs to it.
        asked: when a waiter last asked about it.
        looked: when a waiter last looked at it whole.
        digest: what was shown last; "" if that tells nothing, as where parts of it were not shown.
        since: when this digest was shown first.
        at: when it was shown last, 0.0 if never.
        refresh: from when on the last whole look is too old.
    """

    ids: tuple[str, ...]
    asked: float = 0.0
    looked: float = 0.0
    digest: str = ""
    since: float = 0.0
    at: float = 0.0
    refresh: float = 0.0

    def needs_whole(self, looked: float) -> bool:
        """True if somebody who last looked then has to look whole."""
        return not self.digest or looked < self.since + SETTLES or looked < self.refresh

    def is_known(self, looked: float, now: float, every: float) -> bool:
        """True if that can be told without another round: it was shown within one poll, or is settling."""
        return 0 <= now - self.at < (OFF if self.needs_whole(looked) else every)


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """The answer to a waiter's question whether its pull request changed.

    Attributes:
        is_whole: it is to look whole, now.
        again: when it is to ask again, in seconds since the epoch.
        is_same: nothing changed since it looked whole. Neither: nobody may ask now, or somebody does.
        problem: the sentence on why nobody may, "" if there is none.
    """

    is_whole: bool
    again: float
    is_same: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LookBoard:
    """What all waiters of one token know together.

    Attributes:
        pulls: by node id, what is waited for.
        hold: until when nobody asks.
        off: until when nobody shares, since the server cannot be asked for digests.
        size: how many the next request asks for.
        failed: rounds that failed in a row.
        why: the sentence on what the last round failed with, "" if it did not.
    """

    pulls: Mapping[str, WatchedPull] = field(default_factory=dict)
    hold: float = 0.0
    off: float = 0.0
    size: int = MOST
    failed: int = 0
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """The board as plain JSON values, lists and no tuples."""
        kept: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return kept

    def answer(self, key: str, looked: float, now: float, every: float) -> SharedAnswer | None:
        """What the board alone tells who last looked at `looked`; None if GitHub has to be asked."""
        if now < self.off <= now + OFF:
            return SharedAnswer(True, now)
        if now < self.hold <= now + LONGEST_HOLD:
            return SharedAnswer(False, self.hold, problem=self.why)
        pull = self.pulls.get(key)
        if pull is None or not pull.is_known(looked, now, every):
            return None
        is_whole = pull.needs_whole(looked)
        return SharedAnswer(is_whole, pull.at + every, is_same=not is_whole)

    @classmethod
    def from_json(cls, data: object) -> LookBoard:
        """The board that `as_json` gave; raises ValueError for anything else."""
        board: LookBoard | None = from_json(cls, data)
        if board is None or board.as_json() != data or not 0 < board.size <= MOST:
            raise ValueError("these are no shared looks")
        return board


@dataclass(frozen=True, slots=True)
class PointsLeft:
    """What GitHub says of the hour's points; `resets` in seconds since the epoch."""

    limit: int
    left: int
    resets: float


def enlisted(
    board: LookBoard, ids: Sequence[str], now: float, *, looked: float, every: float
) -> LookBoard:
    """Note on the board that somebody asked who last looked at `looked`; the same board if it has that.

    That somebody asks is noted a few times a poll only, so that few write.
    """
    before = board.pulls.get(ids[0]) or WatchedPull(tuple(ids))
    is_noted = before.ids == tuple(ids) and before.looked >= looked
    if is_noted and 0 <= now - before.asked < max(every / 4, 1.0):
        return board
    pull = replace(before, ids=tuple(ids), asked=now, looked=max(before.looked, looked))
    return replace(board, pulls={**board.pulls, ids[0]: pull})


def next_round(board: LookBoard, now: float) -> tuple[str, ...]:
    """What is asked for next, by node id: the longest not shown first, as many as one request takes."""
    live = [key for key, pull in board.pulls.items() if _is_live(pull, now)]
    return tuple(sorted(live, key=lambda key: board.pulls[key].at)[: board.size])


def answered(
    board: LookBoard, digests: Mapping[str, str], now: float, points: PointsLeft | None = None
) -> LookBoard:
    """The board after a round; `digests` has what was asked for, "" for what tells nothing."""
    pulls = {key: pull for key, pull in board.pulls.items() if _is_live(pull, now)}
    for key, digest in digests.items():
        if key in pulls:
            pull = pulls[key]
            since = pull.since if pull.at and digest == pull.digest else now
            pulls[key] = replace(pull, digest=digest, since=since, at=now)
    oldest = min(pulls, key=lambda key: pulls[key].looked, default=None)
    if oldest is not None and now - pulls[oldest].looked > REFRESH:
        pulls[oldest] = replace(pulls[oldest], refresh=now)
    size = min(board.size + 1, MOST)
    after = replace(board, pulls=pulls, size=size, failed=0, why="")
    if points is None:
        return after
    is_short = points.left < points.limit * RESERVE and points.resets > now
    return replace(after, hold=points.resets if is_short else board.hold)


def failed(
    board: LookBoard, count: int, now: float, *, named: float | None, why: str = ""
) -> LookBoard:
    """The board after a round for `count` that got no answer, or not all of one.

    Args:
        board: as it was.
        count: how many were asked for: of several half as many are asked for next.
        now: seconds since the epoch.
        named: how long GitHub wants nobody to ask, if it says so: then the size was not what it minds.
        why: the sentence on it.
    """
    if named is not None:
        return replace(board, hold=max(board.hold, now + named), why=why)
    wait = min(RETRY * 2**board.failed, LONGEST_RETRY)
    size = max(min(count, board.size) // 2, 1)
    hold, times = max(board.hold, now + wait), min(board.failed + 1, 8)
    return replace(board, size=size, failed=times, hold=hold, why=why)


def turned_off(board: LookBoard, now: float) -> LookBoard:
    """The board where the server cannot be asked for digests: each looks for itself for a while."""
    return replace(board, off=now + OFF)


def _is_live(pull: WatchedPull, now: float) -> bool:
    return now - pull.asked < KEPT


def digests_asked(pulls: Iterable[WatchedPull]) -> list[str]:
    """The node ids of one request, each once."""
    return list(dict.fromkeys(node_id for pull in pulls for node_id in pull.ids))
