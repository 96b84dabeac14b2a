"""All checks, and what they come to on one ground."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from inspect import isfunction
from types import ModuleType

from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import dataclass
from lifecycle.trackers.conformance import claiming, read_cases, writing
from lifecycle.trackers.conformance.case import Broken, Check, CheckCase, Ground, NotHere


def checks_of(module: ModuleType) -> tuple[Check, ...]:
    """The checks of a module, in their order: its own functions whose names have no underscore in front."""
    own = (value for name, value in vars(module).items() if not name.startswith("_"))
    return tuple(v for v in own if isfunction(v) and v.__module__ == module.__name__)


CHECKS = (*checks_of(read_cases), *checks_of(writing), *checks_of(claiming))
"""Each is a rule: its name says it, its docstring explains it."""


class CheckOutcome(StrEnum):
    """What a check came to."""

    PASSED = "passed"
    FAILED = "FAILED"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Result:
    """One check's outcome; `words` says what is wrong, or why it was skipped."""

    check: str
    outcome: CheckOutcome
    words: str = ""


def run(ground: Ground, checks: Iterable[Check] = CHECKS) -> Iterator[Result]:
    """Run checks one after the other, each with tasks of its own; none ends the run."""
    for check in checks:
        yield run_one(ground, check)


def run_one(ground: Ground, check: Check) -> Result:
    """Run one check. Whatever the tracker raises that the check did not ask for is a failure."""
    name = check.__name__
    try:
        check(CheckCase(ground))
    except NotHere as reason:
        return Result(name, CheckOutcome.SKIPPED, str(reason))
    except Broken as broken:
        return Result(name, CheckOutcome.FAILED, str(broken))
    except LifecycleError as error:
        return Result(name, CheckOutcome.FAILED, f"{type(error).__name__}: {error.sentence}")
    except Exception as error:  # noqa: BLE001 -- a tracker that is not ours may raise anything
        words = f"{type(error).__name__}, which is none of the three kinds of errors: {error}"
        return Result(name, CheckOutcome.FAILED, words)
    return Result(name, CheckOutcome.PASSED)
