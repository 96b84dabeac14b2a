"""What every `lifecycle tracker` command shares: options, texts, and one JSON shape for all trackers."""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from lifecycle.app import tracker_opening
from lifecycle.cli import command_session
from lifecycle.cli.command_session import Session, in_worktree
from lifecycle.core.errors import Refused
from lifecycle.core.redact import visible
from lifecycle.core.timing import render_time
from lifecycle.core.tracker import Note, Task
from lifecycle.storage.store import worktree_root

F = TypeVar("F", bound=Callable[..., Any])

READY, ALL, NOT_CLOSED = "ready", "all", "not closed"
"""What tasks are listed for, beside a status."""

STDIN = "-"
"""What stands for standard input, in place of a text or a file's name."""


def task_data(task: Task | None) -> dict[str, Any] | None:
    """A task for `--json`: the same keys for each tracker; what it does not have is null."""
    if task is None:
        return None
    return {
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "status": task.status.value,
        "raw_status": task.raw_status,
        "priority": task.priority,
        "labels": list(task.labels),
        "assignee": task.assignee or None,
        "blocked_by": list(task.blocked_by),
        "external": task.external or None,
        "url": task.url or None,
        "close_reason": task.close_reason or None,
        "author": task.author or None,
        "created_at": _moment(task.created_at),
        "updated_at": _moment(task.updated_at),
        "closed_at": _moment(task.closed_at),
    }


def nothing_is(what: str, tracker: str) -> str:
    """The sentence that no task stands so; `what` is a status, or READY, or ALL."""
    where = "on GitHub" if tracker == "github" else f"in {tracker}"
    if what == ALL:
        return f"There is no task {where}."
    return f"No task is {'open' if what == NOT_CLOSED else what.replace('_', ' ')} {where}."


def note_data(note: Note) -> dict[str, Any]:
    """A comment for `--json`."""
    return {
        "id": note.id,
        "author": note.author or None,
        "text": note.text,
        "created_at": _moment(note.created_at),
    }


def text_from(
    text: str | None,
    file: str | None,
    option: str,
    file_option: str = "--file",
    *,
    most: int | None = None,
    is_unasked: bool = False,
) -> str | None:
    """The text that was given, in words, in a file, or (`-`) on standard input; None if none was.

    Args:
        text: what was given in words.
        file: the file's name.
        option: the name of the other way, for the sentence.
        file_option: the name of the option for a file.
        most: so many bytes are read at the most; None for all.
        is_unasked: the client lets an agent run the command with any option, so that only a file of the
            worktree is read: what it says goes to others.

    Raises:
        click.UsageError: both were given.
        Refused: what was read is no text in UTF-8, or longer than `most`; or it lies elsewhere.
        OSError: the file cannot be read.
    """
    if text is not None and file is not None:
        raise click.UsageError(f"Give {option} or {file_option}, not both.")
    if file is None and text != STDIN:
        return text
    is_stdin = file in (None, STDIN)
    where = "Standard input" if is_stdin else str(file)
    if is_unasked and not is_stdin:
        _need_inside(Path(str(file)))
    content = _content(None if is_stdin else Path(str(file)), most)
    if most is not None and len(content) > most:
        raise Refused(
            f"{where} has more than {most} bytes; nothing was done. Shorten it to a line."
        )
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").rstrip("\n")
    except UnicodeDecodeError:
        raise Refused(f"{where} is no text in UTF-8; nothing was done. Convert it first.") from None


def _need_inside(path: Path) -> None:
    """Refuse a file outside of the worktree, also behind a link: nobody was asked if it may be sent."""
    root = worktree_root(Path.cwd())
    if root is None or not path.resolve().is_relative_to(root.resolve()):
        raise Refused(
            f"{path} lies outside of this worktree, so it was not read: what it says would go to others, "
            f"and nobody was asked. Give it on standard input: - < {path}"
        )


def _content(path: Path | None, most: int | None) -> bytes:
    """The bytes of a file, or of standard input; one more than `most` if there are more."""
    size = -1 if most is None else most + 1
    if path is None:
        return sys.stdin.buffer.read(size)
    with path.open("rb") as file:
        return file.read(size)


def key_of(*words: str) -> str:
    """The key of what was asked for in these words: the same words have the same key."""
    text = "\n\n".join(words).encode("utf-8", "replace")
    return f"cli-{hashlib.sha256(text).hexdigest()[:20]}"


def file_option(function: F) -> F:
    """Add `--file`."""
    return click.option(
        "--file", metavar="PATH", default=None, help="Read the text from a file; -: standard input."
    )(function)


def labels_option(function: F) -> F:
    """Add `--label`, which may be given several times."""
    return click.option(
        "--label",
        "labels",
        metavar="LABEL",
        multiple=True,
        help="Only tasks with this label, or with any of several; LABEL*: all that begin so.",
    )(function)


def limit_option(function: F) -> F:
    """Add `--limit`."""
    return click.option(
        "--limit",
        metavar="N",
        type=click.IntRange(min=1),
        default=None,
        help="Show the first N only; how many there are is said all the same.",
    )(function)


def _moment(seconds: float | None) -> str | None:
    return render_time(seconds) if seconds is not None else None


def tell_place(session: Session) -> None:
    """Say on stderr that the tasks are not where they seem to be, if so; raises BadConfig."""
    note = tracker_opening.note_of(session.world)
    if note:
        click.echo(f"Note: {visible(note)}", err=True)


def begin(*, as_json: bool, changes_tasks: bool = False) -> Session:
    """The session of a command that has something to check before it needs one; see `for_tasks`."""
    session = command_session.begin(as_json=as_json, changes_tasks=changes_tasks)
    tell_place(session)
    return session


for_tasks = functools.partial(in_worktree, first=tell_place)
"""What every `lifecycle tracker` command is made with; see `in_worktree`."""
