"""A worktree's checks: their commands, where they are configured, and whether they may run.

For each name the first source counts: `checks.commands`, then the commands of `validate` of this kind, then
`stages.test` for the tests, then the project's platform. The check `validate` runs all of its commands.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lifecycle.core.errors import Refused, did_you_mean
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import visible
from lifecycle.core.values.configured import Settings
from lifecycle.evidence.records import COVERAGE, KINDS, TEST
from lifecycle.evidence.runners import runner_table
from lifecycle.platforms.command_argv import Argv, commands_in, split
from lifecycle.settings import resources, user_folder
from lifecycle.settings.config import CONFIG_FILE
from lifecycle.storage import store

if TYPE_CHECKING:
    from lifecycle.platforms.platform_file import CoverageSource

sentence: Final = resources.Sentences("evidence/checks/sentences.toml")

Environment = Mapping[str, str]
"""The variables of the environment: they name the home folder."""

VALIDATE = "validate"
COMMAND = "lifecycle check"


@dataclass(frozen=True, slots=True)
class KnownCheck:
    """A check of a worktree.

    Attributes:
        name: for instance `test`.
        commands: the commands, one after another; () if the check cannot be run.
        origin: where the commands come from, for people.
        is_projects: the commands come with the repository, so they need the user's yes.
        problem: why the check cannot be run, and the fix, as half a sentence; "" if it can.
        coverage: how the platform reads the percentage; None if it does not say.
    """

    name: str
    commands: tuple[Argv, ...]
    origin: str
    is_projects: bool
    problem: str = ""
    coverage: CoverageSource | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """The commands as a person types them."""
        return tuple(shlex.join(words) for words in self.commands)


def known_checks(root: Path, settings: Settings, environment: Environment) -> list[KnownCheck]:
    """Every check that a worktree has, each name once; those with the names of kinds come first."""
    from lifecycle.platforms import selection

    checks = _configured(settings)
    platform = selection.detect(root, environment).selected
    if platform is not None:
        origin = f"platform {platform.about.name} ({platform.place})"
        for name, argvs in platform.commands.items():
            source = platform.about.coverage if name == COVERAGE else None
            check = KnownCheck(name, argvs, origin, platform.place.needs_trust, coverage=source)
            checks.setdefault(name, check)
    order = [*(name for name in KINDS if name in checks), *checks]
    return [checks[name] for name in dict.fromkeys(order)]


def known_check(
    name: str, root: Path, settings: Settings, environment: Environment
) -> KnownCheck | None:
    """The check of this name; None if there is none. Platforms are looked for only if needed."""
    return _configured(settings).get(name) or next(
        (check for check in known_checks(root, settings, environment) if check.name == name), None
    )


def demanded(name: str, root: Path, settings: Settings, environment: Environment) -> KnownCheck:
    """The check of this name, if it can and may be run.

    Raises:
        Refused: it does not exist, cannot be run, or the user has not said yes to it.
        BadConfig: the user's list of what may run cannot be read.
    """
    check = known_check(name, root, settings, environment)
    if check is None:
        names = [known.name for known in known_checks(root, settings, environment)]
        there = f"; there are: {', '.join(names)}" if names else ""
        words = {"name": visible(name), "file": CONFIG_FILE, "near": did_you_mean(name, names)}
        raise Refused(sentence("no-check", there=there, **words))
    if check.problem:
        raise Refused(sentence("broken-check", check=check))
    if not may_run(check, store.clone_of(root), environment):
        shown = ", ".join(f"`{visible(line)}`" for line in check.lines)
        raise Refused(sentence("untrusted-check", check=check, shown=shown))
    return check


def command_of(name: str, root: Path, settings: Settings, environment: Environment) -> str:
    """The command line that runs the check of this name; "" if there is none, or it cannot be run."""
    check = known_check(name, root, settings, environment)
    return f"{COMMAND} {name}" if check is not None and check.commands else ""


def may_run(check: KnownCheck, clone: Path, environment: Environment) -> bool:
    """True unless the commands come with the repository and the user has not said yes to all of them.

    A yes to a command of `validate` is also a yes to the same command here.

    Args:
        check: the check.
        clone: the path that a yes is for, from `store.clone_of`.
        environment: the variables.

    Raises:
        BadConfig: the user's list of what may run cannot be read.
    """
    if not check.is_projects:
        return True
    yes = user_folder.allowed(environment, clone, "commands", "checks")
    return {*check.lines} <= {line for text in yes for line in _plain(text)}


def wanting_trust(root: Path, settings: Settings, environment: Environment) -> list[KnownCheck]:
    """The checks that come with the repository and can be run, to ask the user about; no `validate`."""
    checks = (check for check in known_checks(root, settings, environment) if check.commands)
    return [check for check in checks if check.is_projects and check.name != VALIDATE]


def _configured(settings: Settings) -> dict[str, KnownCheck]:
    """The checks in the project's settings, by name; the first source that has a name counts."""
    sources: tuple[tuple[str, str, tuple[object, ...]], ...] = (
        *((name, "checks.commands", (value,)) for name, value in settings.check_commands.items()),
        (TEST, "validate", _of_tests(settings) if settings.validate else ()),
        (TEST, "stages.test", settings.stages.test),
        (VALIDATE, "validate", settings.validate),
    )
    checks: dict[str, KnownCheck] = {}
    for name, key, values in sources:
        if values and name not in checks:
            checks[name] = _made(name, f"{key} in {CONFIG_FILE}", values)
    return checks


def _made(name: str, origin: str, values: tuple[object, ...]) -> KnownCheck:
    try:
        commands = tuple(words for value in values for words in commands_in(value))
    except ValueError as error:
        fix = f"{error} as {name} below [checks.commands] in {CONFIG_FILE}"
        return KnownCheck(name, (), origin, is_projects=True, problem=fix)
    return KnownCheck(name, commands, origin, is_projects=True)


def _of_tests(settings: Settings) -> tuple[str, ...]:
    """The commands of `validate` that run the tests."""
    from lifecycle.evidence import suite_runs

    tests, rows = settings.stages.test, runner_table.rows(settings.evidence_runners)
    runs = {line: suite_runs.run_in(line, tests, rows) for line in settings.validate}
    return tuple(line for line, run in runs.items() if run is not None and run.is_suite)


def _plain(text: str) -> tuple[str, ...]:
    """The words of an allowed command line; none if only a shell can run it."""
    try:
        return (shlex.join(split(text)),)
    except ValueError:
        return ()
