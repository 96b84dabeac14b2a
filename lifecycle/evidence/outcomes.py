"""How a run of a command ended, and what it counted: the values that everything which judges runs shares.

Of the five outcomes only PASSED is evidence, and only for the very tree that the command ran on.

Imported at stops that are looked at, so it imports no `typing` and no `dataclasses`.
"""

from __future__ import annotations

from enum import StrEnum

from lifecycle.core.light_dataclass import dataclass


class Outcome(StrEnum):
    """What a run came to."""

    PASSED = "passed"
    """It finished, and did what its kind demands: a test run ran at least one test, and none failed."""
    FAILED = "failed"
    NOTHING_RAN = "nothing_ran"
    """It finished, and says itself that there was nothing to run."""
    PARTIAL = "partial"
    """A part only: filtered, one file, stopped half-way, or ended at its time limit."""
    UNKNOWN = "unknown"
    """Nobody can say: it is running, its output is missing, or no row of the table reads it."""


NOT_INSTALLED = "is not installed"
"""In the reason of a run whose program, or a part of it, is not there: no edit of the code mends that."""


class CallEnd(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    """It failed, was refused or was interrupted."""
    UNKNOWN = "unknown"
    """It runs in the background, or its result is not there."""


WHOLE = 1_000_000
"""Bytes of a run's output that are read, from its end: what a run says of itself stands there.

Of much output an event of the client's has the first characters only; all of it is in a file that the event
names. Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.
"""


@dataclass(eq=False)
class Counts:
    """What a runner counted, its parts added up.

    Attributes:
        passed, failed, skipped, errors: tests that ended so; an error is one outside of an assertion.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    errors: int = 0

    def with_(self, other: Counts) -> Counts:
        """These counts and others, added up."""
        names = ("passed", "failed", "skipped", "errors")
        return Counts(*(getattr(self, name) + getattr(other, name) for name in names))

    @property
    def total(self) -> int:
        """All tests that were counted, those that were skipped included."""
        return self.passed + self.failed + self.skipped + self.errors


@dataclass(eq=False)
class Reading:
    """What the output and the exit status of a run say of it.

    Attributes:
        outcome: what it came to.
        counts: what it counted; None where it says no numbers.
        failures: identities of the tests that failed, as the runner names them, in its order.
        why: one clause for people where `outcome` alone does not tell it: "it picks single tests".
        asserted: those of `failures` that failed by their assertion, and not by an error or before they
            began; None where nobody can tell.
        passed: identities of the tests that passed, where a report names them.
        percent: the coverage that was read; None if none was.
    """

    outcome: Outcome
    counts: Counts | None = None
    failures: tuple[str, ...] = ()
    why: str = ""
    asserted: tuple[str, ...] | None = None
    passed: tuple[str, ...] = ()
    percent: float | None = None
