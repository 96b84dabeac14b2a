"""The bench of a sweep measures what it says. Nothing here depends on how fast the machine is."""

from __future__ import annotations

import io
import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.bench import bench, measured
from tests.bench.large import (
    DRY,
    EVERY,
    LABELS,
    MENDED,
    SHARDED,
    STILL,
    Swept,
    judge_large,
    large_rows,
)

SIZE = 100


def row(name: str = STILL, tasks: int = 1_000, **changes: Any) -> Swept:
    """One run of which nothing is to be said."""
    found = tasks // EVERY if name in (DRY, MENDED) else 0
    fine = Swept(name, tasks, 20, 11, 11, 31, 1.5, 0.5, 50_000_000, 0.0, found)
    return replace(fine, **changes)


NONE = row(tasks=0, peak=45_000_000, floor=2, requests=2, cpu=0.3)
TENFOLD = row(tasks=10_000, floor=108, requests=108, peak=60_000_000, cpu=2.0)


@pytest.mark.soak("reconcile/test_scale.py::test_a_sweep_stays_near_the_floor")
def test_every_case_is_measured_and_within_its_limits(tmp_path: Path) -> None:
    """On a GitHub of its own: the run that repairs really does, and the next one finds nothing."""
    rows = large_rows(tmp_path, [SIZE])
    assert [(one.tasks, one.name) for one in rows] == [
        (0, STILL),
        *((SIZE, name) for name in (DRY, MENDED, STILL, SHARDED, LABELS)),
    ]
    assert judge_large(rows) == []
    assert [one.found for one in rows] == [0, 1, 1, 0, 0, 0]
    assert all(one.seconds >= one.cpu > 0 for one in rows)
    console = Console(width=140, file=io.StringIO())
    with console.capture() as captured:
        console.print(bench.large_table(rows))
    assert all(one.name in captured.get() for one in rows)


def test_all_well_is_no_fault() -> None:
    """Requests at the floor, findings as many as cards are behind, and memory that grows slowly."""
    rows = [NONE, row(DRY), row(MENDED), row(), row(SHARDED), TENFOLD]
    assert judge_large(rows) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (row(requests=15), f"reconcile, 1,000 tasks, {STILL}: 15 requests, 1.36 of the floor"),
        (row(found=2), f"reconcile, 1,000 tasks, {STILL}: 2 findings, and there should be 0"),
        (row(DRY, found=0), f"reconcile, 1,000 tasks, {DRY}: 0 findings, and there should be 10"),
        (row(MENDED, requests=33, floor=31), ""),
    ],
)
def test_a_run_that_asks_too_much_or_finds_the_wrong_is_a_fault(wrong: Swept, said: str) -> None:
    """More than 1.3 requests for each of the floor fail the bench, and so does a wrong count."""
    assert judge_large([NONE, wrong]) == ([said] if said else [])


def test_memory_that_grows_with_the_tasks_is_a_fault() -> None:
    """Ten times the tasks may not need ten times what a run has above one without a task."""
    greedy = replace(TENFOLD, peak=96_000_000)
    assert judge_large([NONE, row(), greedy]) == ["reconcile, 10,000 tasks: memory grew 10.2 times"]
    assert judge_large([NONE, row(tasks=100), row(), TENFOLD]) == []


def test_a_sweep_that_computes_too_much_is_a_fault() -> None:
    """Its own share of the time is held against what a run needs that finds nothing at all."""
    slow = replace(TENFOLD, cpu=4.5)
    (fault,) = judge_large([NONE, row(), slow])
    assert fault == "reconcile, 10,000 tasks computes 15.0 times what one without any does"


def test_memory_is_the_commands_own(tmp_path: Path) -> None:
    """What whoever measures holds itself is not in it; exit code and output are the command's."""
    command = [sys.executable, "-I", "-S", "-c", "print('said'); raise SystemExit(3)"]
    output = tmp_path / "output"
    small = [sys.executable, "-I", "-S", str(measured.__file__), str(output), *command]
    ran = subprocess.run(small, env=dict(os.environ), check=True, capture_output=True, text=True)
    took = json.loads(ran.stdout)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * measured.KILOBYTE
    assert took["code"] == 3
    assert output.read_text() == "said\n"
    assert 0 < took["peak"] < own / 2
