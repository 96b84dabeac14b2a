"""What a run cost: sessions, iterations, time, and tokens where a client tells them."""

from __future__ import annotations

from typing import Any

from lifecycle.run.long_run import runtime
from lifecycle.run.state import Run


def spelled(seconds: float) -> str:
    """A duration for people: "45s", "12m 05s", "3h 07m"."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3_600}h {whole % 3_600 // 60:02}m"


def receipt_data(run: Run, now: float) -> dict[str, Any]:
    """The receipt's numbers; `tokens` is None if no transcript told any."""
    return {
        "runtime_seconds": int(runtime(run, now)),
        "sessions": len({led.session for led in run.led}),
        "iterations": run.iterations,
        "story_iterations": sum(story.iteration for story in run.stories),
        "tokens": sum(led.tokens for led in run.led) or None,
    }


def receipt_line(run: Run, now: float) -> str:
    """The receipt in one line."""
    data = receipt_data(run, now)
    tokens = f"{data['tokens']:,} tokens" if data["tokens"] else "tokens not told"
    sessions = "1 session" if data["sessions"] == 1 else f"{data['sessions']} sessions"
    return (
        f"{sessions}, {data['iterations']} iterations, {spelled(data['runtime_seconds'])}, {tokens}"
    )
