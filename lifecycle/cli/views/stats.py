"""`lifecycle stats`: times, attempts and bottlenecks, from the journal. No network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lifecycle.cli.command_session import Session
from lifecycle.cli.main import read_by
from lifecycle.cli.terminal import Column, fitted, styled, table
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

KINDS = {"period": read_by(lambda text: (text, moment(text, timing.SystemClock().now())))}
"""Click's types for words on the command line, beside those of `main.py`."""


def command(
    session: Session, *, since: tuple[str, float] | None, label: str, task: str, page: Path | None
) -> int:
    """Show how long tasks stay in each stage and phase, how often they move onward, and what causes delays.

    All worktrees of this clone count. A stage's time begins when the task enters it and ends when it
    leaves. A silence of more than two hours in between is time away (a closed laptop) and is shown
    separately; phases that wait for reviews and CI count in full. "9 of 10 within" is the time that nine
    of ten visits did not exceed. An attempt at a stage ends with a step onward, a report that was not
    accepted, a red run of its tests, a release, or another step back. For a label, an agent or a task,
    "failed" counts the attempts that did not lead onward.
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
        from lifecycle.views.stats.stats_page import render

        page.write_text(render(summary, _about(period, wanted)), encoding="utf-8")
        data["page"] = str(page.absolute())
    if session.as_json:
        return session.show([], data)
    show(summary, is_told=bool(task))
    if page is not None:
        click.echo(f"The page is {visible(data['page'])}")
    return 0


def _about(since: str, wanted: Wanted) -> str:
    about = f"task {wanted.task}" if wanted.task else "all tasks"
    about += f" with the label {wanted.label}" if wanted.label else ""
    return f"{about} since {since}" if since else about


def _nothing(total: int, since: str, wanted: Wanted, page: Path | None, to_claim: str) -> str:
    unwritten = "; no page was written" if page is not None else ""
    if not total:
        return (
            f"Nothing is in the journal of this clone yet{unwritten}; claims and the staged workflow "
            f"write to it, so begin with: {to_claim}"
        )
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
    names = {"times": "seconds", "success": "success_rate"}
    return {names.get(key, key): value for key, value in asdict(group).items()}


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


TASKS = 10
"""How many tasks have their own row, the newest; and how many labels, agents and flakes."""


def _span(seconds: float | None, unknown: str = "-") -> str:
    return unknown if seconds is None else span(seconds)


def _figure(head: str, cell: Callable[[Any], str]) -> Column:
    return Column(head, cell, justify="right")


_MEDIAN = _figure("median", lambda row: span(row.times.median) if row.times.count else "-")
_ROWS = (
    _figure("visits", lambda row: str(row.visits)),
    _MEDIAN,
    _figure("mean", lambda row: span(row.times.mean) if row.times.count else "-"),
    _figure("9 of 10", lambda row: span(row.times.p90) if row.times.count else "-"),
    _figure("attempts", lambda row: str(row.attempts)),
    _figure("success", lambda row: part(row.success)),
    _figure("away", lambda row: _span(row.away or None, "")),
)
_GROUPS = (
    _figure("tasks", lambda group: str(group.tasks)),
    _figure("done", lambda group: str(group.done)),
    _MEDIAN,
    _figure("failed", lambda group: str(group.attempts - group.passed)),
    _figure("success", lambda group: part(group.success)),
)
_FLAKES = (
    Column("flake", lambda flake: f"{flake.check}: {flake.failed}".removesuffix(": "), most=None),
    _figure("times", lambda flake: str(flake.times)),
    _figure("last (UTC)", lambda flake: minute(flake.last)),
)
_TOLD = (
    Column("stage, phase or story", lambda visit: visit.stage, most=None),
    _figure("entered (UTC)", lambda visit: "?" if visit.began is None else minute(visit.began)),
    _figure("time", lambda visit: "lasts" if visit.ended is None else _span(visit.seconds, "?")),
    _figure("attempts", lambda visit: str(visit.attempts)),
    Column("then", lambda visit: visit.target or "-"),
)


def show(summary: Summary, *, is_told: bool) -> None:
    """Print the tables; with `is_told` the table of all visits, too."""
    shown = fitted()
    head = f"{count(len(summary.tasks), 'task')}, {len(summary.done)} done"
    period = f"{minute(summary.since)} to {minute(summary.until)} UTC"
    about = styled(f"  {period}" if summary.entries else "")
    shown.print(styled("").join((styled(head, "bold"), about)))
    titles, done = summary.tasks, summary.done
    for title, rows in (("stage", summary.stages), ("phase of a claim", summary.phases)):
        _print(shown, (Column(title, lambda row: row.name, most=None), *_ROWS), rows)
    if summary.bottlenecks:
        shown.print()
        shown.print(styled("what holds work up", "bold"))
        for number, bottleneck in enumerate(summary.bottlenecks, 1):
            text = f"{number}. {bottleneck.name}: {'; '.join(bottleneck.why)}"
            shown.print(styled(visible(text)))
    for title, groups in (("label", summary.labels), ("agent", summary.agents)):
        named = Column(title, lambda group: group.name, most=None)
        # An agent's name is a claim's: there is a different one for each task.
        _print(shown, (named, *_GROUPS), groups, TASKS)
    _print(shown, _FLAKES, summary.flakes, TASKS)
    of_tasks = (
        Column("task", lambda id_: f"{id_} {titles[id_]}".strip(), most=None),
        _figure("time", lambda id_: _span(summary.spent.get(id_))),
        _figure("failed", lambda id_: str(summary.failed.get(id_, "-"))),
        _figure("done (UTC)", lambda id_: minute(done[id_]) if id_ in done else "-"),
    )
    _print(shown, of_tasks, [*titles][::-1], TASKS)
    _print(shown, _TOLD, summary.told if is_told else ())


def _print(
    console: Console, columns: Sequence[Column], rows: Sequence[Any], most: int | None = None
) -> None:
    """Print a table below an empty line, with at most that many rows and a line about the rest."""
    if not rows:
        return
    console.print()
    console.print(table(console, columns, rows[:most]))
    if most is not None and len(rows) > most:
        console.print(styled(f"and {len(rows) - most} more: --json has all", "dim"))
