"""`lifecycle stats`: what the journal tells of times, attempts and bottlenecks. No network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lifecycle.cli.command_session import Session
from lifecycle.cli.main import read_by
from lifecycle.cli.terminal import fitted, styled
from lifecycle.core import timing
from lifecycle.core.light_dataclass import asdict, fields_of
from lifecycle.core.messages.figures import count, minute, moment, part, span
from lifecycle.core.redact import visible
from lifecycle.storage import journal
from lifecycle.trackers import registry
from lifecycle.views.stats.summary import Group, StatsRow, Summary, Wanted
from lifecycle.views.stats.visits import Visit

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

EMPTY = (
    "Nothing is in the journal of this clone yet; it fills while claims and the staged workflow are at "
    "work, so begin with: "
)


KINDS = {"period": read_by(lambda text: (text, moment(text, timing.SystemClock().now())))}
"""Click's types for words on the command line, beside those of `main.py`."""


def command(
    session: Session, *, since: tuple[str, float] | None, label: str, task: str, page: Path | None
) -> int:
    """Show how long tasks are in each stage and phase, how often that led onward, and what holds work up.

    All worktrees of this clone count. A stage's time begins when the task enters it and ends when it
    goes on. A silence of more than two hours in between is time away (a closed laptop) and is shown
    beside it; phases that wait for reviews and CI are counted whole. "9 of 10 within" is the time that
    nine of ten visits did not exceed. A try of a stage ends with a step onward, a report that was not
    accepted, a red run of its tests, a release, or a step back that none of those explains. Of a label, an
    agent and a task "failed" counts the tries that did not lead onward.
    """
    period, start = since or ("", float("-inf"))
    entries = journal.read(session.root)
    wanted = Wanted(start, label, task)
    summary = Summary(entries, wanted)
    data = {**summary_data(summary), "page": None}
    if not summary.entries and not summary.told:
        text = _nothing(len(entries), period, wanted, page, registry.to_claim(session.world))
        return session.show([text], data)
    if page is not None:
        from lifecycle.views.stats.stats_page import write

        write(page, summary, _about(period, wanted))
        data["page"] = str(page.absolute())
    if session.as_json:
        return session.show([], data)
    show(summary, is_told=bool(task))
    if page is not None:
        click.echo(f"The page is {visible(data['page'])}")
    return 0


def _about(since: str, wanted: Wanted) -> str:
    parts = [
        f"task {wanted.task}" if wanted.task else "all tasks",
        f"with the label {wanted.label}" if wanted.label else "",
        f"since {since}" if since else "",
    ]
    return " ".join(part for part in parts if part)


def _nothing(total: int, since: str, wanted: Wanted, page: Path | None, to_claim: str) -> str:
    unwritten = "; no page was written" if page is not None else ""
    if not total:
        return EMPTY.replace(" yet;", f" yet{unwritten};", 1) + to_claim
    return (
        f"Nothing in the journal fits {_about(since, wanted)}{unwritten}; it has "
        f"{count(total, 'entry', 'entries')}: leave out --since, --label or --task to see more."
    )


def summary_data(summary: Summary) -> dict[str, Any]:
    """The summary for `--json`: seconds as numbers, moments as ISO 8601, shares from 0 to 1."""
    return {
        "since": _at(summary.since if summary.entries else None),
        "until": _at(summary.until if summary.entries else None),
        "entries": summary.entries,
        "tasks": [_task_data(summary, name) for name in summary.tasks],
        "tasks_done": len(summary.done),
        "stages": [_row_data(row) for row in summary.stages],
        "phases": [_row_data(row) for row in summary.phases],
        "bottlenecks": [fields_of(row, "name", "system", "why") for row in summary.bottlenecks],
        "labels": [_group_data(group) for group in summary.labels],
        "agents": [_group_data(group) for group in summary.agents],
        "flakes": [{**asdict(flake), "last": _at(flake.last)} for flake in summary.flakes],
        "lasting": [_visit_data(visit) for visit in summary.lasting],
    }


def _task_data(summary: Summary, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "title": summary.tasks[name] or None,
        "done": _at(summary.done.get(name)),
        "seconds": summary.spent.get(name),
        "attempts": summary.tries.get(name, 0),
        "passed": summary.tries.get(name, 0) - summary.failed.get(name, 0),
        "visits": [_visit_data(visit) for visit in summary.told if visit.task == name],
    }


