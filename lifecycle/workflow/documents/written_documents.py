"""A workflow's record as the content of its two documents and of its view: the same gives the same bytes.

Each document has the fields of its design, fields of others that were in it, and `lifecycle`: the whole
record, so that either document alone restores all of it. A field of the design that says something else
than the record beside it was edited by hand (`hand_edits.py`).

The view is Markdown, `.claude/workflow_state_system.md`, by the template of the design. What that leaves
open: a phase that is blocked, failed or was skipped says so behind its title, with the reason; one that
is completed and delivered nothing has no arrow; a workflow without phases has the row `(none)`, and one
that is at no phase says `none`. A text of several lines is put into one.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, Final

import msgspec

from lifecycle.core.redact import as_data, visible
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.table import OVER, WORDS, PhaseStatus, WorkflowStatus, refused

DETAIL: Final = "lifecycle"
"""The name of our own object in both documents."""

VERSION: Final = 1
"""The version of that object's form."""

MOST_BYTES: Final = 2_000_000
"""Bytes of a document at most; a larger file is not read, and none is written."""


class DocumentKind(StrEnum):
    """Which of the two a document is; the value names its fields in `Workflow.extra`."""

    CHECKPOINT = "checkpoint"
    DOCUMENT = "document"


PHASE_EXTRA: Final = "checkpoint.phase"
"""Where in `Workflow.extra` the unknown fields of a checkpoint's phase are kept."""


def phase_id(index: int) -> str:
    """What a document calls the phase with this index."""
    return f"phase_{index}"


def fields_of(workflow: Workflow, kind: DocumentKind) -> dict[str, Any]:
    """The fields that the design gives one document, without our own object."""
    return _checkpoint(workflow) if kind is DocumentKind.CHECKPOINT else _document(workflow)


def content_of(workflow: Workflow, kind: DocumentKind) -> bytes:
    """The whole document as bytes.

    Raises:
        Refused: it would be too large to be read again.
    """
    detail = {
        "version": VERSION,
        "revision": workflow.revision,
        "progress": workflow.progress,
        "current_phases": [phase_id(index) for index in workflow.active],
        "record": msgspec.to_builtins(workflow),
    }
    whole = {**fields_of(workflow, kind), DETAIL: detail}
    content = (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode()
    if len(content) > MOST_BYTES:
        name, size = visible(workflow.name), len(content)
        raise refused("workflow-too-large", name=name, size=size, most=MOST_BYTES)
    return content


def _document(workflow: Workflow) -> dict[str, Any]:
    return {
        "id": workflow.id,
        "task": workflow.task,
        "status": workflow.status.value,
        "current_phase": phase_id(workflow.current) if workflow.phase is not None else None,
        "phases": [
            {
                "id": phase_id(index),
                "title": phase.title,
                "agent": phase.agent,
                "status": WORDS[phase.status].document,
                "deliverables": list(phase.deliverables),
                "context_for_next": phase.context_for_next,
                **phase.extra,
            }
            for index, phase in enumerate(workflow.phases)
        ],
        **workflow.extra.get(DocumentKind.DOCUMENT.value, {}),
    }


def _checkpoint(workflow: Workflow) -> dict[str, Any]:
    return {
        "workflow": workflow.name,
        "workflow_type": workflow.type,
        "phase": {**shown_phase(workflow), **workflow.extra.get(PHASE_EXTRA, {})},
        "required_reading": list(workflow.all_reading),
        "context": workflow.context,
        "key_reminders": list(workflow.all_reminders),
        "created_at": workflow.created_at,
        **workflow.extra.get(DocumentKind.CHECKPOINT.value, {}),
    }


def shown_phase(workflow: Workflow) -> dict[str, Any]:
    """The phase as a checkpoint tells it: the first before a workflow began, the last after its end."""
    total = len(workflow.phases)
    is_over = workflow.status is WorkflowStatus.COMPLETED
    index = workflow.current if workflow.phase is not None else (total - 1 if is_over else 0)
    phase = workflow.phases[index] if total else None
    status = phase.status if phase is not None else PhaseStatus.PENDING
    return {
        "current": index + 1,
        "total": max(total, 1),
        "name": phase.title if phase is not None else "",
        "status": WORDS[status].checkpoint,
    }


_EMPTY: Final = Workflow("", "", phases=(WorkflowPhase(""),))
BLANK: Final = {kind: fields_of(_EMPTY, kind) for kind in DocumentKind}
"""Each document of a workflow of which nothing is known: its fields, and those of the phase in it, have a
meaning here; all others are kept as they are."""

_TOLD = (PhaseStatus.BLOCKED, PhaseStatus.FAILED, PhaseStatus.SKIPPED)


def view_of(workflow: Workflow) -> str:
    """The view as a text that ends with a line break."""
    at = workflow.title_of(workflow.current) if workflow.phase is not None else "none"
    title, at = _line(workflow, workflow.task or workflow.name), _line(workflow, at)
    head = f"# Workflow Status: {title}\n\nStatus: {workflow.status} | Current Phase: {at}\n\n"
    rows = [_row(workflow, index, phase) for index, phase in enumerate(workflow.phases)]
    return "\n".join([f"{head}## Phases\n", *(rows or ["(none)"])]) + "\n"


def _row(workflow: Workflow, index: int, phase: WorkflowPhase) -> str:
    mark = "x" if phase.status in OVER else " "
    row = f"- [{mark}] Phase {index}: {_line(workflow, workflow.title_of(index))}"
    if phase.status in _TOLD:
        reason = _line(workflow, phase.reason)
        row += f" ({phase.status.value}: {reason})" if reason else f" ({phase.status.value})"
    delivered = ", ".join(_line(workflow, deliverable) for deliverable in phase.deliverables)
    return f"{row} → {delivered}" if delivered else row


def _line(workflow: Workflow, text: str) -> str:
    line = " ".join(text.split())
    return as_data(line) if workflow.is_foreign else visible(line)
