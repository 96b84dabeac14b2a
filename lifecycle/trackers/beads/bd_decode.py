"""The meaning of bd's answers. Pure: values in, values out.

Exit codes are unreliable: builds differ in them, and some exit with 0 after doing nothing. So an answer is
read in five steps. (1) JSON on stdout, without its envelope; a key `error` is a failure. (2) JSON on
stderr. (3) No output where output is expected is a failure, whatever the exit code; stderr's lines are
looked up in a table, from their beginning, so that no title can pass for an error. (4) The caller checks
whether the answer shows the wanted result. (5) Anything else on stderr is noise.

Source: answers of five builds, recorded; https://github.com/steveyegge/beads, cmd/bd.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

from lifecycle.core import errors, timing
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import redact, short, visible
from lifecycle.core.tracker import Note, Task, TaskStatus
from lifecycle.settings import resources
from lifecycle.trackers.refusals import sentence


@dataclass(frozen=True, slots=True)
class Ran:
    """The exit code of one run, and its output."""

    code: int
    out: str
    err: str


_BEGINS = re.compile(
    r"(?:Error: |Error \w+ \S+: |(?:resolving|label|heartbeat) [^:\n]*: |operation failed: |"
    r"failed to [\w ]+: |validate field update: |validation failed: |sqlite3: |constraint failed: )*"
)
"""Prefixes of a line before the words that matter: the program, and the operation."""


_answers = partial(resources.table, "trackers/beads/bd_answers.toml")
"""The meaning of bd's words, from `bd_answers.toml`."""


def unknown(name: str) -> errors.NotFound:
    """The error for a task that does not exist; "": bd did not name it."""
    task = f"task {visible(name)!r}" if name else "such task"
    return errors.NotFound(sentence("bd-unknown-task", task=task))


def payload(ran: Ran, *, due: type, doing: str) -> Any:
    """The content of an answer: a list or an object, as expected.

    Args:
        ran: the run.
        due: `list` or `dict`. A `null` instead of a list means an empty list.
        doing: the request, as `show demo-1`, for the sentence of an error.

    Raises:
        LifecycleError: one of the kinds in the table; Rejected for words that are not in it.
        ProtocolError: an answer that cannot be understood, or none.
    """
    answer = _parsed(ran.out)
    if answer is _NOTHING and not ran.out.strip():
        text = _error_in(_parsed(ran.err)) or ran.err
        if ran.code == 0 and _known(text) is None:
            # Perhaps only noise of a run that succeeded: that is unknown.
            raise _unusable("bd-said-nothing", doing, text)
        raise failure(text, doing)
    if answer is _NOTHING and ran.code != 0:
        raise failure(ran.err or ran.out, doing)
    if answer is _NOTHING:
        raise _unusable("bd-not-understood", doing, ran.out)
    if (error := _error_in(answer)) is not None:
        raise failure(error, doing)
    if isinstance(answer, dict) and "data" in answer and "schema_version" in answer:
        answer = answer["data"]  # without the envelope of newer builds
    answer = [] if answer is None else answer
    if not isinstance(answer, due):
        raise _unusable("bd-other-answer", doing, ran.out)
    if ran.code != 0:
        raise failure(ran.err, doing)
    return answer


def _unusable(name: str, doing: str, text: str) -> errors.ProtocolError:
    """The error, with that sentence, for a useless answer; `text` is the evidence."""
    return errors.ProtocolError(sentence(name, doing=doing), evidence=evidence(text))


def failure(text: str, doing: str) -> errors.LifecycleError:
    """The error for these words of bd: one of the table, Rejected for any others."""
    error = _known(text)
    if error is not None:
        return error
    words = evidence(text)
    refused = sentence("bd-refused", doing=doing, words=words or "no word")
    return errors.Rejected(refused, evidence=words)


def _known(text: str) -> errors.LifecycleError | None:
    """The error for the first line that begins with words in the table; None if none does."""
    for line in text.splitlines():
        words = _BEGINS.sub("", line, count=1).strip()
        for pattern, name in _answers()["answers"]:
            match = re.match(pattern, words)
            if match:
                return _error(name, match)
    return None


def _error(name: str, match: re.Match[str]) -> errors.LifecycleError:
    kind: type[errors.LifecycleError] = getattr(errors, name)
    if kind is errors.NotFound:
        return unknown(match["name"])
    values: dict[str, Any] = {key: visible(text.strip()) for key, text in match.groupdict().items()}
    shown = {**values, "words": visible(match[0])}
    if kind is errors.BlockedBy:
        values = {"ids": tuple(match["ids"].split())}
        shown["ids"] = ", ".join(values["ids"])
    if name in _answers()["quoted"]:
        values["evidence"] = match[0]
    return kind(_answers()["sentences"][name].format_map(shown), **values)


