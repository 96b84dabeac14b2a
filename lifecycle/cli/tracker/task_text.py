"""Tasks and comments as text, for a person at a terminal and for a pipe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import click

from lifecycle.cli.terminal import one_line
from lifecycle.cli.tracker.tracker_values import nothing_is
from lifecycle.core.redact import block, named, quoted
from lifecycle.core.timing import render_time
from lifecycle.core.tracker import Note, Task
from lifecycle.views.stats.stats_words import count

_ADDRESS = re.compile(r"https?://[^/\s]+/([^/\s]+/[^/\s]+)/(?:issues|pull)/(\d+)(?:[/?#].*)?")
"""An issue's address, of which `owner/name#42` is enough to see."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Tasks of one tracker, as they were asked for; `total` is how many there are in all."""

    tracker: str
    what: str
    tasks: tuple[Task, ...]
    total: int

    @property
    def head(self) -> str:
        """How many there are."""
        return f"{count(self.total, 'task')}, {self.what}"

    @property
    def more(self) -> str:
        """What is not shown, or ""."""
        left = self.total - len(self.tasks)
        return f"… and {left:,} more" if left else ""


@dataclass(frozen=True, slots=True)
class Column:
    """One thing that is told of a task; a column that would be empty in every row is left out."""

    name: str
    value: Callable[[Task], str]
    style: str = ""
    most: int = 24


COLUMNS = (
    Column("status", lambda task: task.raw_status or task.status.value),
    Column("labels", lambda task: ", ".join(task.labels), "magenta"),
    Column("who", lambda task: task.assignee, "cyan", 20),
    Column("waits for", lambda task: ", ".join(task.blocked_by), "yellow"),
    Column("linked to", lambda task: _ADDRESS.sub(r"\1#\2", task.external), "dim"),
)


def show_tasks(listing: Listing) -> None:
    """Print a line for each of them."""
    for task in listing.tasks:
        click.echo(one_line(_line(task)))
    if listing.more or not listing.tasks:
        click.echo(listing.more or nothing_is(listing.what, listing.tracker))


def show_task(task: Task) -> None:
    """Print one task with its text."""
    for line in _task_lines(task):
        click.echo(line)


def show_comments(task: str, notes: tuple[Note, ...]) -> None:
    """Print what was said on a task, the oldest first."""
    if not notes:
        click.echo(f"Nobody has said anything on {one_line(task)}.")
    for index, note in enumerate(notes):
        if index:
            click.echo()
        when = f", {render_time(note.created_at)}" if note.created_at is not None else ""
        click.echo(one_line(f"{note.author or 'somebody'}{when}:"))
        for line in block(note.text):
            click.echo(line)


def _line(task: Task) -> str:
    """A task as one line, for a pipe or a file."""
    facts = [f"{column.name} {column.value(task)}" for column in COLUMNS[1:] if column.value(task)]
    return "  ".join(
        [task.id, priority_of(task), COLUMNS[0].value(task), quoted(task.title), *facts]
    )


def _task_lines(task: Task) -> Iterator[str]:
    by = f" by @{task.author}" if task.author else ""
    yield f"{task.id}  {quoted(task.title)}{by}"
    facts = [COLUMNS[0].value(task)]
    facts += [priority_of(task)] if task.priority is not None else []
    facts += [f"held by {named(task.assignee)}"] if task.assignee else []
    facts += [f"linked to {named(task.external)}"] if task.external else []
    yield ", ".join(facts)
    if task.labels:
        yield f"labels: {', '.join(map(named, task.labels))}"
    if task.blocked_by:
        yield f"waits for: {', '.join(map(named, task.blocked_by))}"
    if task.close_reason:
        yield f"closed because: {named(task.close_reason)}"
    if task.url:
        yield one_line(task.url)
    if task.description.strip():
        yield ""
        yield from block(task.description.strip())


def priority_of(task: Task) -> str:
    """`P2`, or a hyphen for a task without a priority."""
    return f"P{task.priority}" if task.priority is not None else "-"
