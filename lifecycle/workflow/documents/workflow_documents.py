"""A workflow's record as the content of its two documents and its view, and a document read again.

Equal records give equal bytes.

Each document has the fields of its design, other programs' fields that were in it, and `lifecycle`: the
whole record, so that either document alone restores everything. A design field that differs from the
record beside it was edited by hand (`hand_edits.py`).

The view is Markdown, `.claude/workflow_state_system.md`, by the design's template. Where that says nothing,
a blocked, failed or skipped phase says so after its title, with the reason; a completed phase without
deliverables has no arrow; a workflow without phases has the row `(none)`, and a workflow that is at no
phase says `none`. A text of several lines is joined into one.

A document is read as its fields and the record in it, or there is a reason why it cannot be used. What the
fields mean is not decided here; `hand_edits.py` compares them with the record.
"""

from __future__ import annotations

import json
import math
from enum import StrEnum
from typing import Any, Final

import msgspec

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import as_data, visible
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.table import OVER, WORDS, PhaseStatus, WorkflowStatus, refused

DETAIL: Final = "lifecycle"
"""The name of our own object in both documents."""

VERSION: Final = 1
"""The version of that object's form."""

MOST_BYTES: Final = 2_000_000
"""The most bytes of a document; a larger file is neither read nor written."""


class DocumentKind(StrEnum):
    """The two kinds of documents; the value is the name of its fields in `Workflow.extra`."""

    CHECKPOINT = "checkpoint"
    DOCUMENT = "document"


PHASE_EXTRA: Final = "checkpoint.phase"
"""Where in `Workflow.extra` the unknown fields of a checkpoint's phase are kept."""


def phase_id(index: int) -> str:
    """A document's id for the phase with this index."""
    return f"phase_{index}"


def fields_of(workflow: Workflow, kind: DocumentKind) -> dict[str, Any]:
    """The fields that the design gives one document, without our own object."""
    return _checkpoint(workflow) if kind is DocumentKind.CHECKPOINT else _document(workflow)


def content_of(workflow: Workflow, kind: DocumentKind) -> bytes:
    """The whole document as bytes.

    Raises:
        Refused: it would be too large to be read again.
    """
    detail = {"version": VERSION, "revision": workflow.revision, "progress": workflow.progress}
    detail["current_phases"] = [phase_id(index) for index in workflow.active]
    record = msgspec.to_builtins(workflow)
    whole = {**fields_of(workflow, kind), DETAIL: {**detail, "record": record}}
    # Half a pair of surrogates, or a byte of the command line, has no encoding.
    content = (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")
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
    """A checkpoint shows one phase: the first before the workflow began, the last after its end."""
    total = len(workflow.phases)
    is_over = workflow.status is WorkflowStatus.COMPLETED
    index = workflow.current if workflow.phase is not None else (total - 1 if is_over else 0)
    phase = workflow.phases[index] if total else WorkflowPhase("")
    return {
        "workflow": workflow.name,
        "workflow_type": workflow.type,
        "phase": {
            "current": index + 1,
            "total": max(total, 1),
            "name": phase.title,
            "status": WORDS[phase.status].checkpoint,
            **workflow.extra.get(PHASE_EXTRA, {}),
        },
        "required_reading": list(workflow.all_reading),
        "context": workflow.context,
        "key_reminders": list(workflow.all_reminders),
        "created_at": workflow.created_at,
        **workflow.extra.get(DocumentKind.CHECKPOINT.value, {}),
    }


_EMPTY: Final = Workflow("", "", phases=(WorkflowPhase(""),))
BLANK: Final = {kind: fields_of(_EMPTY, kind) for kind in DocumentKind}
"""Each document of an empty workflow: these fields, and those of the phase in it, have a meaning here; all
others are kept unchanged."""

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


_DEPTH: Final = 40
_TOO_DEEP: Final = "it is nested too deep"


class UnusableDocument(Exception):
    """A file that cannot be used as a document; its text is the clause that says why."""


class LaterDocument(UnusableDocument):
    """A later release wrote it, so it is never replaced."""


@dataclass(frozen=True)
class ReadDocument:
    """One document.

    Attributes:
        kind: which of the two kinds.
        path: from the worktree's root.
        fields: its fields, without our own object.
        record: the record in our own object; None without one.
        content: its bytes.
        written_at: when the file was written, in seconds since the epoch.
        is_tracked: git tracks it, so it came with the repository.
        remark: why our own object in it was ignored; "" if it was not.
    """

    kind: DocumentKind
    path: str
    fields: dict[str, Any]
    record: Workflow | None
    content: bytes
    written_at: float = 0.0
    is_tracked: bool = False
    remark: str = ""


def read_document(
    content: bytes, kind: DocumentKind, path: str, written_at: float, *, is_tracked: bool = False
) -> ReadDocument:
    """Parse the content of a file as a document.

    Raises:
        UnusableDocument: it is too large, not a JSON object, or of a later release.
    """
    if len(content) > MOST_BYTES:
        raise UnusableDocument(f"it is larger than {MOST_BYTES:,} bytes")
    if not content.strip():
        raise UnusableDocument("it is empty")
    try:
        data = _plain(json.loads(content), 0)
    except RecursionError:
        raise UnusableDocument(_TOO_DEEP) from None
    except json.JSONDecodeError as error:
        raise UnusableDocument(f"it is no JSON: {error.msg} in line {error.lineno}") from None
    except ValueError:  # no UTF-8, or a number of thousands of digits
        raise UnusableDocument("it is no JSON") from None
    if not isinstance(data, dict):
        raise UnusableDocument("it holds no JSON object")
    record, remark = _record(data.pop(DETAIL, None))
    return ReadDocument(kind, path, data, record, content, written_at, is_tracked, remark)


def _record(detail: object) -> tuple[Workflow | None, str]:
    """The record in our own object, and why it was ignored; the document is usable without it."""
    if detail is None:
        return None, ""
    version = detail.get("version") if isinstance(detail, dict) else None
    if isinstance(version, int) and version > VERSION:
        why = f"a later release of lifecycle wrote it (version {version}; this one knows {VERSION})"
        raise LaterDocument(why)
    try:
        return msgspec.convert(detail["record"], Workflow), ""  # type: ignore[index] # what it lacks is told
    except (msgspec.MsgspecError, KeyError, TypeError) as error:
        why = str(error) if isinstance(error, msgspec.MsgspecError) else "it has no record"
        return None, f'its "{DETAIL}" part cannot be read ({why})'


def _plain(value: Any, depth: int) -> Any:
    """The value: its texts can be written as UTF-8, its numbers are JSON's, it is not nested too deep."""
    if depth > _DEPTH:
        raise UnusableDocument(_TOO_DEEP)
    if isinstance(value, float) and not math.isfinite(value):
        raise UnusableDocument(f"it is no JSON: {value} is no number there")
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_plain(entry, depth + 1) for entry in value]
    if isinstance(value, dict):
        return {_plain(key, depth): _plain(entry, depth + 1) for key, entry in value.items()}
    return value
