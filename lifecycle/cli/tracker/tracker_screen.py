"""Draws lists of tasks on a terminal with rich: as a table, or as blocks where it is narrow."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lifecycle.cli.terminal import fitted, grid, one_line
from lifecycle.cli.tracker.tracker_values import COLUMNS, Column, Listing, priority_of
from lifecycle.core.tracker import Task, TaskStatus

WIDTH = 140
"""Columns at most: further apart, the cells of a row lose each other."""

WIDE = 100
"""From so many columns of the terminal on, a task may have all of its facts in one row."""

NARROW = 60
"""Below so many, a task is a block of lines."""

TITLE = 32
"""Columns that a title gets at least; where there are fewer, the other facts go below it."""

_STYLES = {
    TaskStatus.OPEN: "green",
    TaskStatus.IN_PROGRESS: "cyan",
    TaskStatus.BLOCKED: "yellow",
    TaskStatus.DEFERRED: "dim",
    TaskStatus.CLOSED: "dim",
    TaskStatus.OTHER: "",
}


def draw(listing: Listing, console: Console | None = None) -> None:
    """Print a listing of tasks, to standard output unless a console is given."""
    shown = fitted(console, WIDTH)
    shown.print(Text.assemble((listing.tracker, "bold"), f"  {listing.head}"))
    if listing.tasks:
        shown.print()
        shown.print(_TaskForm(listing.tasks, shown.width).table(listing.tasks))
    if listing.more:
        shown.print(Text(listing.more, "dim"))


class _TaskForm:
    """The layout of a list of tasks on so many columns; one for all rows, so that columns meet.

    Attributes:
        told: the facts beside id, priority and title, each with its width in columns.
        names: width of an id.
        room: width of a title, where the facts are below it.
        has_ranks: some task has a priority.
        is_wide: the facts have columns of their own; else they are below the title.
        is_narrow: a task is a block of lines.
    """

    def __init__(self, tasks: tuple[Task, ...], width: int) -> None:
        columns = [column for column in COLUMNS if any(column.value(task) for task in tasks)]
        if len({COLUMNS[0].value(task) for task in tasks}) == 1:
            columns.remove(COLUMNS[0])  # all stand alike, and the head says how
        widest = {column: _widest(*map(column.value, tasks)) for column in columns}
        self.told = {
            column: min(max(_widest(column.name), most), column.most)
            for column, most in widest.items()
        }
        self.names = min(_widest("task", *(task.id for task in tasks)), width // 3)
        self.has_ranks = any(task.priority is not None for task in tasks)
        self.room = width - self.names - (6 if self.has_ranks else 2)
        self.is_narrow = width < NARROW
        room_left = width - self.names - 6 - sum(size + 2 for size in self.told.values())
        self.is_wide = width >= WIDE and room_left >= TITLE
        if self.is_wide:  # what titles do not need goes to facts that would be broken
            spare = room_left - max(TITLE, _widest(*(task.title for task in tasks)))
            for column, most in widest.items():
                more = max(min(most - self.told[column], spare), 0)
                self.told[column] += more
                spare -= more

    def table(self, tasks: tuple[Task, ...]) -> Table:
        """The table of these tasks, with a head where the facts have columns."""
        ranks = [2] if self.has_ranks else []
        widths: list[int | None] = [] if self.is_narrow else [self.names, *ranks]
        widths += [None, *(self.told.values() if self.is_wide else ())]
        names = [column.name for column in self.told]
        head = ["task", *("" for _ in ranks), "", *names] if self.is_wide else ()
        return grid(widths, map(self._cells, tasks), head)

    def _cells(self, task: Task) -> list[Text]:
        name, title = Text(one_line(task.id), "bold"), Text(one_line(task.title))
        rank = Text(priority_of(task), "yellow" if task.priority in (0, 1) else "dim")
        ranks = [rank] if self.has_ranks else []
        facts = {column.name: _fact(column, task) for column in self.told}
        if self.is_wide:
            return [name, *ranks, title, *facts.values()]
        labelled = [
            Text.assemble((f"{word} ", "dim"), fact) for word, fact in facts.items() if fact.plain
        ]
        if self.is_narrow:
            head = Text.assemble(name, "  ", *ranks)
            return [Text("\n").join((head, title, *labelled))]
        below = [_filled(labelled, self.room)] if labelled else []
        return [name, *ranks, Text("\n").join((title, *below))]


def _filled(facts: list[Text], room: int) -> Text:
    """Join facts with commas into lines of `room` columns; no fact is broken between name and value."""
    lines = facts[:1]
    for fact in facts[1:]:
        line = Text(", ").join((lines[-1], fact))
        if line.cell_len < room:  # a comma may follow
            lines[-1] = line
        else:
            lines.append(fact)
    return Text(",\n").join(lines)


def _widest(*texts: str) -> int:
    """Columns of the widest of these texts, as a terminal shows them."""
    return max(cell_len(one_line(text)) for text in texts)


def _fact(column: Column, task: Task) -> Text:
    style = _STYLES[task.status] if column is COLUMNS[0] else column.style
    return Text(one_line(column.value(task)), style)
