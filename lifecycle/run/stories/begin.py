"""The beginning of a run."""

from __future__ import annotations

import secrets
from typing import Any

from lifecycle.core.redact import redact, visible
from lifecycle.run.state import Run
from lifecycle.run.texts.told import LONG, refused


def new_run(goal: str, now: float, **about: Any) -> Run:
    """A run with this goal, from its first phase on; the design's leading "Goal:" is no part of it.

    Args:
        goal: what is wanted, in a person's words.
        now: the present, in seconds since the epoch.
        about: more of its fields: autonomous, clarifications, branch, base.

    Raises:
        Refused: the goal is empty, or far too long.
    """
    words = goal.strip()
    if words[:5].casefold() == "goal:":
        words = words[5:].strip()
    if not words:
        raise refused("no-goal")
    if len(words) > LONG:
        raise refused("long-goal", length=len(words), long=LONG)
    lines = (visible(line).rstrip() for line in redact(words).splitlines())
    return Run(secrets.token_hex(4), "\n".join(lines), now, **about)
