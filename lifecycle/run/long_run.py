"""What the length of a run asks for: reports, trimming, bringing the state up to date, handing over."""

from __future__ import annotations

from lifecycle.run.state import Run
from lifecycle.run.table import RunStatus, RuntimeTier, StoryStatus, tier_of


def runtime(run: Run, now: float) -> float:
    """Seconds that the run lasts, or lasted; a clock that was set back makes it no shorter than 0."""
    return max(0.0, (run.completed or now) - run.started)


def tier(run: Run, now: float) -> RuntimeTier:
    """The row of the table for a run of this length."""
    return tier_of(runtime(run, now))


def report_due(run: Run, now: float) -> bool:
    """True if a progress report is due: so many stories since the last, or so long.

    A run that waits for a person, was stopped, or is over owes none.
    """
    if run.status is not RunStatus.ACTIVE:
        return False
    row = tier(run, now)
    stories = len(run.completed_stories) - run.reported_stories
    return (
        stories >= row.report_stories
        or now - (run.reported_at or run.started) >= row.report_seconds
    )


def review_due(run: Run, now: float) -> bool:
    """True between two stories where so many are completed that the last checkpoint is worth a look."""
    row, done, story = tier(run, now), len(run.completed_stories), run.current
    is_between = story is None or story.status is StoryStatus.PENDING
    return bool(row.review_stories and done and is_between and done % row.review_stories == 0)


def sync_due(run: Run, written: float, now: float) -> bool:
    """True if the state was not changed for longer than a run of this length may leave it.

    Args:
        run: which; one that does not go on is never due.
        written: when its file was written; 0.0 if nobody knows.
        now: the present.
    """
    limit = tier(run, now).sync_seconds
    return bool(run.status is RunStatus.ACTIVE and limit and written and now - written >= limit)
