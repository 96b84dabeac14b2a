"""Sessions: whether their hooks were seen at work, and how often a Stop hook may continue a turn."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.settings.running_client import session_of
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, ok, warn
from lifecycle.setup.doctor.examined import Examined
from lifecycle.setup.init.hook_table import CAP, DEFAULT_CAP
from lifecycle.storage import signs_of_life


def check(case: Examined) -> Iterator[DoctorFinding]:
    """Whether its hooks were seen at work, and the cap, as the environment or a settings file sets it."""
    yield from _seen(case)
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
        (FixStep.PR, FixStep.CLOSE),
        fix,
    )


def cap_of(case: Examined) -> tuple[int, str]:
    """The cap that counts, and what sets it; "" where nothing does, or sets it to what is no number."""
    value, where = _value(case)
    if value is not None and value.isdecimal():
        return int(value), where
    return DEFAULT_CAP, ""


def _value(case: Examined) -> tuple[str | None, str]:
    for file in reversed(case.client.files):
        if CAP in file.variables:
            return str(file.variables[CAP]), file.shown
    return case.environment.get(CAP), "environment"


def _seen(case: Examined) -> Iterator[DoctorFinding]:
    """What settings say is one thing, and what the client does with them another."""
    session = session_of({}, case.environment)
    if not case.is_worktree or not session:
        return
    if signs_of_life.has_met(case.claim_store.folder, session):
        yield ok("session.hooks", "Hooks of this session have been seen at work here.")
        return
    yield warn(
        "session.hooks",
        "No hook of this session has been seen at work here. The client reads .claude/settings.json only "
        "in the folder in which it was started, hooks that were wired or a plugin that was installed may "
        "want a new session, and another client than Claude Code is not served.",
        (FixStep.PR, FixStep.CI, FixStep.MERGE, FixStep.WAKE, FixStep.CLOSE),
        "start Claude Code at the top of the repository, or install the plugin",
    )
