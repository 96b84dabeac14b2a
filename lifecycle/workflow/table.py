"""The tables of a workflow: status of a phase, legal moves, and the words of both documents for them.

A workflow's own status follows from its phases (`status_of`); nobody sets it. `docs/states.md` is drawn
from these tables, and every refusal names what they allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.machine import Machine


class PhaseStatus(StrEnum):
    """Where one phase of a workflow stands."""

    PENDING = "pending"
    ACTIVE = "active"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


class WorkflowStatus(StrEnum):
    """Where a workflow as a whole stands."""

    PENDING = "pending"
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"


class WorkflowType(StrEnum):
    """What kind of workflow it is; any other template's workflows are CUSTOM."""

    PLANNING = "planning"
    QA_LOOP = "qa-loop"
    IMPLEMENTATION = "implementation"
    CUSTOM = "custom"


PHASES: Final = Machine(
    "phase",
    PhaseStatus.PENDING,
    {
        PhaseStatus.PENDING: {
            PhaseStatus.ACTIVE: "it begins",
            PhaseStatus.BLOCKED: "it waits for something",
            PhaseStatus.SKIPPED: "it is not needed",
        },
        PhaseStatus.ACTIVE: {
            PhaseStatus.COMPLETED: "it is done, and its gate is passed",
            PhaseStatus.BLOCKED: "it waits for something",
            PhaseStatus.FAILED: "it went wrong",
            PhaseStatus.SKIPPED: "it is not needed",
        },
        PhaseStatus.BLOCKED: {
            PhaseStatus.ACTIVE: "it is tried again",
            PhaseStatus.FAILED: "it went wrong",
            PhaseStatus.SKIPPED: "it is not needed",
        },
        PhaseStatus.FAILED: {
            PhaseStatus.ACTIVE: "it is tried again",
            PhaseStatus.SKIPPED: "it is not needed",
        },
        PhaseStatus.SKIPPED: {PhaseStatus.ACTIVE: "it is needed after all"},
        PhaseStatus.COMPLETED: {},
    },
)
"""What a phase may become. The engine's own word for each status; the documents' words are in WORDS."""

COMMANDS: Final[Mapping[PhaseStatus, str]] = {
    PhaseStatus.ACTIVE: "retry",
    PhaseStatus.COMPLETED: "advance",
    PhaseStatus.BLOCKED: "block",
    PhaseStatus.FAILED: "fail",
    PhaseStatus.SKIPPED: "skip",
}
"""The `lifecycle workflow` command by which a phase gets each status."""

OVER: Final = frozenset({PhaseStatus.COMPLETED, PhaseStatus.SKIPPED})
"""A phase in one of these leaves nothing to do, so the next one may begin."""


@dataclass(frozen=True, slots=True)
class StatusWords:
    """A status in the words of the documents.

    Attributes:
        checkpoint: `phase.status` of a checkpoint below `untracked/workflow-state/`.
        document: `phases[].status` of `.claude/state/workflow.json`.
    """

    checkpoint: str
    document: str


WORDS: Final[Mapping[PhaseStatus, StatusWords]] = {
    PhaseStatus.PENDING: StatusWords("not_started", "pending"),
    PhaseStatus.ACTIVE: StatusWords("in_progress", "active"),
    PhaseStatus.BLOCKED: StatusWords("blocked", "active"),
    PhaseStatus.COMPLETED: StatusWords("completed", "completed"),
    PhaseStatus.FAILED: StatusWords("blocked", "failed"),
    PhaseStatus.SKIPPED: StatusWords("completed", "completed"),
}
"""Six statuses, four words in each document. Where two share a word, the word alone is read as
FROM_CHECKPOINT and FROM_DOCUMENT have it; what we wrote beside it (`detail.status`) tells them apart, as
long as the word is still the one that goes with it."""

FROM_CHECKPOINT: Final[Mapping[str, PhaseStatus]] = {
    "not_started": PhaseStatus.PENDING,
    "in_progress": PhaseStatus.ACTIVE,
    "completed": PhaseStatus.COMPLETED,
    "blocked": PhaseStatus.BLOCKED,
}
FROM_DOCUMENT: Final[Mapping[str, PhaseStatus]] = {
    "pending": PhaseStatus.PENDING,
    "active": PhaseStatus.ACTIVE,
    "completed": PhaseStatus.COMPLETED,
    "failed": PhaseStatus.FAILED,
}


def status_of(phases: Iterable[PhaseStatus]) -> WorkflowStatus:
    """The status of a workflow whose phases have these statuses."""
    statuses = set(phases)
    if statuses and statuses <= OVER:
        return WorkflowStatus.COMPLETED
    if PhaseStatus.ACTIVE in statuses or PhaseStatus.BLOCKED in statuses:
        return WorkflowStatus.ACTIVE
    if PhaseStatus.FAILED in statuses:
        return WorkflowStatus.FAILED
    return WorkflowStatus.ACTIVE if statuses & OVER else WorkflowStatus.PENDING