def _row_data(row: StatsRow) -> dict[str, Any]:
    return {
        **fields_of(row, "name", "visits"),
        "seconds": asdict(row.times),
        **fields_of(row, "share", "tasks", "attempts", "passed", away_seconds="away"),
        **fields_of(row, success_rate="success", attempts_per_task="per_task"),
        "hardest": {"task": row.hardest, "attempts": row.most} if row.hardest else None,
    }


def _group_data(group: Group) -> dict[str, Any]:
    fields = {"seconds" if key == "times" else key: value for key, value in asdict(group).items()}
    return {**fields, "success_rate": group.success}


def _visit_data(visit: Visit) -> dict[str, Any]:
    return {
        **fields_of(visit, system="system", stage="stage", task="task?", agent="actor?"),
        "began": _at(visit.began),
        "ended": _at(visit.ended),
        **fields_of(visit, seconds="seconds", away_seconds="away", attempts="attempts"),
        **fields_of(visit, "is_passed", "target?"),
    }


def _at(moment: float | None) -> str | None:
    return None if moment is None else timing.render_time(moment)


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
    _Figure("stage, phase or story", lambda visit: _name(visit.stage)),
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
    name = styled(visible(text))
    name.truncate(longest or name.cell_len, overflow="ellipsis")
    return name


def show(summary: Summary, *, is_told: bool, console: Console | None = None) -> None:
    """Print the tables, to standard output unless a console is given.

    Args:
        summary: the numbers.
        is_told: print the table of all visits as well.
        console: to print on.
    """
    shown = fitted(console, WIDTH)
    head = f"{count(len(summary.tasks), 'task')}, {len(summary.done)} done"
    period = f"{minute(summary.since)} to {minute(summary.until)} UTC"
    about = styled(f"  {period}" if summary.entries else "")
    shown.print(styled("").join((styled(head, "bold"), about)))
    without_room: list[str] = []
    for title, rows in (("stage", summary.stages), ("phase of a claim", summary.phases)):
        figures = (_Figure(title, lambda row: row.name), *_with_values(rows))
        without_room += _print(shown, figures, rows)
    if summary.bottlenecks:
        shown.print()
        shown.print(styled("what holds work up", "bold"))
        for number, bottleneck in enumerate(summary.bottlenecks, 1):
            text = f"{number}. {bottleneck.name}: {'; '.join(bottleneck.why)}"
            shown.print(styled(visible(text)))
    for title, groups in (("label", summary.labels), ("agent", summary.agents)):
        figures = (_Figure(title, lambda group: _name(group.name)), *_GROUPS)
        without_room += _print(shown, figures, groups)
    without_room += _print(shown, _FLAKES, summary.flakes, TASKS)
    newest_first = [*summary.tasks][::-1]
    without_room += _print(shown, _of_tasks(summary, shown.width), newest_first, TASKS)
    if is_told and summary.told:
        without_room += _draw(shown, _TOLD, summary.told)
    if without_room:
        heads = ", ".join(dict.fromkeys(without_room))
        shown.print(styled(f"No room for: {heads}; a wider terminal or --json has all.", "dim"))


def _with_values(rows: Sequence[StatsRow]) -> list[_Figure]:
    """The columns on stages; the time away only if a row has some."""
    has_away = any(row.away for row in rows)
    return [figure for figure in _ROWS if has_away or figure.head != "away"]


def _print(
    console: Console, figures: Sequence[_Figure], rows: Sequence[Any], most: int | None = None
) -> list[str]:
    """Print a table, nothing if it has no row; returns the heads of the columns that had no room."""
    return _draw(console, figures, rows, most) if rows else []


def _draw(
    console: Console, figures: Sequence[_Figure], rows: Sequence[Any], most: int | None = None
) -> list[str]:
    """Print a table below an empty line, of at most so many rows and one on the rest; as `_print`."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    kept = [figure for figure in figures if console.width >= figure.least]
    table.add_column(kept[0].head, overflow="fold")
    for figure in kept[1:]:
        table.add_column(figure.head, justify="right", no_wrap=True)
    for row in rows[:most]:
        table.add_row(*(figure.cell(row) for figure in kept))
    if most is not None and len(rows) > most:
        table.add_row(styled(f"and {len(rows) - most} more: --json has all", "dim"))
    console.print()
    console.print(table)
    return [figure.head for figure in figures if figure not in kept]