def evidence(text: str) -> str:
    """The first line with content, in a form that can be shown."""
    lines = filter(None, map(str.strip, text.splitlines()))
    return short(redact(visible(next(lines, ""))), 300)


_NOTHING = object()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _error_in(answer: Any) -> str | None:
    """The text of an error object, None if it is not one."""
    error = answer.get("error") if isinstance(answer, dict) else None
    return str(error) if error else None


ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""The form of an id that a shell takes as one plain word."""

DELETED = "tombstone"
_BLOCKING = ("blocks", "conditional-blocks", "waits-for")
_MARK = re.compile(r"(?<!\s)\s*^<!-- lifecycle:[^<>]+ -->\s*\Z", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class IssueRow:
    """One issue.

    Attributes:
        task: the task in the form common to all trackers.
        mark: the hidden last line of its description; "" if it has none.
        blockers: ids of all tasks that it waits for, closed ones too, as far as this answer names them.
    """

    task: Task
    mark: str = ""
    blockers: tuple[str, ...] = ()


def has_strange_id(raw: object) -> bool:
    """True for an issue whose id must not be in a command line."""
    name = raw.get("id") if isinstance(raw, dict) else None
    return isinstance(name, str) and bool(name) and ID.fullmatch(name) is None


def row_of(raw: object) -> IssueRow:
    """One issue from an answer.

    Raises:
        ProtocolError: the value is not an issue, or its id is not a plain word.
    """
    if has_strange_id(raw):
        raise errors.ProtocolError(sentence("bd-strange-id"))
    if not isinstance(raw, dict) or not isinstance(raw.get("id"), str) or not raw["id"]:
        raise errors.ProtocolError(sentence("bd-no-task"))
    description, mark = _unsigned(_text(raw, "description"))
    status = _text(raw, "status") or "open"
    waits = [edge for edge in _list(raw, "dependencies") if isinstance(edge, dict)]
    waits = [edge for edge in waits if edge.get("dependency_type", edge.get("type")) in _BLOCKING]
    # `show` has the issues themselves; a list has only edges, which do not show what is closed.
    open_edges = [edge for edge in waits if edge.get("status", "closed") not in ("closed", DELETED)]
    still = [str(edge["id"]) for edge in open_edges if "id" in edge]
    priority = raw.get("priority", 0)
    task = Task(
        id=raw["id"],
        title=_text(raw, "title"),
        description=description,
        status=TaskStatus(status) if status in list(TaskStatus) else TaskStatus.OTHER,
        raw_status=status,
        priority=priority if isinstance(priority, int) else None,
        labels=tuple(str(label) for label in _list(raw, "labels")),
        assignee=_text(raw, "assignee"),
        # A blocker blocks whatever its name is.
        blocked_by=tuple(re.sub(r"[^A-Za-z0-9._-]", "_", name) for name in still),
        external=_text(raw, "external_ref"),
        close_reason=_text(raw, "close_reason"),
        created_at=timing.parse_time(raw.get("created_at")),
        updated_at=timing.parse_time(raw.get("updated_at")),
        closed_at=timing.parse_time(raw.get("closed_at")),
    )
    ids = (str(edge.get("depends_on_id", edge.get("id", ""))) for edge in waits)
    return IssueRow(task, mark, tuple(ids))


def note_of(raw: object) -> tuple[Note, str]:
    """One comment from an answer, and its hidden last line; "" if it has none.

    Raises:
        ProtocolError: the value is not a comment.
    """
    if not isinstance(raw, dict) or "id" not in raw:
        raise errors.ProtocolError(sentence("bd-no-comment"))
    text, mark = _unsigned(_text(raw, "text"))
    at = timing.parse_time(raw.get("created_at"))
    return Note(str(raw["id"]), _text(raw, "author"), text, at), mark


def _unsigned(text: str) -> tuple[str, str]:
    """A text without its hidden last line, and that line; "" if it has none."""
    mark = _MARK.search(text)
    return (text[: mark.start()], mark[0].strip()) if mark else (text, "")


def _text(raw: dict[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _list(raw: dict[str, Any], key: str) -> list[Any]:
    value = raw.get(key)
    return value if isinstance(value, list) else []
