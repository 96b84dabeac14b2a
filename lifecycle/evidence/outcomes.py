"""How a run of a command ended, and what it counted: the values that all modules that judge runs share.

Of the outcomes only PASSED is evidence, and only for exactly the tree that the command ran on.

Imported at stops that are looked at, so this module imports no `typing` and no `dataclasses`.
"""

from __future__ import annotations

from enum import StrEnum

from lifecycle.core.light_dataclass import dataclass


class Outcome(StrEnum):
    """The result of a run."""

    PASSED = "passed"
    """It finished, and did what its kind requires: a test run ran at least one test, and none failed."""
    FAILED = "failed"
    NOTHING_RAN = "nothing_ran"
    """It finished, and its output says that there was nothing to run."""
    PARTIAL = "partial"
    """Only a part ran: filtered, one file, stopped half-way, or ended at its time limit."""
    UNKNOWN = "unknown"
    """Not known: it is running, its output is missing, or no row of the table reads it."""


NOT_INSTALLED = "is not installed"
"""In the reason of a run whose program, or a part of it, is missing: no edit of the code solves that."""


class CallEnd(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    """It failed, was refused or was interrupted."""
    UNKNOWN = "unknown"
    """It runs in the background, or its result is missing."""


WHOLE = 1_000_000
"""Bytes of a run's output that are read, from its end, where a runner prints its summary.

Of a long output, the client's event has only the first characters; the event names a file that has all.
Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.
"""


@dataclass(eq=False)
class Counts:
    """A runner's counts, with its parts added up.

    Attributes:
        passed, failed, skipped, errors: tests with this result; an error is a failure outside an assertion.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    errors: int = 0

    def __add__(self, other: Counts) -> Counts:
        """The sum of these counts and others."""
        names = ("passed", "failed", "skipped", "errors")
        return Counts(*(getattr(self, name) + getattr(other, name) for name in names))

    @property
    def total(self) -> int:
        """The number of all counted tests, including skipped ones."""
        return self.passed + self.failed + self.skipped + self.errors


@dataclass(eq=False)
class Reading:
    """What the output and the exit status of a run show.

    Attributes:
        outcome: the result.
        counts: the counts; None if the output has no numbers.
        failures: identities of the failed tests, in the runner's words and order.
        why: one clause for people if `outcome` alone does not explain it: "it picks single tests".
        asserted: the failures that were failed assertions, not errors or problems before the test began;
            None if that is unknown.
        passed: identities of the tests that passed, if a report names them.
        percent: the coverage that was read; None if there was none.
    """

    outcome: Outcome
    counts: Counts | None = None
    failures: tuple[str, ...] = ()
    why: str = ""
    asserted: tuple[str, ...] | None = None
    passed: tuple[str, ...] = ()
    percent: float | None = None
