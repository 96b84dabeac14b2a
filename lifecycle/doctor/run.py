"""All checks, one family after the other; a family that fails itself does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.doctor import (
    board,
    checks,
    clock,
    command,
    hooks,
    repository,
    session,
    settings,
    stages,
    tasks,
    token,
    versions,
    waiter,
    worktree,
)
from lifecycle.doctor.case import Case
from lifecycle.doctor.finding import Finding, Level, cause, fail
from lifecycle.errors import LifecycleError
from lifecycle.ports import Clock

Check = Callable[[Case], Iterator[Finding]]

FAMILIES: tuple[tuple[str, Check], ...] = (
    ("versions", versions.check),
    ("command", command.check),
    ("worktree", worktree.check),
    ("settings", settings.check),
    ("token", token.check),
    ("repository", repository.check),
    ("board", board.check),
    ("checks", checks.check),
    ("tracker", tasks.check),
    ("hooks", hooks.check),
    ("session", session.check),
    ("stages", stages.check),
    ("clock", clock.check),
    ("waiter", waiter.check),
)
"""Every family of checks, in the order of the list."""


@dataclass(frozen=True, slots=True)
class Report:
    """All findings; `repository` is empty where none is known."""

    findings: tuple[Finding, ...]
    repository: str = ""

    @property
    def is_ok(self) -> bool:
        """True if nothing fails; what is only worth a remark does not count."""
        return not self.of(Level.FAIL)

    def of(self, level: Level) -> tuple[Finding, ...]:
        """The findings of one level."""
        return tuple(finding for finding in self.findings if finding.level is level)

    def as_json(self) -> dict[str, Any]:
        """The report for `--json`."""
        return {"ok": self.is_ok, "findings": [finding.as_json() for finding in self.findings]}


def examine(root: Path | None, environment: Mapping[str, str], clock: Clock) -> Report:
    """Look at everything. Writes nothing but `bin` and `hooks` of the user's own folder.

    Args:
        root: the worktree's root, or None outside of any.
        environment: settings and the token are read from here.
        clock: time.
    """
    case = Case(root, environment, clock)
    try:
        findings = [finding for name, check in FAMILIES for finding in _looked(name, check, case)]
        return Report(tuple(findings), str(case.base or ""))
    finally:
        case.close()


def _looked(name: str, check: Check, case: Case) -> Iterator[Finding]:
    try:
        yield from check(case)
    except LifecycleError as error:
        yield fail(f"{name}.unknown", cause(error))
    except OSError as error:
        what = error.filename or "a file"
        yield fail(f"{name}.unknown", f"{what} cannot be read: {error.strerror or error}.")
