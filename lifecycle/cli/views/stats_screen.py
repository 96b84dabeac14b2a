"""The tables of `lifecycle stats` on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lifecycle.cli.terminal import fitted
from lifecycle.core.messages.figures import count, minute, part, span
from lifecycle.core.redact import visible
from lifecycle.views.stats.summary import Group, StatsRow, Summary
from lifecycle.views.stats.visits import Visit

WIDTH = 120
"""Columns at most."""

TASKS = 10
"""How many tasks have a row of their own: the newest."""

VISITS, AWAY, MEAN = 64, 74, 84
"""From so many columns of the terminal on, visits, time away and mean have columns of their own."""


def show(summary: Summary, *, is_told: bool, console: Console | None = None) -> None:
    """Print the tables, to standard output unless a console is given.

    Args:
        summary: the numbers.
        is_told: print the table of all visits as well.
        console: to print on.
    """
    shown, width = fitted(console, WIDTH)
    head = f"{count(len(summary.tasks), 'task')}, {len(summary.done)} done"
    period = f"{minute(summary.since)} to {minute(summary.until)} UTC"
    shown.print(Text.assemble((head, "bold"), f"  {period}" if summary.entries else ""))
    for title, rows in (("stage", summary.stages), ("phase of a claim", summary.phases)):
        if rows:
            _print(shown, width, _rows(title, rows, width))
    without_room = _hidden((*summary.stages, *summary.phases), width)
    if without_room:
        text = f"No room for: {', '.join(without_room)}; a wider terminal or --json has all."
        shown.print(Text(text, "dim"), width=width)
    if summary.bottlenecks:
        _print(shown, width, Text("what holds work up", "bold"))
        for number, bottleneck in enumerate(summary.bottlenecks, 1):
            text = f"{number}. {bottleneck.name}: {'; '.join(bottleneck.why)}"
            shown.print(Text(visible(text)), width=width)
    for title, groups in (("label", summary.labels), ("agent", summary.agents)):
        if groups:
            _print(shown, width, _groups(title, groups, width))
    lists = {_flakes: summary.flakes, _tasks: summary.tasks}
    for part_of in (draw for draw, rows in lists.items() if rows):
        _print(shown, width, part_of(summary, width))
    if is_told:
        _print(shown, width, _told(summary.told, width))


def _print(console: Console, width: int, part: Table | Text) -> None:
    """Print a part of the report, below an empty line."""
    console.print()
    console.print(part, width=width)


_NAMES = ("visits", "median", "mean", "9 of 10", "away", "tries", "success")


def _hidden(rows: Sequence[StatsRow], width: int) -> list[str]:
    """The names of columns that the width has no room for, though rows have values in them."""
    least = {"visits": VISITS, "mean": MEAN} | (
        {"away": AWAY} if any(row.away for row in rows) else {}
    )
    return [name for name, columns in least.items() if width < columns]


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _rows(title: str, rows: Sequence[StatsRow], width: int) -> Table:
    nothing = [] if any(row.away for row in rows) else ["away"]
    kept = [name for name in _NAMES if name not in (*_hidden(rows, width), *nothing)]
    table = _table(title, *kept)
    for row in rows:
        cells = _cells(row)
        table.add_row(row.name, *(cells[name] for name in kept))
    return table


def _cells(row: StatsRow) -> dict[str, str]:
    times = row.times
    spans = {"median": times.median, "mean": times.mean, "9 of 10": times.p90}
    return {name: span(value) if times.count else "-" for name, value in spans.items()} | {
        "visits": str(row.visits),
        "away": span(row.away) if row.away else "-",
        "tries": str(row.attempts),
        "success": part(row.success),
    }


def _groups(title: str, groups: Sequence[Group], width: int) -> Table:
    failed = ("failed",) if width >= VISITS else ()
    table = _table(title, "tasks", "done", "median", *failed, "success")
    for group in groups:
        median = span(group.times.median) if group.times.count else "-"
        vain = (str(group.attempts - group.passed),) if failed else ()
        counts = (str(group.tasks), str(group.done), median, *vain, part(group.success))
        table.add_row(Text(visible(group.name)), *counts)
    return table


def _flakes(summary: Summary, width: int) -> Table:
    """The table of checks that failed in CI and passed at the same commit."""
    table = _table("flake", "times", *(("last (UTC)",) if width >= AWAY else ()))
    for flake in summary.flakes[:TASKS]:
        name = f"{flake.check}: {flake.failed}" if flake.failed else flake.check
        last = (minute(flake.last),) if width >= AWAY else ()
        table.add_row(Text(visible(name)), str(flake.times), *last)
    return _with_more(table, len(summary.flakes) - TASKS)


def _tasks(summary: Summary, width: int) -> Table:
    """The table of the newest tasks: title, time taken, and how many tries failed."""
    is_wide = width >= AWAY
    table = _table("task", "time", "failed", *(("done (UTC)",) if is_wide else ()))
    newest = list(summary.tasks.items())[: -TASKS - 1 : -1]
    for name, title in newest:
        spent = span(summary.spent[name]) if name in summary.spent else "-"
        done = minute(summary.done[name]) if name in summary.done else "-"
        text = Text(visible(f"{name} {title}".strip()))
        text.truncate(width // 2, overflow="ellipsis")
        cells = (spent, str(summary.failed.get(name, "-")), *((done,) if is_wide else ()))
        table.add_row(text, *cells)
    return _with_more(table, len(summary.tasks) - len(newest))


def _with_more(table: Table, more: int) -> Table:
    """The table with a row on what it does not list."""
    if more > 0:
        table.add_row(Text(f"and {more} more: --json has all", "dim"))
    return table


def _told(visits: Sequence[Visit], width: int) -> Table:
    is_wide = width >= AWAY
    table = _table(
        "stage or phase", "entered (UTC)", "time", *(("tries", "then") if is_wide else ())
    )
    for visit in visits:
        began = "?" if visit.began is None else minute(visit.began)
        spent = "?" if visit.seconds is None else span(visit.seconds)
        cells = (str(visit.attempts), visible(visit.target) or "-") if is_wide else ()
        table.add_row(visit.stage, began, "lasts" if visit.ended is None else spent, *cells)
    return table
