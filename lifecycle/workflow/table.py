"""The tables of a workflow: status of a phase, legal moves, the words of both documents, and sentences.

Their rows are in `tables.toml`. A workflow's own status follows from its phases (`Workflow.status`) and is
never set. `docs/states.md` is made from these tables, and every refusal names what they allow.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from msgspec import convert

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.machine import Machine
from lifecycle.settings import resources


class PhaseStatus(StrEnum):
    """The status of one phase of a workflow."""

    PENDING = "pending"
    ACTIVE = "active"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


class WorkflowStatus(StrEnum):
    """The status of a workflow as a whole."""

    PENDING = "pending"
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"


class WorkflowType(StrEnum):
    """The kind of a workflow; workflows from any other template are CUSTOM."""

    PLANNING = "planning"
    QA_LOOP = "qa-loop"
    IMPLEMENTATION = "implementation"
    CUSTOM = "custom"


OVER: Final = frozenset({PhaseStatus.COMPLETED, PhaseStatus.SKIPPED})
"""The statuses in which nothing is left to do in a phase, so that the next one may begin."""


@dataclass(frozen=True, slots=True)
class StatusWords:
    """A status in the words of the documents, and of people.

    Attributes:
        checkpoint: `phase.status` of a checkpoint below `untracked/workflow-state/`.
        document: `phases[].status` of `.claude/state/workflow.json`.
        sign: one character for people.
    """

    checkpoint: str
    document: str
    sign: str


_TEXTS: Final = resources.texts("workflow/tables.toml")
"""The rows of all tables; a word in them that is not a status is an error."""

_WAYS = dict[PhaseStatus, dict[PhaseStatus, str]]

PHASES: Final = Machine("phase", PhaseStatus.PENDING, convert(_TEXTS["phases"], _WAYS))
"""The moves of a phase, in the engine's own words for statuses; the documents' words are in WORDS."""

COMMANDS: Final = convert(_TEXTS["commands"], dict[PhaseStatus, str])
WORDS: Final = convert(_TEXTS["words"], dict[PhaseStatus, StatusWords])
"""Six statuses, four words in each document. If two statuses share a word, the word alone is read as in
FROM_CHECKPOINT and FROM_DOCUMENT; our own value beside it (`detail.status`) distinguishes them, as long as
the word still belongs to that value."""

FROM_CHECKPOINT: Final = convert(_TEXTS["checkpoint"], dict[str, PhaseStatus])
FROM_DOCUMENT: Final = convert(_TEXTS["document"], dict[str, PhaseStatus])


sentence: Final = resources.Sentences("workflow/refusals.toml")
"""The refusals and remarks of workflows, filled in."""


def refused(name: str, /, **values: Any) -> Refused:
    """The refusal with that sentence, to be raised."""
    return Refused(sentence(name, **values))
