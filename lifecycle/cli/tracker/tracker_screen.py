"""Draws lists of tasks on a terminal with rich, as a table."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from lifecycle.cli.terminal import Column, fitted, table
from lifecycle.cli.tracker.tracker_values import COLUMNS, Listing, priority_of, word_of
from lifecycle.core.tracker import Task, TaskStatus

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
    shown = fitted(console)
    shown.print(Text.assemble((listing.tracker, "bold"), f"  {listing.head}"))
    status, *facts = COLUMNS
    columns = [
        Column("task", lambda task: task.id, "bold"),
        Column("", _rank),
        Column("", lambda task: task.title, most=None),
    ]
    if len(set(map(word_of, listing.tasks))) > 1:  # else all are equal, and the heading says so
        word = status.cell
        columns.append(
            status._replace(cell=lambda task: Text(str(word(task)), _STYLES[task.status]))
        )
    if listing.tasks:
        shown.print()
        shown.print(table(shown, [*columns, *facts], listing.tasks))
    if listing.more:
        shown.print(Text(listing.more, "dim"))


def _rank(task: Task) -> Text:
    rank = priority_of(task) if task.priority is not None else ""
    return Text(rank, "yellow" if task.priority in (0, 1) else "dim")
