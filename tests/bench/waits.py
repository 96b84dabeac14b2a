"""What waiting costs: requests, points and CPU of quiet worktrees in two minutes, one and fifty of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from lifecycle.sandbox.server import Sandbox
from tests.feedback.waiting_machine import EVERY, Machine, many_pulls
from tests.github.hub import PatientClock

COUNTS = (1, 10, 50)
ROUNDS = 4
MOST_REQUESTS = 2
"""In two minutes, of however many worktrees of one machine."""


@dataclass(frozen=True, slots=True)
class WaitCost:
    """What so many quiet worktrees cost in two minutes: requests, points and CPU seconds of all of them."""

    count: int
    requests: float
    points: float
    seconds: float


def wait_rows(folder: Path, counts: Sequence[int] = COUNTS) -> list[WaitCost]:
    """Each number of worktrees against a GitHub of its own."""
    return [_waited(folder / f"waits-{count}", count) for count in counts]


def _waited(home: Path, count: int) -> WaitCost:
    home.mkdir()
    with Sandbox(many_pulls()) as running:
        machine = Machine(running.info, home, PatientClock())
        del machine.worktrees[count:]
        machine.join()
        machine.spend(3 * EVERY)
        points, begun = machine.graph.points, time.thread_time()
        spent = [sum(machine.spend(EVERY)) for _ in range(ROUNDS)]
        seconds = (time.thread_time() - begun) / ROUNDS
        return WaitCost(
            count, sum(spent) / ROUNDS, (machine.graph.points - points) / ROUNDS, seconds
        )


def wait_table(rows: Sequence[WaitCost]) -> Table:
    """Requests, points and CPU time of two quiet minutes."""
    title = "quiet worktrees that wait, in two minutes"
    table = Table(title=title, title_justify="left")
    for name in ("worktrees", "requests", "points", "CPU ms of all"):
        table.add_column(name, justify="right")
    for row in rows:
        numbers = (f"{row.requests:.1f}", f"{row.points:.1f}", f"{row.seconds * 1e3:.0f}")
        table.add_row(str(row.count), *numbers)
    return table


def judge_waits(rows: Sequence[WaitCost]) -> list[str]:
    """Who takes more requests than waiting may, in words; empty if all is well."""
    return [
        f"{row.count} waiting worktrees take {row.requests:.1f} requests in two minutes"
        for row in rows
        if row.requests > MOST_REQUESTS
    ]
