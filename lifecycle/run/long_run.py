"""What a run of some length owes (reports, reviews, a sync), what it took, and which cap it reached. Pure.

The caps hold over the whole life of a run. Only a person lets it go on after one; then the same is granted
again, while the counts go on: the receipt shows all.
"""

from __future__ import annotations

from lifecycle.core.values.configured import RunSettings
from lifecycle.run.state import Run, Spent
from lifecycle.run.table import TIERS, RunStatus, RuntimeTier, StoryStatus


def runtime(run: Run, now: float) -> float:
    """Seconds that the run lasts, or lasted; a clock that was set back makes it no shorter than 0."""
    return max(0.0, (run.completed or now) - run.started)


def tier(run: Run, now: float) -> RuntimeTier:
    """The row of the table for a run of this length."""
    return next(row for row in TIERS if runtime(run, now) < row.until)


def report_due(run: Run, now: float) -> bool:
    """True if a progress report is due: so many stories since the last, or so long.

    A run that waits for a person, was stopped, or is over owes none.
    """
    if run.status is not RunStatus.ACTIVE:
        return False
    row = tier(run, now)
    is_long = now - (run.reported_at or run.started) >= row.report_seconds
    return is_long or len(run.completed_stories) - run.reported_stories >= row.report_stories


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


def spent(run: Run, now: float) -> Spent:
    """All that the run took until now, the time in which it waited included."""
    sessions, tokens = {led.session for led in run.led}, sum(led.tokens for led in run.led)
    return Spent(run.iterations, len(sessions), runtime(run, now), tokens)


def exceeded(run: Run, caps: RunSettings, now: float) -> str:
    """The cap that the run has reached, in a clause; "" if none."""
    took, free = spent(run, now), run.forgiven
    rows = (
        # Turns are numbered through, so the cap is told with what was granted.
        ("iterations", took.iterations, free.iterations + caps.max_iterations),
        ("sessions", took.sessions - free.sessions - 1, caps.max_sessions),  # the last one may work
        ("hours", (took.seconds - free.seconds) / 3_600, caps.max_hours),
        ("tokens", took.tokens - free.tokens, caps.max_tokens),
    )
    reached = (f"it reached its cap of {cap:,g} {name}" for name, used, cap in rows if used >= cap)
    return next(reached, "")


def granted(run: Run, now: float) -> Run:
    """The run with all caps granted anew from now on, for a person to say."""
    return run.but(forgiven=spent(run, now))


def with_left(run: Run, caps: RunSettings, iterations: int) -> Run:
    """The run that may go on for so many iterations more."""
    free = run.forgiven.but(iterations=run.iterations - caps.max_iterations + iterations)
    return run.but(forgiven=free)


def waited(run: Run, since: float, now: float) -> Run:
    """The run in whose caps the time since then, in which it waited for a person, does not count."""
    seconds = run.forgiven.seconds + max(0.0, now - since)
    # Who resumed it meanwhile has forgiven a part of that already.
    free = run.forgiven.but(seconds=min(seconds, spent(run, now).seconds))
    return run.but(forgiven=free)
