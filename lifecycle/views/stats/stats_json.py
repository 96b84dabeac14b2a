"""The numbers of `lifecycle stats` as plain JSON values. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lifecycle.core import timing
from lifecycle.views.stats.summary import Group, StatsRow, Summary
from lifecycle.views.stats.visits import Visit


def as_json(summary: Summary) -> dict[str, Any]:
    """Everything that the tables show; seconds as numbers, moments as ISO 8601, parts from 0 to 1."""
    is_empty = not summary.entries
    return {
        "since": None if is_empty else timing.render_time(summary.since),
        "until": None if is_empty else timing.render_time(summary.until),
        "entries": summary.entries,
        "tasks": [_task(summary, name) for name in summary.tasks],
        "tasks_done": len(summary.done),
        "stages": [_row(row) for row in summary.stages],
        "phases": [_row(row) for row in summary.phases],
        "bottlenecks": [
            {"name": item.name, "system": item.system, "why": list(item.why)}
            for item in summary.bottlenecks
        ],
        "labels": [_group(item) for item in summary.labels],
        "agents": [_group(item) for item in summary.agents],
        "lasting": [_visit(item) for item in summary.lasting],
    }


def _task(summary: Summary, name: str) -> dict[str, Any]:
    done = summary.done.get(name)
    return {
        "id": name,
        "title": summary.tasks[name] or None,
        "done": None if done is None else timing.render_time(done),
        "seconds": summary.spent.get(name),
        "attempts": summary.tries.get(name, 0),
        "visits": [_visit(visit) for visit in summary.told if visit.task == name],
    }


def _row(row: StatsRow) -> dict[str, Any]:
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


def _group(group: Group) -> dict[str, Any]:
    named = {"seconds" if key == "times" else key: value for key, value in asdict(group).items()}
    return {**named, "success_rate": group.success}


def _visit(visit: Visit) -> dict[str, Any]:
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
