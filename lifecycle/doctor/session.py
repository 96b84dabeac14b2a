"""Sessions: how often the client lets a Stop hook continue a turn."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.doctor.case import Case
from lifecycle.doctor.finding import Finding, Step, ok, warn

CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
DEFAULT_CAP = 8
"""Continuations of one turn without a tool call in between, after which the client ends the turn.

Source: https://code.claude.com/docs/en/hooks.
"""


def check(case: Case) -> Iterator[Finding]:
    """The cap, as the environment or a settings file sets it."""
    value, where = _value(case)
    if value is None:
        yield ok(
            "session.cap",
            f"{CAP} is not set; the client's own {DEFAULT_CAP} continuations of a turn are enough.",
        )
        return
    if value.isdecimal() and int(value) >= DEFAULT_CAP:
        yield ok("session.cap", f"{CAP} is {value} ({where}).")
        return
    fix = f"unset {CAP}" if where == "environment" else f"take {CAP} out of {where}"
    yield warn(
        "session.cap",
        f"{CAP} is {value} ({where}), below the client's own {DEFAULT_CAP}: it may end a turn before "
        "the agent has acted on what a hook told it.",
        (Step.PR, Step.CLOSE),
        fix,
    )


def _value(case: Case) -> tuple[str | None, str]:
    for file in reversed(case.client.files):
        if CAP in file.variables:
            return str(file.variables[CAP]), file.shown
    return case.environment.get(CAP), "environment"
