"""Decide when to look at an open pull request again, with few requests. Pure.

The design polls every two minutes. One poll is made earlier if the running checks should end before that,
by the time they took last; and later if GitHub asked us to wait. Nothing here waits for news that only the
agent's next stop can bring.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from lifecycle.claim.decisions.table import IN_REVIEW, PHASES, Phase
from lifecycle.claim.record.state import Record
from lifecycle.core.timing import parse_time
from lifecycle.core.values.checks import Checks

SOONEST = 15.0
"""The least number of seconds between two polls."""

SETTLE = 5.0
"""Seconds after a check's expected end until its result can be read."""

STOP_GRACE = 10.0
"""Seconds that on-stop has for a hand-off or a close before another process handles it."""

NEVER = math.inf
"""The time of a look that never becomes due by itself: only a change of the files causes it."""

_KNOWN_CHECKS = 50

LOOK_AGAIN = 60.0
"""Seconds after a failed look in which nobody looks, unless GitHub says how long."""


def next_poll(record: Record, poll_seconds: float, now: float) -> float:
    """The time from which the checks may be read again; 0.0 if the last poll's time is unusable.

    A time that cannot be read, or lies in the future, must not stop the polling for good.
    """
    last = parse_time(record.claim.last_check_poll)
    if last is None or last > now:
        return 0.0
    moment = last + poll_seconds
    due, ends = record.pull.reviews.get("due"), (record.pull.checks or {}).get("ends_at")
    for sooner, settles in ((due, 0.0), (ends, SETTLE)):
        if isinstance(sooner, int | float) and sooner > last:
            moment = min(moment, max(sooner + settles, last + SOONEST))
    return moment


def held_until(record: Record, poll_seconds: float) -> float:
    """The time until which a failed look delays the next one; 0.0 if none failed.

    A look with a shorter pause between polls (a wait that begins) is delayed for less time, unless GitHub
    named the time: the cause of a refusal may be fixed by now, or the network be back.
    """
    trouble = record.troubles.get("Look")
    if trouble is None:
        return 0.0
    sooner = max(LOOK_AGAIN - poll_seconds, 0.0) if trouble.is_guessed else 0.0
    return trouble.until - sooner


def next_look(
    record: Record, poll_seconds: float, now: float, *, settled: bool, stopped_at: float | None
) -> float | None:
    """The time of a watcher's next look, or None if there is nothing to watch.

    Args:
        record: the claim.
        poll_seconds: the seconds between two polls of the checks.
        now: seconds since the epoch.
        settled: the last look at this version of the claim file left nothing to do.
        stopped_at: when on-stop last ran for this version of the file, or None if it has not.
    """
    phase = PHASES.get(record.claim.phase)
    hold = held_until(record, poll_seconds)
    if phase in IN_REVIEW:
        return max(next_poll(record, poll_seconds, now), hold)
    if phase is Phase.MERGED_DETECTED and record.judged != phase:
        return hold
    if (due := record.due()) is not None:
        return due
    if settled or phase not in (Phase.READY_FOR_PR, Phase.DONE):
        return None
    return NEVER if stopped_at is None else stopped_at + STOP_GRACE


def ends_at(checks: Checks, durations: Mapping[str, float]) -> float | None:
    """The time at which the last running check should end, or None if that is unknown."""
    ends = []
    for run in checks.running:
        if run.started_at is None or run.name not in durations:
            return None
        ends.append(run.started_at + durations[run.name])
    return max(ends, default=None)


def learned(durations: Mapping[str, float], checks: Checks) -> dict[str, float]:
    """The seconds that each check took, by name, updated with the checks that have ended."""
    updated = dict(durations)
    for run in checks.runs:
        if run.started_at is not None and run.ended_at is not None:
            updated.pop(run.name, None)
            updated[run.name] = max(run.ended_at - run.started_at, 0.0)
    return dict(list(updated.items())[-_KNOWN_CHECKS:])
