"""Read one document: its fields, the record in it, or the reason why it cannot be used.

Nothing is decided here about what the fields mean; `hand_edits.py` compares them with the record.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

import msgspec

from lifecycle.core.light_dataclass import dataclass
from lifecycle.workflow.documents.written_documents import DETAIL, MOST_BYTES, VERSION, DocumentKind
from lifecycle.workflow.state import Workflow

_DEPTH: Final = 40
_TOO_DEEP: Final = "it is nested too deep"


class UnusableDocument(Exception):
    """A file that cannot be used as a document; its text is the clause that says why.

    Attributes:
        is_later: a later release wrote it, so it is never replaced.
    """

    def __init__(self, why: str, *, is_later: bool = False) -> None:
        super().__init__(why)
        self.is_later = is_later


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
    content: bytes,
    kind: DocumentKind,
    path: str,
    written_at: float = 0.0,
    *,
    is_tracked: bool = False,
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
        raise UnusableDocument(why, is_later=True)
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
