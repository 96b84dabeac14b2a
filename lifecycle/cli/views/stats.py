"""`lifecycle stats`: what the journal tells of times, attempts and bottlenecks. No network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from lifecycle.cli.command_session import Session
from lifecycle.cli.main import read_by
from lifecycle.core import timing
from lifecycle.core.light_dataclass import asdict
from lifecycle.core.messages.figures import count, moment
from lifecycle.core.redact import visible
from lifecycle.storage import journal
from lifecycle.views.stats.summary import Group, StatsRow, Summary, Wanted
from lifecycle.views.stats.visits import Visit

EMPTY = (
    "Nothing is in the journal of this clone yet; it fills while claims and the staged workflow are at "
    "work, so begin with: lifecycle claim <number>"
)


KINDS = {"period": read_by(lambda text: (text, moment(text, timing.SystemClock().now())))}
"""Click's types for words on the command line, beside those of `main.py`."""


def command(
    session: Session,
    *,
    since: tuple[str, float] | None,
    label: str | None,
    task: str | None,
    page: Path | None,
) -> None:
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
    wanted = Wanted(start, label or "", task or "")
    summary = Summary(entries, wanted)
    if not summary.entries and not summary.told:
        session.show(
            [_nothing(len(entries), period, wanted, page)], {**summary_data(summary), "page": None}
        )
        return
    if page is not None:
        from lifecycle.views.stats.stats_page import write

        write(page, summary, _about(period, wanted))
    where = os.fspath(page.absolute()) if page is not None else None
    if session.as_json:
        session.show([], {**summary_data(summary), "page": where})
        return
    from lifecycle.cli.views.stats_screen import show

    show(summary, is_told=bool(task))
    if where is not None:
        click.echo(f"The page is {visible(where)}")


def _about(since: str, wanted: Wanted) -> str:
    parts = [
        f"task {wanted.task}" if wanted.task else "all tasks",
        f"with the label {wanted.label}" if wanted.label else "",
        f"since {since}" if since else "",
    ]
    return " ".join(part for part in parts if part)


def _nothing(total: int, since: str, wanted: Wanted, page: Path | None) -> str:
    unwritten = "; no page was written" if page is not None else ""
    if not total:
        return EMPTY.replace(" yet;", f" yet{unwritten};", 1)
    return (
        f"Nothing in the journal fits {_about(since, wanted)}{unwritten}; it has "
        f"{count(total, 'entry', 'entries')}: leave out --since, --label or --task to see more."
    )


def summary_data(summary: Summary) -> dict[str, Any]:
    """The summary for `--json`: seconds as numbers, moments as ISO 8601, shares from 0 to 1."""
    is_empty = not summary.entries
    return {
        "since": None if is_empty else timing.render_time(summary.since),
        "until": None if is_empty else timing.render_time(summary.until),
        "entries": summary.entries,
        "tasks": [_task_data(summary, name) for name in summary.tasks],
        "tasks_done": len(summary.done),
        "stages": [_row_data(row) for row in summary.stages],
        "phases": [_row_data(row) for row in summary.phases],
        "bottlenecks": [
            {"name": bottleneck.name, "system": bottleneck.system, "why": list(bottleneck.why)}
            for bottleneck in summary.bottlenecks
        ],
        "labels": [_group_data(group) for group in summary.labels],
        "agents": [_group_data(group) for group in summary.agents],
        "flakes": [
            {**asdict(flake), "last": timing.render_time(flake.last)} for flake in summary.flakes
        ],
        "lasting": [_visit_data(visit) for visit in summary.lasting],
    }


def _task_data(summary: Summary, name: str) -> dict[str, Any]:
    done = summary.done.get(name)
    return {
        "id": name,
        "title": summary.tasks[name] or None,
        "done": None if done is None else timing.render_time(done),
        "seconds": summary.spent.get(name),
        "attempts": summary.tries.get(name, 0),
        "passed": summary.tries.get(name, 0) - summary.failed.get(name, 0),
        "visits": [_visit_data(visit) for visit in summary.told if visit.task == name],
    }


def _row_data(row: StatsRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "visits": row.visits,
        "seconds": asdict(row.times),
        "away_seconds": row.away,
        "share": row.share,
        "tasks": row.tasks,
        "attempts": row.attempts,
        "passed": row.passed,
        "success_rate": row.success,
        "attempts_per_task": row.per_task,
        "hardest": {"task": row.hardest, "attempts": row.most} if row.hardest else None,
    }


def _group_data(group: Group) -> dict[str, Any]:
    fields = {"seconds" if key == "times" else key: value for key, value in asdict(group).items()}
    return {**fields, "success_rate": group.success}


def _visit_data(visit: Visit) -> dict[str, Any]:
    return {
        "system": visit.system,
        "stage": visit.stage,
        "task": visit.task or None,
        "agent": visit.actor or None,
        "began": None if visit.began is None else timing.render_time(visit.began),
        "ended": None if visit.ended is None else timing.render_time(visit.ended),
        "seconds": visit.seconds,
        "away_seconds": visit.away,
        "attempts": visit.attempts,
        "is_passed": visit.is_passed,
        "target": visit.target or None,
    }
