"""What an open pull request goes through: checks, reviews, conflicts; and what of it is worth saying.

Each is said once for what it is about: the head, the review. Checks that still run are silence, and
so are checks that never registered: neither is a pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifecycle import messages
from lifecycle.claim import pace
from lifecycle.claim.seen import Seen
from lifecycle.claim.state import Record
from lifecycle.model import Bucket, Checks, PullRequest
from lifecycle.plan import Say, Tone

NOTHING_YET: dict[str, Any] = {"checks": None, "changes_by": (), "conflicts_with": ""}
"""What is known of a pull request that was just opened or adopted."""

CONFLICTING = "CONFLICTING"

_RESULTS = ("failed", "green")
"""One result of the checks takes the place of the one before it."""

WHILE_OPEN = ("pr", "reopened", "changes", "conflict", *_RESULTS)
"""Events of an open pull request: news of them is none once it was merged or closed."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What to remember, and what to say."""

    memory: dict[str, Any]
    says: tuple[Say, ...]


def judge(seen: Seen, pull: PullRequest) -> Judged:
    """Judge an open pull request as it was just read."""
    is_conflicting = pull.mergeable == CONFLICTING
    memory: dict[str, Any] = {
        "changes_by": tuple(review.author for review in pull.changes_requested),
        "conflicts_with": pull.base if is_conflicting else "",
    }
    says = [
        Say(
            f"changes:{pull.number}:{review.id}",
            messages.changes_requested(pull.number, review.author, review.url),
            Tone.NEWS,
        )
        for review in pull.changes_requested
    ]
    if is_conflicting:
        key = f"conflict:{pull.number}:{pull.head_sha}"
        says.append(Say(key, messages.conflicts(pull.number, pull.base), Tone.NEWS))
    if pull.checks is not None and seen.looked_at_checks:
        is_ready = not says and not pull.is_draft
        found = _checks(seen.record, pull.checks, pull.number, is_ready=is_ready)
        memory |= found.memory
        says += found.says
    return Judged(memory, tuple(says))


def _checks(record: Record, checks: Checks, number: int, *, is_ready: bool) -> Judged:
    durations = pace.learned(record.durations, checks)
    memory: dict[str, Any] = {"checks": _summary(checks, durations), "durations": durations}
    if checks.failed:
        runs = [f"{check.name}@{int(check.started_at or 0)}" for check in checks.failed]
        known = _told(record, checks)
        # A first failure is worth a turn at once; later ones, when no more can follow. Another run of
        # the same check that fails again is another failure.
        is_last = not checks.count(Bucket.PENDING)
        if known and (not is_last or known.issuperset(runs)):
            return Judged(memory, ())
        memory["told"] = {"sha": checks.sha, "failed": sorted({*known, *runs})}
        text = messages.checks_failed(checks, number)
        key = f"failed:{number}:{checks.sha}:{','.join(runs)}"
        return Judged(memory, (Say(key, text, Tone.NEWS, ends=_RESULTS),))
    if checks.is_green:
        text = messages.checks_passed(checks, number, is_ready=is_ready)
        key = f"green:{number}:{checks.sha}"
        return Judged(memory, (Say(key, text, Tone.NEWS, ends=_RESULTS),))
    return Judged(memory, ())


def _told(record: Record, checks: Checks) -> set[str]:
    """The failures of this head that were spoken of."""
    told = record.told or {}
    return set(told.get("failed", ())) if told.get("sha") == checks.sha else set()


def _summary(checks: Checks, durations: dict[str, float]) -> dict[str, Any]:
    return {
        "sha": checks.sha,
        "passed": checks.count(Bucket.PASS),
        "running": checks.count(Bucket.PENDING),
        "failed": [check.name for check in checks.failed],
        "ends_at": pace.ends_at(checks, durations),
    }
