"""Whether a story is tried again, after what time, or given to a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifecycle.run.state import Failure, Story
from lifecycle.run.table import BACKOFF_LIMIT, MAX_RETRIES, RETRY, FailureCategory, StoryStatus
from lifecycle.run.trouble.story_failures import is_same, recent

EXTERNAL = "External service failures"
"""Why nothing is tried again where only a person can help, in the design's words."""


@dataclass(frozen=True, slots=True)
class RetryAdvice:
    """What to do after a failure.

    Attributes:
        backoff: seconds to wait before it is tried again.
        reason: why it is not; "" if it is.
    """

    backoff: int = 0
    reason: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """The design's JSON."""
        if self.reason:
            return {"should_retry": False, "escalate": True, "reason": self.reason}
        return {"should_retry": True, "backoff_seconds": self.backoff}


def backoff(category: FailureCategory, count: int) -> int:
    """Seconds to wait after so many failures of this category: each waits twice as long."""
    policy = RETRY[category]
    if not policy.backoff or count < 1:
        return 0
    doubled: int = policy.backoff << min(count - 1, 32)
    return min(doubled, BACKOFF_LIMIT)


def advice(story: Story, tree: str = "") -> RetryAdvice:
    """What to do after the story's last failures.

    Args:
        story: with its failures.
        tree: the tree as it is now; "" if nobody knows.
    """
    failures = recent(story)
    count = failures[-1].iteration - story.retries_from if failures else 0
    if count >= MAX_RETRIES:
        return RetryAdvice(reason=f"MAX_RETRIES reached: {count} iterations failed")
    if story.status is StoryStatus.BLOCKED:
        return RetryAdvice(reason=f"{story.id} is blocked, and a person is needed")
    if not failures:
        return RetryAdvice()
    last = [one for one in failures if one.iteration == failures[-1].iteration]
    if any(RETRY[one.category].escalates for one in last):
        return RetryAdvice(reason=EXTERNAL)
    stuck = _stuck(failures, tree)
    if stuck:
        return RetryAdvice(reason=stuck)
    counts = {kind: sum(one.category is kind for one in failures) for kind in FailureCategory}
    return RetryAdvice(max(backoff(one.category, counts[one.category]) for one in last))


def _stuck(failures: tuple[Failure, ...], tree: str) -> str:
    """Why nothing moves any more; "" if something does.

    Where waiting is the remedy, nothing does once the longest wait did not help.
    """
    last = failures[-1]
    if tree not in ("", last.tree):
        return ""
    same = [one for one in failures if is_same(one, last)]
    before = len(same) - 1
    if before < 1 or backoff(last.category, before) not in (0, BACKOFF_LIMIT):
        return ""
    times = "twice" if before == 1 else f"{before + 1} times"
    return f"Stuck: the same failure came {times} on an unchanged tree: {last.text[:200]}"
