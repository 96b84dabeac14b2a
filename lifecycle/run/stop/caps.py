"""How much a run took, and what is too much. Pure.

The caps hold over the whole life of a run. Only a person lets it go on after one; then the same is granted
again, while the counts go on: the receipt shows all.
"""

from __future__ import annotations

from lifecycle.core.values.configured import RunSettings
from lifecycle.run.long_run import runtime
from lifecycle.run.state import Run, Spent


def spent(run: Run, now: float) -> Spent:
    """All that the run took until now, the time in which it waited included."""
    return Spent(
        run.iterations,
        len({led.session for led in run.led}),
        runtime(run, now),
        sum(led.tokens for led in run.led),
    )


def exceeded(run: Run, caps: RunSettings, now: float) -> str:
    """The cap that the run has reached, in a clause; "" if none."""
    took, free = spent(run, now), run.forgiven
    rows = (
        (
            took.iterations - free.iterations >= caps.max_iterations,
            caps.max_iterations,
            "iterations",
        ),
        (took.sessions - free.sessions > caps.max_sessions, caps.max_sessions, "sessions"),
        (took.seconds - free.seconds >= caps.max_hours * 3_600, caps.max_hours, "hours"),
        (took.tokens - free.tokens >= caps.max_tokens, caps.max_tokens, "tokens"),
    )
    return next((f"it reached its cap of {cap:,g} {name}" for over, cap, name in rows if over), "")


def granted(run: Run, now: float) -> Run:
    """The run with as much before it as at its beginning; for a person to say."""
    return run.but(forgiven=spent(run, now))


def with_left(run: Run, caps: RunSettings, iterations: int) -> Run:
    """The run with so many iterations before it."""
    free = run.forgiven.but(iterations=run.iterations - caps.max_iterations + iterations)
    return run.but(forgiven=free)


def waited(run: Run, since: float, now: float) -> Run:
    """The run without the time since then, in which it waited for a person."""
    seconds = run.forgiven.seconds + max(0.0, now - since)
    # Who resumed it meanwhile has forgiven a part of that already.
    free = run.forgiven.but(seconds=min(seconds, spent(run, now).seconds))
    return run.but(forgiven=free)
