"""Draws a run's status and progress on a terminal with rich, as wide as that allows."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from lifecycle.cli.terminal import fitted, grid
from lifecycle.run.texts.report_text import StatusView
from lifecycle.run.texts.told import numbered

WIDTH = 160
"""Columns at most: further apart, the cells of a row lose each other."""

WIDE = 110
"""From so many columns on, checks and gates have columns of their own."""

_STYLES = {
    **dict.fromkeys(("in_progress", "testing", "review"), "cyan"),
    "completed": "green",
    "blocked": "yellow",
}
_STATUS, _QUIET = 3, (6, 7)
"""Columns of a story's row: its status, and those that are dimmed, checks and gates."""
_TIME = 20


def draw_status(view: StatusView) -> None:
    """Print a run as tables."""
    shown, width = fitted(None, WIDTH)
    facts = [(Text(name, "dim"), Text(value)) for name, value in view.facts]
    shown.print(grid((max(len(name) for name, _ in view.facts), None), facts), width=width)
    if view.stories:
        shown.print()
        _draw_stories(view.stories, shown, width)
    for name, lines in (("Blockers", view.blockers), ("Next steps", numbered(view.steps))):
        if lines:
            shown.print()
            shown.print(Text(name, "bold"))
            shown.print(Text("\n".join(lines)), width=width)
    for note in (view.left_out, *view.notes):
        if note:
            shown.print(Text(note, "dim"), width=width)


def draw_progress(lines: Sequence[str]) -> None:
    """Print lines of the progress file as a table."""
    shown, width = fitted(None, WIDTH)
    parts = [line.partition(" ") for line in lines]
    rows = [(Text(at, "dim"), Text(entry)) for at, _, entry in parts]
    shown.print(grid((_TIME, None), rows, ("when", "what")), width=width)


def _style(column: int, cell: str) -> str:
    return "dim" if column in _QUIET else _STYLES.get(cell, "") if column == _STATUS else ""


def _draw_stories(stories: Sequence[Sequence[str]], shown: Console, width: int) -> None:
    rows = [
        [Text(cell, _style(column, cell)) for column, cell in enumerate(story)] for story in stories
    ]
    if width >= WIDE:
        widths = (5, None, 4, 11, 8, 4, 30, 16, 5)
        head = ("#", "story", "size", "status", "tdd", "iter", "checks", "gates", "AC")
        shown.print(grid(widths, rows, head), width=width)
        return
    narrow = [(row[0], Text.assemble(row[1], "\n", row[6]), row[3], row[4]) for row in rows]
    shown.print(grid((5, None, 11, 8), narrow, ("#", "story", "status", "tdd")), width=width)
