"""What a failure is known by, at another commit or in another run: its tests, or its first error. Pure."""

from __future__ import annotations

import re

from lifecycle.feedback.checks.packet import CheckFailure, without_moments


def identities(failure: CheckFailure) -> tuple[str, ...]:
    """Names of what failed, without the check's; () if no log could be had, so that nobody knows.

    The tests that the log names, else its first error with its numbers left out: those of lines move.
    """
    if failure.tests:
        return tuple(f"test {name}" for name in failure.tests)
    if failure.first_error:
        return (f"error {_without_numbers(failure.first_error)}",)
    if failure.word == "STARTUP_FAILURE" and failure.job is None:
        return (f"start of {failure.workflow or failure.name}",)
    return ()


def trace(failure: CheckFailure) -> tuple[str, ...]:
    """What failed and its first error: another trace shows that something changed."""
    return (*identities(failure), without_moments(failure.first_error))


def shown(identity: str) -> str:
    """An identity as people call it: without the word that says what kind it is."""
    return re.sub(r"^(?:test|error) ", "", identity)


def _without_numbers(line: str) -> str:
    return " ".join(re.sub(r"\b\d+\b", "N", without_moments(line)).split())
