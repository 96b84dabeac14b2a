"""bd's issues and comments as tasks and notes. Pure.

Builds up to 0.33 leave the priority out where it is 0, the most urgent. The text of an issue that
`create` made ends with a hidden line, by which it is found again; people do not see it as text.

A database comes with a repository, from whoever wrote that, and an id goes into command lines that an
agent types. So an id of other characters than bd makes is none.

Source: `bd show --json`, https://github.com/steveyegge/beads, internal/types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lifecycle.core import timing
from lifecycle.core.errors import ProtocolError
from lifecycle.core.tracker import Note, Task, TaskStatus

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What a shell takes as one plain word."""

DELETED = "tombstone"
_ENDED = ("closed", DELETED)
_BLOCKING = ("blocks", "conditional-blocks", "waits-for")
_MARK = re.compile(r"(?<!\s)\s*^<!-- lifecycle:[^<>]+ -->\s*\Z", re.MULTILINE)
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z")


@dataclass(frozen=True, slots=True)
class IssueRow:
    """One issue.

    Attributes:
        task: as everybody sees it.
        mark: the hidden last line of its description, "" if it has none.
        blockers: ids of all that it waits for, closed ones too, as far as this answer names them.
    """

    task: Task
    mark: str = ""
    blockers: tuple[str, ...] = ()


def has_strange_id(raw: object) -> bool:
    """True for an issue whose id could not stand in a command line."""
    name = raw.get("id") if isinstance(raw, dict) else None
    return isinstance(name, str) and bool(name) and ID.fullmatch(name) is None


def row_of(raw: object) -> IssueRow:
    """One issue of an answer.

    Raises:
        ProtocolError: it is none, or its id is no plain word.
    """
    if has_strange_id(raw):
        raise ProtocolError(
            "bd showed a task whose id is no plain word; nothing of it was used. Run `bd list --json` by "
            "hand to see which, and rename it."
        )
    if not isinstance(raw, dict) or not isinstance(raw.get("id"), str) or not raw["id"]:
        raise ProtocolError(
            "bd showed something that is no task; nothing of it was used. Run `bd list --json` by hand "
            "to see what it prints."
        )
    whole = _text(raw, "description")
    found = _MARK.search(whole)
    status = _text(raw, "status") or "open"
    waits = [edge for edge in _list(raw, "dependencies") if isinstance(edge, dict)]
    waits = [edge for edge in waits if edge.get("dependency_type", edge.get("type")) in _BLOCKING]
    # `show` gives the issues themselves; a list only gives edges, which do not say what is closed.
    still = [edge for edge in waits if "status" in edge and edge["status"] not in _ENDED]
    priority = raw.get("priority", 0)
    task = Task(
        id=raw["id"],
        title=_text(raw, "title"),
        description=whole[: found.start()] if found else whole,
        status=_status(status),
        raw_status=status,
        priority=priority if isinstance(priority, int) else None,
        labels=tuple(str(label) for label in _list(raw, "labels")),
        assignee=_text(raw, "assignee"),
        blocked_by=tuple(_plain(edge["id"]) for edge in still if "id" in edge),
        external=_text(raw, "external_ref"),
        close_reason=_text(raw, "close_reason"),
        created_at=moment(raw.get("created_at")),
        updated_at=moment(raw.get("updated_at")),
        closed_at=moment(raw.get("closed_at")),
    )
    ids = (str(edge.get("depends_on_id", edge.get("id", ""))) for edge in waits)
    return IssueRow(task, found[0].strip() if found else "", tuple(ids))


def note_of(raw: object) -> tuple[Note, str]:
    """One comment of an answer, and its hidden last line, "" if it has none.

    Raises:
        ProtocolError: it is none.
    """
    if not isinstance(raw, dict) or "id" not in raw:
        raise ProtocolError(
            "bd showed something that is no comment; nothing of it was used. Run `bd comments` by hand "
            "to see what it prints."
        )
    whole = _text(raw, "text")
    found = _MARK.search(whole)
    text = whole[: found.start()] if found else whole
    note = Note(str(raw["id"]), _text(raw, "author"), text, moment(raw.get("created_at")))
    return note, found[0].strip() if found else ""


def moment(text: object) -> float | None:
    """Seconds since the epoch; bd writes up to nine digits behind the second."""
    match = _MOMENT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return timing.parse_time(text)
    whole = timing.parse_time(f"{match[1]}Z")
    return None if whole is None else whole + float(match[2] or 0)


def _plain(name: object) -> str:
    """A blocker's id; it blocks whatever it is called."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", str(name))


def _status(word: str) -> TaskStatus:
    known = {status.value: status for status in TaskStatus}
    return known.get(word, TaskStatus.OTHER)


def _text(raw: dict[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _list(raw: dict[str, Any], key: str) -> list[Any]:
    value = raw.get(key)
    return value if isinstance(value, list) else []
