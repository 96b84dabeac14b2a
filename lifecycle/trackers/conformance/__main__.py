"""`python -m lifecycle.trackers.conformance package.module:function`: the suite, as a table.

Exit code 0 if no check failed, 1 if one did, 2 if the function cannot be imported or opens no ground.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from enum import StrEnum
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from types import ModuleType

from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import short, shown
from lifecycle.trackers.conformance import claiming, read_cases, writing
from lifecycle.trackers.conformance.case import Broken, Check, CheckCase, Factory, Ground, NotHere

_USAGE = "Usage: python -m lifecycle.trackers.conformance package.module:function"


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


def main(arguments: Sequence[str]) -> int:
    """Run the suite on the ground that the one argument names, and print the results."""
    named, count = " ".join(arguments), Counter[CheckOutcome]()
    module, _, name = named.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    with ExitStack() as opened:
        try:
            factory: Factory = getattr(import_module(module), name)
            ground = opened.enter_context(factory())
        except Exception as error:  # noqa: BLE001 -- it is somebody's own: a crash would be a failed check
            why = f"{type(error).__name__}: {error}"
            refusal = f'Nothing was run: "{named}" opens no ground ({why}). {_USAGE}'
            sys.stderr.write(f"{shown(' '.join(refusal.split()))}\n")
            return 2
        width = max(len(check.__name__) for check in CHECKS)
        for result in run(ground):
            count[result.outcome] += 1
            words = short(" ".join(result.words.split()), 600)
            more = f"    {words}\n" if words else ""
            sys.stdout.write(f"{result.check:<{width}}  {result.outcome}\n{more}")
            sys.stdout.flush()
    counts = ", ".join(f"{count[outcome]} {outcome}" for outcome in CheckOutcome)
    sys.stdout.write(f"\n{count.total()} checks: {counts}\n")
    return 1 if count[CheckOutcome.FAILED] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
