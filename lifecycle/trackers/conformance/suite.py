"""All checks, and their results on one ground."""

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
    """A module's checks in their order: its own functions whose names begin without an underscore."""
    own = (value for name, value in vars(module).items() if not name.startswith("_"))
    return tuple(v for v in own if isfunction(v) and v.__module__ == module.__name__)


CHECKS = (*checks_of(read_cases), *checks_of(writing), *checks_of(claiming))
"""Each is a rule: its name states it, its docstring explains it."""


class CheckOutcome(StrEnum):
    """The result of a check."""

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
    """Run checks one after the other, each with its own tasks; a failure does not end the run.

    An error of the tracker that a check does not expect is a failure.
    """
    for check in checks:
        outcome, words = CheckOutcome.FAILED, ""
        try:
            check(CheckCase(ground))
            outcome = CheckOutcome.PASSED
        except NotHere as reason:
            outcome, words = CheckOutcome.SKIPPED, str(reason)
        except Broken as broken:
            words = str(broken)
        except LifecycleError as error:
            words = f"{type(error).__name__}: {error.sentence}"
        except Exception as error:  # noqa: BLE001 -- a tracker that is not ours may raise anything
            words = f"{type(error).__name__}, which is none of the three kinds of errors: {error}"
        yield Result(check.__name__, outcome, words)
