"""The tables of `lifecycle stats` on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lifecycle.cli.terminal import fitted
from lifecycle.core.messages.figures import count, minute, part, span
from lifecycle.core.redact import visible
from lifecycle.views.stats.summary import StatsRow, Summary

WIDTH = 120
"""Columns at most."""

TASKS = 10
"""How many tasks have a row of their own: the newest."""

VISITS, AWAY, MEAN = 64, 74, 84
"""From so many columns of the terminal on, visits, time away and mean have columns of their own."""


class _Figure(NamedTuple):
    """A column: its head, its cell in a row, and from how many columns of the terminal on it is there."""

    head: str
    cell: Callable[[Any], str | Text]
    least: int = 0


def _span(seconds: float | None, unknown: str = "-") -> str:
    return unknown if seconds is None else span(seconds)


_ROWS = (
    _Figure("visits", lambda row: str(row.visits), VISITS),
    _Figure("median", lambda row: span(row.times.median) if row.times.count else "-"),
    _Figure("mean", lambda row: span(row.times.mean) if row.times.count else "-", MEAN),
    _Figure("9 of 10", lambda row: span(row.times.p90) if row.times.count else "-"),
    _Figure("away", lambda row: _span(row.away or None), AWAY),
    _Figure("tries", lambda row: str(row.attempts)),
    _Figure("success", lambda row: part(row.success)),
)
_GROUPS = (
    _Figure("tasks", lambda group: str(group.tasks)),
    _Figure("done", lambda group: str(group.done)),
    _Figure("median", lambda group: span(group.times.median) if group.times.count else "-"),
    _Figure("failed", lambda group: str(group.attempts - group.passed), VISITS),
    _Figure("success", lambda group: part(group.success)),
)
_FLAKES = (
    _Figure("flake", lambda flake: _name(f"{flake.check}: {flake.failed}".removesuffix(": "))),
    _Figure("times", lambda flake: str(flake.times)),
    _Figure("last (UTC)", lambda flake: minute(flake.last), AWAY),
)
_TOLD = (
    _Figure("stage or phase", lambda visit: visit.stage),
    _Figure("entered (UTC)", lambda visit: "?" if visit.began is None else minute(visit.began)),
    _Figure("time", lambda visit: "lasts" if visit.ended is None else _span(visit.seconds, "?")),
    _Figure("tries", lambda visit: str(visit.attempts), AWAY),
    _Figure("then", lambda visit: visible(visit.target) or "-", AWAY),
)


def _of_tasks(summary: Summary, width: int) -> tuple[_Figure, ...]:
    """The columns on tasks by their ids: title, time taken, and how many tries failed."""
    titles, done = summary.tasks, summary.done
    return (
        _Figure("task", lambda id_: _name(f"{id_} {titles[id_]}".strip(), width // 2)),
        _Figure("time", lambda id_: _span(summary.spent.get(id_))),
        _Figure("failed", lambda id_: str(summary.failed.get(id_, "-"))),
        _Figure("done (UTC)", lambda id_: minute(done[id_]) if id_ in done else "-", AWAY),
    )


def _name(text: str, longest: int | None = None) -> Text:
    name = Text(visible(text))
    name.truncate(longest or name.cell_len, overflow="ellipsis")
    return name


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
        _print(shown, (_Figure(title, lambda row: row.name), *_with_values(rows)), rows)
    every = _with_values((*summary.stages, *summary.phases))
    without_room = [figure.head for figure in every if width < figure.least]
    if without_room:
        text = f"No room for: {', '.join(without_room)}; a wider terminal or --json has all."
        shown.print(Text(text, "dim"), width=width)
    if summary.bottlenecks:
        shown.print()
        shown.print(Text("what holds work up", "bold"))
        for number, bottleneck in enumerate(summary.bottlenecks, 1):
            text = f"{number}. {bottleneck.name}: {'; '.join(bottleneck.why)}"
            shown.print(Text(visible(text)), width=width)
    for title, groups in (("label", summary.labels), ("agent", summary.agents)):
        _print(shown, (_Figure(title, lambda group: _name(group.name)), *_GROUPS), groups)
    _print(shown, _FLAKES, summary.flakes, TASKS)
    _print(shown, _of_tasks(summary, width), [*summary.tasks][::-1], TASKS)
    if is_told:
        _draw(shown, _TOLD, summary.told)


def _with_values(rows: Sequence[StatsRow]) -> list[_Figure]:
    """The columns on stages; the time away only if a row has some."""
    has_away = any(row.away for row in rows)
    return [figure for figure in _ROWS if has_away or figure.head != "away"]


def _print(
    console: Console, figures: Sequence[_Figure], rows: Sequence[Any], most: int | None = None
) -> None:
    """Print a table; nothing if it has no row."""
    if rows:
        _draw(console, figures, rows, most)


def _draw(
    console: Console, figures: Sequence[_Figure], rows: Sequence[Any], most: int | None = None
) -> None:
    """Print a table below an empty line, of at most so many rows and one on the rest."""
    width = min(console.width, WIDTH)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    kept = [figure for figure in figures if width >= figure.least]
    table.add_column(kept[0].head, overflow="fold")
    for figure in kept[1:]:
        table.add_column(figure.head, justify="right", no_wrap=True)
    for row in rows[:most]:
        table.add_row(*(figure.cell(row) for figure in kept))
    if most is not None and len(rows) > most:
        table.add_row(Text(f"and {len(rows) - most} more: --json has all", "dim"))
    console.print()
    console.print(table, width=width)
