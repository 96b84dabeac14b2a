"""What the tables on a terminal are made with; whoever imports it draws, since it loads rich."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lifecycle.cli import terminal


def fitted(console: Console | None, widest: int) -> tuple[Console, int]:
    """The console, standard output unless one is given, and how many of its columns are used."""
    console = console or terminal.console()
    return console, min(console.width, widest)


def grid(
    widths: Iterable[int | None],
    rows: Iterable[Sequence[Text]],
    head: Sequence[str] = (),
    overflow: Literal["fold", "ellipsis"] = "fold",
) -> Table:
    """Rows over the whole width.

    Args:
        widths: of the columns; what is left is shared by those with None.
        rows: the cells.
        head: the columns' names, if they have some.
        overflow: what becomes of a word that is wider than its column.
    """
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    for width in widths:
        table.add_column(width=width, ratio=None if width else 1, overflow=overflow)
    for cells in ([Text(word, "dim") for word in head] if head else (), *rows):
        if cells:
            table.add_row(*cells)
    return table
