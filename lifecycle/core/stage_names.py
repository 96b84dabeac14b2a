"""The stages of the staged workflow, the markers that end them, and what a look can find.

It is imported even by hooks that turn out to have nothing to do, so it imports nothing but `enum`.
Source: the markers and stages are the workflow's own words; an agent types them.
"""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """The stage that the agent is in."""

    CODING = "CODING"
    REQUIREMENTS_REVIEW = "REQUIREMENTS_REVIEW"
    TESTING = "TESTING"
    ORACLE_REVIEW = "ORACLE_REVIEW"
    COMMIT_CLOSE = "COMMIT_CLOSE"
    NEXT_TASK = "NEXT_TASK"


class Detected(StrEnum):
    """The result of a look at the session: a stage was completed, is under way, or that is unknown."""

    CODING_COMPLETE = "CODING_COMPLETE"
    REQUIREMENTS_REVIEWED = "REQUIREMENTS_REVIEWED"
    TESTS_PASSING = "TESTS_PASSING"
    ORACLE_APPROVED = "ORACLE_APPROVED"
    ISSUE_CLOSED = "ISSUE_CLOSED"
    SESSION_CLEARED = "SESSION_CLEARED"
    IN_PROGRESS = "IN_PROGRESS"
    IN_TESTING = "IN_TESTING"
    IN_ORACLE_REVIEW = "IN_ORACLE_REVIEW"
    UNKNOWN = "UNKNOWN"

    @property
    def is_completion(self) -> bool:
        """True if it is one of the six markers."""
        return self in COMPLETES

    @property
    def is_under_way(self) -> bool:
        """True if the agent is at work and may stop without a word."""
        return self in (Detected.IN_PROGRESS, Detected.IN_TESTING, Detected.IN_ORACLE_REVIEW)


MARKERS: dict[Stage, Detected] = {
    Stage.CODING: Detected.CODING_COMPLETE,
    Stage.REQUIREMENTS_REVIEW: Detected.REQUIREMENTS_REVIEWED,
    Stage.TESTING: Detected.TESTS_PASSING,
    Stage.ORACLE_REVIEW: Detected.ORACLE_APPROVED,
    Stage.COMMIT_CLOSE: Detected.ISSUE_CLOSED,
    Stage.NEXT_TASK: Detected.SESSION_CLEARED,
}
"""The marker that ends each stage, in the order of the whole line."""

COMPLETES: dict[Detected, Stage] = {marker: stage for stage, marker in MARKERS.items()}
"""The stage that each marker ends."""

LINE: tuple[Stage, ...] = tuple(MARKERS)
"""The whole line; a label may have a shorter one."""
