"""What is due in a long run (reports, reviews, a sync), what it used, and which cap it reached. Pure.

The caps apply to a run's whole life. After a cap only a person lets it continue; then the same amount is
granted again, while the counts continue: the receipt shows the total.
"""

from __future__ import annotations

from lifecycle.core.values.configured import RunSettings
from lifecycle.run.state import Run, Spent
from lifecycle.run.table import TIERS, RunStatus, RuntimeTier


def runtime(run: Run, now: float) -> float:
    """Seconds that the run has lasted until now or its end; at least 0, even if the clock was set back."""
    return max(0.0, (run.completed or now) - run.started)


def tier(run: Run, now: float) -> RuntimeTier:
    """The row of the table for a run of this length."""
    return next(row for row in TIERS if runtime(run, now) < row.until)


def report_due(run: Run, now: float) -> bool:
    """True if a progress report is due: enough stories, or enough time, since the last one.

    None is due in a run that waits for a person, was stopped, or is over.
    """
    if run.status is not RunStatus.ACTIVE:
        return False
    row = tier(run, now)
    is_long = now - (run.reported_at or run.started) >= row.report_seconds
    return is_long or len(run.completed_stories) - run.reported_stories >= row.report_stories


def review_due(run: Run, now: float) -> bool:
    """True between two stories if enough are completed for a review of the last checkpoint."""
    every, done = tier(run, now).review_stories, len(run.completed_stories)
    return bool(every and done and run.at_work is None and done % every == 0)


def sync_due(run: Run, written: float, now: float) -> bool:
    """True if the state was not changed for longer than the tier of this run allows.

    Args:
        run: the run; for one that is not active, no sync is due.
        written: when its file was written; 0.0 if not known.
        now: the present.
    """
    limit = tier(run, now).sync_seconds
    return bool(run.status is RunStatus.ACTIVE and limit and written and now - written >= limit)


def spent(run: Run, now: float) -> Spent:
    """Everything that the run used until now, including the time in which it waited."""
    sessions, tokens = {led.session for led in run.led}, sum(led.tokens for led in run.led)
    return Spent(run.iterations, len(sessions), runtime(run, now), tokens)


def exceeded(run: Run, caps: RunSettings, now: float) -> str:
    """The cap that the run has reached, as a clause; "" if none."""
    took, free = spent(run, now), run.forgiven
    rows = (
        # Turns are numbered over the whole run, so the cap is shown including what was granted.
        ("iterations", took.iterations, free.iterations + caps.max_iterations),
        ("sessions", took.sessions - free.sessions - 1, caps.max_sessions),  # the last one may work
        ("hours", (took.seconds - free.seconds) / 3_600, caps.max_hours),
        ("tokens", took.tokens - free.tokens, caps.max_tokens),
    )
    reached = (f"it reached its cap of {cap:,g} {name}" for name, used, cap in rows if used >= cap)
    return next(reached, "")


def with_left(run: Run, caps: RunSettings, iterations: int) -> Run:
    """The run, which may continue for this many more iterations."""
    free = run.forgiven.but(iterations=run.iterations - caps.max_iterations + iterations)
    return run.but(forgiven=free)


def waited(run: Run, since: float, now: float) -> Run:
    """The run with the time since then, in which it waited for a person, excluded from its caps."""
    seconds = run.forgiven.seconds + max(0.0, now - since)
    # A person who resumed it meanwhile has excluded a part of that time already.
    return run.but(forgiven=run.forgiven.but(seconds=min(seconds, spent(run, now).seconds)))
