"""Tasks on a screen: a table on a terminal, a line for each where a program reads."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from lifecycle.cli import terminal
from lifecycle.cli.tracker.tracker_values import nothing_is
from lifecycle.core.redact import as_data, block, named, quoted, redact
from lifecycle.core.timing.times import render
from lifecycle.core.tracker import Note, Task, TaskStatus

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

WIDTH = 140
"""Columns at most: further apart, the cells of a row lose each other."""

WIDE = 100
"""From so many columns on, all that is known of a task may stand in one row."""

NARROW = 60
"""Below so many, a task is a block of lines."""

TITLE = 32
"""A title has so many columns at least, or the rest stands below it."""

_STYLES = {
    TaskStatus.OPEN: "green",
    TaskStatus.IN_PROGRESS: "cyan",
    TaskStatus.BLOCKED: "yellow",
    TaskStatus.DEFERRED: "dim",
    TaskStatus.CLOSED: "dim",
    TaskStatus.OTHER: "",
}


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
        return f"{self.total:,} {'task' if self.total == 1 else 'tasks'}, {self.what}"

    @property
    def more(self) -> str:
        """What is not shown, or ""."""
        left = self.total - len(self.tasks)
        return f"… and {left:,} more" if left else ""


@dataclass(frozen=True, slots=True)
class _Column:
    """One thing that is told of a task; a column that would be empty in every row is left out."""

    name: str
    value: Callable[[Task], str]
    style: str = ""
    most: int = 24


_COLUMNS = (
    _Column("status", lambda task: task.raw_status or task.status.value),
    _Column("labels", lambda task: ", ".join(task.labels), "magenta"),
    _Column("who", lambda task: task.assignee, "cyan", 20),
    _Column("waits for", lambda task: ", ".join(task.blocked_by), "yellow"),
    _Column("linked to", lambda task: _ADDRESS.sub(r"\1#\2", task.external), "dim"),
)


def show_tasks(listing: Listing, console: Console | None = None) -> None:
    """Print them: a table on a terminal (or the console that is given), else a line for each task."""
    if console is None and not _is_terminal():
        for task in listing.tasks:
            click.echo(_clean(_line(task)))
        if listing.more or not listing.tasks:
            click.echo(listing.more or _none(listing))
        return
    from rich.text import Text

    shown = console or terminal.console()
    width = min(shown.width, WIDTH)
    shown.print(Text.assemble((listing.tracker, "bold"), f"  {listing.head}"))
    if listing.tasks:
        shown.print()
        shown.print(_Form.of(listing.tasks, width).table(listing.tasks), width=width)
    if listing.more:
        shown.print(Text(listing.more, "dim"))


def show_task(task: Task) -> None:
    """Print one task with its text."""
    for line in _task_lines(task):
        click.echo(line)


def show_comments(task: str, notes: tuple[Note, ...]) -> None:
    """Print what was said on a task, the oldest first."""
    if not notes:
        click.echo(f"Nobody has said anything on {_clean(task)}.")
    for index, note in enumerate(notes):
        if index:
            click.echo()
        when = f", {render(note.created_at)}" if note.created_at is not None else ""
        click.echo(_clean(f"{note.author or 'somebody'}{when}:"))
        for line in block(note.text):
            click.echo(line)


def _line(task: Task) -> str:
    """A task as one line, for a pipe or a file."""
    facts = [f"{one.name} {one.value(task)}" for one in _COLUMNS[1:] if one.value(task)]
    return "  ".join(
        [task.id, _priority(task), _COLUMNS[0].value(task), quoted(task.title), *facts]
    )


def _task_lines(task: Task) -> Iterator[str]:
    by = f" by @{task.author}" if task.author else ""
    yield f"{task.id}  {quoted(task.title)}{by}"
    facts = [_COLUMNS[0].value(task)]
    facts += [_priority(task)] if task.priority is not None else []
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
        yield _clean(task.url)
    if task.description.strip():
        yield ""
        yield from block(task.description.strip())


@dataclass(frozen=True, slots=True)
class _Form:
    """How tasks are laid out; the same for all of them, so that columns meet.

    Attributes:
        told: what is told of a task beside id, priority and title, and in how many columns.
        names: columns of an id.
        room: columns of a title, if the rest stands below it.
        has_ranks: a task among them has a priority.
        is_wide: all stands beside each other; else the rest stands below the title.
        is_narrow: a task is a block of lines.
    """

    told: dict[_Column, int]
    names: int
    room: int
    has_ranks: bool
    is_wide: bool
    is_narrow: bool

    @classmethod
    def of(cls, tasks: tuple[Task, ...], width: int) -> _Form:
        """The form for these tasks on so many columns."""
        told = [one for one in _COLUMNS if any(one.value(task) for task in tasks)]
        if len({_COLUMNS[0].value(task) for task in tasks}) == 1:
            told.remove(_COLUMNS[0])  # all stand alike, and the head says how
        sizes = {one: min(_widest(one.name, *map(one.value, tasks)), one.most) for one in told}
        names = min(_widest("task", *(task.id for task in tasks)), width // 3)
        left = width - names - 6 - sum(size + 2 for size in sizes.values())
        has_ranks = any(task.priority is not None for task in tasks)
        room = width - names - (6 if has_ranks else 2)
        is_wide = width >= WIDE and left >= TITLE
        if is_wide:  # what titles do not need goes to facts that would be broken
            spare = left - max(TITLE, _widest(*(task.title for task in tasks)))
            for one in told:
                more = max(min(_widest(*map(one.value, tasks)) - sizes[one], spare), 0)
                sizes[one] += more
                spare -= more
        return cls(sizes, names, room, has_ranks, is_wide, width < NARROW)

    def table(self, tasks: tuple[Task, ...]) -> Table:
        """The rows, below the names of the columns where they have some."""
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        if not self.is_narrow:
            table.add_column(width=self.names, overflow="fold")
            if self.has_ranks:
                table.add_column(width=2)
        table.add_column(ratio=1, overflow="fold")
        if self.is_wide:
            for size in self.told.values():
                table.add_column(width=size, overflow="fold")
            words = (
                "task",
                *([""] if self.has_ranks else ()),
                "",
                *(one.name for one in self.told),
            )
            table.add_row(*(Text(word, "dim") for word in words))
        for task in tasks:
            table.add_row(*self._cells(task))
        return table

    def _cells(self, task: Task) -> list[Text]:
        from rich.text import Text

        name, title = Text(_clean(task.id), "bold"), Text(_clean(task.title))
        rank = Text(_priority(task), "yellow" if task.priority in (0, 1) else "dim")
        ranks = [rank] if self.has_ranks else []
        facts = {one.name: _fact(one, task) for one in self.told}
        if self.is_wide:
            return [name, *ranks, title, *facts.values()]
        named = [
            Text.assemble((f"{word} ", "dim"), fact) for word, fact in facts.items() if fact.plain
        ]
        if self.is_narrow:
            head = Text.assemble(name, "  ", *ranks)
            return [Text("\n").join((head, title, *named))]
        below = [_filled(named, self.room)] if named else []
        return [name, *ranks, Text("\n").join((title, *below))]


def _filled(named: list[Text], room: int) -> Text:
    """As many facts in a line as fit, so that no line ends between a name and what it names."""
    from rich.text import Text

    lines = named[:1]
    for fact in named[1:]:
        line = Text(", ").join((lines[-1], fact))
        if line.cell_len < room:  # a comma may follow
            lines[-1] = line
        else:
            lines.append(fact)
    return Text(",\n").join(lines)


def _widest(*texts: str) -> int:
    """Columns of the widest of these texts, as a terminal shows them."""
    from rich.cells import cell_len

    return max(cell_len(_clean(text)) for text in texts)


def _fact(column: _Column, task: Task) -> Text:
    from rich.text import Text

    style = _STYLES[task.status] if column is _COLUMNS[0] else column.style
    return Text(_clean(column.value(task)), style)


def _priority(task: Task) -> str:
    return f"P{task.priority}" if task.priority is not None else "-"


def _none(listing: Listing) -> str:
    return nothing_is(listing.what, listing.tracker)


def _clean(text: str) -> str:
    """Text of anybody's in one line: no secret, and nothing that hides, moves, or passes for ours."""
    return as_data(redact(text))


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()
