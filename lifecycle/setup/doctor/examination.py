"""Runs the checks of `lifecycle doctor`, family by family; an error in one does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from lifecycle.core.errors import LifecycleError
from lifecycle.core.ports import Clock
from lifecycle.core.timing import DeadlineReached
from lifecycle.core.tracker import GITHUB
from lifecycle.setup.doctor import (
    examine_github,
    examine_hooks,
    examine_installation,
    examine_supplied,
    examine_worktree,
)
from lifecycle.setup.doctor.examined import SECONDS, DoctorFinding, Examined, Level, cause
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.trackers import registry

Check = Callable[[Examined], None]

FAMILIES: tuple[tuple[str, Check, str], ...] = (
    ("versions", examine_installation.check, ""),
    ("command", examine_installation.check_command, ""),
    ("worktree", examine_worktree.check, ""),
    ("settings", examine_worktree.check_settings, ""),
    ("token", examine_github.check_token, ""),
    ("repository", examine_github.check_repository, ""),
    ("board", examine_github.check_board, "settings"),
    ("checks", examine_github.check_checks, ""),
    ("tracker", examine_supplied.check_tracker, "worktree settings"),
    ("hooks", examine_hooks.check, "worktree"),
    ("session", examine_hooks.check_session, ""),
    ("statusline", examine_installation.check_statusline, "worktree"),
    ("stages", examine_supplied.check_stages, "worktree settings"),
    ("run", examine_supplied.check_run, "worktree"),
    ("workflow", examine_supplied.check_workflow, "worktree"),
    ("clock", examine_github.check_clock, ""),
    ("waiter", examine_hooks.check_waiter, "worktree"),
)
"""Every family of checks, in the order of the list, and what it needs: without it the family is skipped.

The family "settings" reports it if they are unusable.
"""

_GITHUBS = ("token", "repository", "board", "checks")
"""Families about GitHub only."""

_UNUSED = "GitHub is not used here: no remote is on GitHub, and another tracker has the tasks."
"""What takes the place of what is wrong with GitHub then."""


def examine(root: Path | None, environment: Mapping[str, str], clock: Clock) -> Examined:
    """Run all checks, and return what they found. Writes only `bin` and `hooks` in the user's own folder.

    Args:
        root: the worktree's root, or None outside of any.
        environment: settings and the token are read from here.
        clock: the clock.
    """
    case = Examined(root, environment, clock)
    try:
        there = {"worktree": case.is_worktree, "settings": case.settings_problem is None}
        for name, check, needs in FAMILIES:
            if all(there[need] for need in needs.split()):
                _look(name, check, case)
        if _is_without_github(case):
            for at, finding in enumerate(case.findings):
                is_about = finding.group in _GITHUBS or finding.name == "worktree.remote"
                if finding.level is not Level.OK and is_about:
                    case.findings[at] = DoctorFinding(finding.name, Level.OK, _UNUSED)
        return case
    finally:
        case.close()


def _is_without_github(case: Examined) -> bool:
    """True if no remote is GitHub's, none is configured, and the tasks are kept elsewhere."""
    if not case.is_worktree or case.base is not None or case.settings.repository is not None:
        return False
    has_tracker = ("tracker.found", Level.OK) in [(each.name, each.level) for each in case.findings]
    # A tracker whose program is missing is a problem; a missing remote or token is not.
    return registry.is_alone(case.world) or (has_tracker and case.world.tracker.name != GITHUB)


def _look(family: str, check: Check, case: Examined) -> None:
    """Add a family's findings; if it raises, also `family.unknown` with the reason."""
    try:
        check(case)
    except DeadlineReached:
        reason = (
            f"The {SECONDS:g} seconds of this examination were up before everything was checked."
        )
    except LifecycleError as error:
        reason = cause(error)
    except StrangeFileError as error:
        examine_worktree.strange(case, error)
        return
    except OSError as error:
        reason = f"{error.filename or 'a file'} cannot be read: {error.strerror or error}."
    else:
        return
    case.findings.append(DoctorFinding(f"{family}.unknown", Level.FAIL, reason))
