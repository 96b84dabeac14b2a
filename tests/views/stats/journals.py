"""Journals as the staged workflow and the claim system write them."""

from __future__ import annotations

from typing import Any

from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry

NOW = 1_795_000_000.0
MINUTE, HOUR = 60.0, 3_600.0


def moved(minute: float, source: str, target: str, task: str = "#42", **more: Any) -> JournalEntry:
    """A step from one stage to another, so many minutes after NOW."""
    values: dict[str, Any] = {"session": "s", "actor": "octocat-1", **more}
    at = NOW + minute * MINUTE
    return JournalEntry(
        at, journal.STAGES, journal.TRANSITION, task, source=source, target=target, **values
    )


def phase(minute: float, source: str, target: str, task: str = "#42", **more: Any) -> JournalEntry:
    """A step of a claim."""
    values: dict[str, Any] = {"actor": "octocat-1", **more}
    at = NOW + minute * MINUTE
    return JournalEntry(
        at, journal.CLAIM, journal.TRANSITION, task, source=source, target=target, **values
    )


def refused(minute: float, source: str, target: str, task: str = "#42") -> JournalEntry:
    """A report that did not count."""
    at = NOW + minute * MINUTE
    return JournalEntry(
        at, journal.STAGES, journal.REFUSED, task, session="s", source=source, target=target
    )


def checked(minute: float, outcome: str, source: str = "TESTING", task: str = "") -> JournalEntry:
    """A run of the tests, as the hook behind a tool notes it: it may not know the task."""
    at = NOW + minute * MINUTE
    detail = {"outcome": outcome}
    return JournalEntry(
        at, journal.STAGES, journal.CHECK, task, session="s", source=source, detail=detail
    )


def blocked(minute: float, task: str = "#42") -> JournalEntry:
    """A sign of life: the agent was told something."""
    return JournalEntry(NOW + minute * MINUTE, journal.STAGES, journal.BLOCK, task, session="s")


WHOLE = (
    moved(0, "", "CODING", detail={"labels": ["auto-workflow"], "title": "Fix the race"}),
    moved(30, "CODING", "REQUIREMENTS_REVIEW"),
    moved(35, "REQUIREMENTS_REVIEW", "TESTING"),
    moved(45, "TESTING", "ORACLE_REVIEW"),
    moved(60, "ORACLE_REVIEW", "COMMIT_CLOSE"),
    moved(62, "COMMIT_CLOSE", "NEXT_TASK"),
    moved(63, "NEXT_TASK", "CODING", "#43"),
)
"""One task through all stages, and the next one begun."""

CLAIMED = (
    phase(0, "", "coding"),
    phase(50, "coding", "ready_for_pr"),
    phase(51, "ready_for_pr", "pr_created"),
    phase(53, "pr_created", "checks_running"),
    phase(953, "checks_running", "merged_detected"),
    phase(960, "merged_detected", "done"),
    phase(961, "done", journal.CLOSED),
)
"""A claim from its file to the closed issue, with a night in which the pull request waited."""
