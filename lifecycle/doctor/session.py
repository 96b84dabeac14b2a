"""Sessions: how often the client lets a Stop hook continue a turn."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.doctor.case import Case
from lifecycle.doctor.finding import Finding, Step, ok, warn
from lifecycle.install.table import CAP, DEFAULT_CAP


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


def cap_of(case: Case) -> tuple[int, str]:
    """The cap that counts, and what sets it; "" where nothing does, or sets it to what is no number."""
    value, where = _value(case)
    if value is not None and value.isdecimal():
        return int(value), where
    return DEFAULT_CAP, ""


def _value(case: Case) -> tuple[str | None, str]:
    for file in reversed(case.client.files):
        if CAP in file.variables:
            return str(file.variables[CAP]), file.shown
    return case.environment.get(CAP), "environment"
