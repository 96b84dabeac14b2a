"""Shared by the commands of `lifecycle tracker`: texts from options, listings, `--json` of tasks."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from lifecycle.app import tracker_opening, wiring
from lifecycle.cli.terminal import Column, fitted, one_line, styled, table
from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import asdict
from lifecycle.core.messages.figures import count
from lifecycle.core.redact import quoted, visible
from lifecycle.core.timing import render_time
from lifecycle.core.tracker import Note, Task, TaskStatus
from lifecycle.settings import resources
from lifecycle.storage.store import worktree_root

READY, ALL, NOT_CLOSED = "ready", "all", "not closed"
"""Selections for a list of tasks, besides a status."""

STDIN = "-"
"""The word for standard input, instead of a text or a file's name."""

_MOST_BYTES = 1_000_000
"""Most bytes of a text that is read; a longer one is refused."""

_OPTIONAL = ("assignee", "external", "url", "close_reason", "author")
"""Texts of a task or comment that are null in `--json` if there is none."""


sentence: Final = resources.Sentences("cli/tracker/refusals.toml")
"""The refusals of these commands, filled in."""


def task_data(value: Task | Note | None) -> dict[str, Any] | None:
    """A task or a comment for `--json`: the same keys for each tracker, moments as ISO text."""
    if value is None:
        return None
    data = asdict(value)
    data.pop("held_by", None)  # known only if a stage asked for it
    data |= {name: data[name] or None for name in _OPTIONAL if name in data}
    moments = {name: at for name, at in data.items() if name.endswith("_at") and at is not None}
    return data | {name: render_time(at) for name, at in moments.items()}


def nothing_is(
    state: str, tracker: str, labels: tuple[str, ...] = (), tried: int | None = None
) -> list[str]:
    """The sentence that there is no such task.

    Args:
        state: a status, READY, ALL or NOT_CLOSED.
        tracker: the tracker's name.
        labels: the labels that were asked for.
        tried: how many tasks were to be claimed in vain; None if none was to be claimed.
    """
    path = "cli/tracker/templates/nothing.txt"
    return resources.drawn(path, state=state, tracker=tracker, labels=labels, tried=tried)


def text_from(
    text: str | None, file: str | None, option: str, file_flag: str, *, is_unasked: bool = False
) -> str | None:
    """The given text: from words, from a file, or (`-`) from standard input; None if there is none.

    Args:
        text: the text as words of the command line.
        file: the file's name.
        option: the name of the option for words, for the error.
        file_flag: the name of the option for a file.
        is_unasked: read only a file of the worktree: an agent runs this command without asking, and the
            text goes to others.

    Raises:
        click.UsageError: both were given.
        Refused: the content is not UTF-8 text, or over a million bytes; or the file is elsewhere.
        OSError: the file cannot be read.
    """
    if text is not None and file is not None:
        raise click.UsageError(f"Give {option} or {file_flag}, not both.")
    if file is None and text != STDIN:
        return text
    is_stdin = file in (None, STDIN)
    if is_stdin and sys.stdin is None:
        raise Refused(sentence("stdin-closed", flag=file_flag))
    where = "Standard input" if is_stdin else str(file)
    if is_unasked and not is_stdin:
        _need_inside(Path(str(file)))
    with click.open_file(STDIN if is_stdin else str(file), "rb") as source:
        content: bytes = source.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise Refused(sentence("text-too-long", where=where, most=_MOST_BYTES))
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").rstrip("\n")
    except UnicodeDecodeError:
        raise Refused(sentence("no-utf-8", where=where)) from None


def _need_inside(path: Path) -> None:
    """Refuse a file outside of the worktree, also behind a link: nobody agreed to send it."""
    root = worktree_root(Path.cwd())
    if root is None or not path.resolve().is_relative_to(root.resolve()):
        raise Refused(sentence("file-outside", path=path))


def key_of(*words: str) -> str:
    """A key made of these words, the same for the same words, so that nothing is created twice."""
    text = "\n\n".join(words).encode("utf-8", "replace")
    return f"cli-{hashlib.sha256(text).hexdigest()[:20]}"


def tell_place(world: wiring.WorktreeWorld) -> None:
    """Note on stderr if GitHub's tasks are used only because another tracker fails; raises BadConfig."""
    note = tracker_opening.note_of(world)
    if note:
        click.echo(f"Note: {visible(note)}", err=True)


_ADDRESS = re.compile(r"https?://[^/\s]+/([^/\s]+/[^/\s]+)/(?:issues|pull)/(\d+)(?:[/?#].*)?")
"""The address of an issue or pull request, which lists show as `owner/name#42`."""


def more_than(tasks: Sequence[Task], limit: int | None) -> list[str]:
    """The line on how many tasks a list with this limit does not show; none if it shows all."""
    not_shown = len(tasks) - len(tasks[:limit])
    return [f"… and {not_shown:,} more"] if not_shown else []


def word_of(task: Task) -> str:
    """The task's status as `--status` writes it; for any other, the tracker's own word."""
    return task.raw_status if task.status is TaskStatus.OTHER else task.status.value


_FACTS = (
    Column("labels", lambda task: ", ".join(task.labels), "magenta", None),
    Column("who", lambda task: task.assignee, "cyan"),
    Column("waits for", lambda task: ", ".join(task.blocked_by), "yellow"),
    Column("linked to", lambda task: _ADDRESS.sub(r"\1#\2", task.external), "dim"),
)
"""The facts of a task beside its id, priority, title and status."""

_STYLES = {
    TaskStatus.OPEN: "green",
    TaskStatus.IN_PROGRESS: "cyan",
    TaskStatus.BLOCKED: "yellow",
    TaskStatus.OTHER: "",
}


def draw(name: str, what: str, tasks: Sequence[Task], limit: int | None) -> None:
    """Print tasks of the tracker `name` as a table.

    `what` was asked for: a status, READY, ALL or NOT_CLOSED; only the first `limit` tasks have a row.
    """
    screen, shown = fitted(), tasks[:limit]
    screen.print(styled(name, "bold") + styled(f"  {count(len(tasks), 'task')}, {what}"))
    status = Column("status", lambda task: styled(word_of(task), _STYLES.get(task.status, "dim")))
    # If all are equal, the heading says so.
    is_mixed = len(set(map(word_of, shown))) > 1
    columns = [
        Column("task", lambda task: task.id, "bold"),
        Column(
            "", lambda task: styled(rank_of(task), "yellow" if task.priority in (0, 1) else "dim")
        ),
        Column("", lambda task: task.title, most=None),
        *([status] if is_mixed else []),
        *_FACTS,
    ]
    if shown:
        screen.print()
        screen.print(table(screen, columns, shown))
    for line in more_than(tasks, limit):
        screen.print(styled(line, "dim"))


def task_line(task: Task) -> str:
    """A task as one line, for a pipe or a file."""
    headed = ((column.head, column.cell(task)) for column in _FACTS)
    facts = [f"{head} {fact}" for head, fact in headed if fact]
    words = [task.id, rank_of(task) or "-", word_of(task), quoted(task.title), *facts]
    return one_line("  ".join(words))


def rank_of(task: Task) -> str:
    """`P2`, or "" for a task without a priority."""
    return f"P{task.priority}" if task.priority is not None else ""
