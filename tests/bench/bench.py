"""How fast the hooks are, and what a sweep costs: `make bench`.

Read the numbers as ratios: all of them are of one run on one machine. Exits 1 if a stop that has
nothing to do takes as long as Python's bare start, if one that the staged workflow looks at takes twice
the start of the installed command, if a check adds too much to its command, if a path or a sweep takes
more requests than it may, if what asks GitHub is slow to import, if a sweep's
memory grows as fast as the number of its tasks, or a log's with its
length, if a command of a run takes half as long again on 500 stories, if a start or a compaction with
200 files of workflows takes three starts of Python, if quiet worktrees that wait, or feedback's
commands, take too many requests, or if the process of a waiter holds or computes too much.
"""

from __future__ import annotations

import argparse
import compileall
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

# `python tests/bench/bench.py` puts this folder on the path, not the repository's root.
sys.path.insert(0, str(Path(__file__).parents[2]))

import lifecycle
from tests.bench.checked import judge_check
from tests.bench.feedback import feedback_rows, feedback_table, judge_feedback
from tests.bench.job_logs import judge_logs, log_rows, log_table
from tests.bench.large import MENDED, SIZES, Swept, judge_large, large_rows
from tests.bench.paths import (
    BUDGET,
    NO_OPS,
    PYTHON,
    QUIET,
    TRUE,
    UNCHANGED,
    Took,
    active_paths,
    quiet_probes,
)
from tests.bench.remote import LATENCY, MOST, MOST_GIT, POLL, Cost, Row, remote_rows
from tests.bench.runs import judge_runs, run_rows, run_table
from tests.bench.staged import START, judge_staged
from tests.bench.starts import judge_starts
from tests.bench.timing import interleaved
from tests.bench.views import judge_views
from tests.bench.waits import (
    WaiterHour,
    hour_table,
    judge_hour,
    judge_waits,
    wait_rows,
    wait_table,
    waiter_hour,
)
from tests.bench.workflows import judge_workflows, workflow_probes, workflow_table

ROUNDS = 60
CYCLES = 4
RUNS = 5
MOST_FLOORS = 2
NOISE = 1.05
"""What two runs of the same take may differ by."""
WIDTH = 130
"""Columns where there is no terminal."""


def main(arguments: Sequence[str]) -> int:
    """Measure, print, judge; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each quiet path")
    parser.add_argument("--cycles", type=int, default=CYCLES, help="tasks from claim to close")
    parser.add_argument(
        "--tasks",
        type=int,
        nargs="*",
        default=list(SIZES),
        help="sizes of a sweep; none without any",
    )
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each command of a run")
    options = parser.parse_args(arguments)
    # An install compiles; a checkout whose environment forbids bytecode would measure the compiler.
    compileall.compile_dir(Path(lifecycle.__file__).parent, quiet=2)
    with tempfile.TemporaryDirectory(prefix="lifecycle-bench-") as folder:
        quiet = interleaved(quiet_probes(Path(folder)), options.rounds)
        active = active_paths(Path(folder), options.cycles)
        remote = remote_rows(Path(folder), options.cycles)
        large = large_rows(Path(folder), options.tasks) if options.tasks else []
        runs = run_rows(Path(folder), options.runs)
        workflows = interleaved(workflow_probes(Path(folder)), options.rounds)
        waits, hour = wait_rows(Path(folder)), _hour(Path(folder))
        asked = feedback_rows(Path(folder))
    logs = log_rows()
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    console.print(
        quiet_table(quiet, options.rounds),
        active_table(active, quiet, options.cycles),
        remote_table(remote, options.cycles),
        *([large_table(large)] if large else ()),
        run_table(runs, options.runs),
        workflow_table(workflows, options.rounds),
        log_table(logs),
        wait_table(waits),
        feedback_table(asked),
        *([hour_table(hour)] if hour is not None else ()),
    )
    faults = judge(quiet, active) + judge_remote(remote) + judge_large(large)
    faults += judge_beside(remote)
    faults += judge_runs(runs) + judge_workflows(workflows) + judge_logs(logs)
    faults += judge_waits(waits) + judge_feedback(asked)
    if hour is not None:
        polls = (row.gh for row in remote if row.name == POLL)
        faults += judge_hour(hour, next((gh.seconds for gh in polls if gh is not None), None))
    for fault in faults:
        console.print(f"[bold red]too much[/]: {fault}")
    return 1 if faults else 0


def _hour(folder: Path) -> WaiterHour | None:
    """A waiter's hour where the system tells what a process holds: on Linux."""
    return waiter_hour(folder, LATENCY) if Path("/proc/self/status").exists() else None


def quiet_table(quiet: Mapping[str, float], rounds: int) -> Table:
    """The hooks that have nothing to do or to say, against Python's start and a process's."""
    table = Table(
        title=f"a hook that has nothing to do (medians of {rounds})", title_justify="left"
    )
    table.add_column("process")
    for name in ("ms", f"÷ {TRUE}", "÷ python3"):
        table.add_column(name, justify="right")
    for name, seconds in quiet.items():
        ratios = (f"{seconds / quiet[against]:.2f}" for against in (TRUE, PYTHON))
        table.add_row(name, f"{seconds * 1e3:.2f}", *ratios)
    return table


def active_table(active: Sequence[Took], quiet: Mapping[str, float], cycles: int) -> Table:
    """The stops that do something; loopback answers at once, so each request adds its own time."""
    table = Table(title=f"a hook that does something (medians of {cycles})", title_justify="left")
    table.add_column("path")
    for name in ("ms", "÷ python3", "requests", "at most"):
        table.add_column(name, justify="right")
    for path in active:
        ratio = f"{path.seconds / quiet[PYTHON]:.1f}"
        counts = (str(path.requests), str(BUDGET[path.name]))
        table.add_row(path.name, f"{path.seconds * 1e3:.0f}", ratio, *counts)
    return table


def remote_table(rows: Sequence[Row], cycles: int) -> Table:
    """Requests, points and time of each path where a request takes 100 ms, the floor, and `gh`."""
    title = (
        f"GitHub {LATENCY * 1e3:.0f} ms away (medians of {cycles}): requests + git's / points, ms"
    )
    table = Table(title=title, title_justify="left")
    table.add_column("path")
    for name in ("floor", "warm", "÷ floor", "cold", "÷ floor", "gh", "gh ÷ warm"):
        table.add_column(name, justify="right")
    for row in rows:
        gh = (_cost(row.gh), f"{row.gh.seconds / row.warm.seconds:.1f}") if row.gh else ("-", "-")
        beside = (
            (_cost(one), f"{one.seconds / row.floor.seconds:.1f}") for one in (row.warm, row.cold)
        )
        floor = f"{row.floor.requests}, {row.floor.seconds * 1e3:.{1 if not row.floor.requests else 0}f}"
        table.add_row(row.name, floor, *(text for pair in beside for text in pair), *gh)
    return table


def _cost(cost: Cost) -> str:
    git = f" + {cost.git}" if cost.git else ""
    return f"{cost.requests}{git} / {cost.points}, {cost.seconds * 1e3:.0f}"


def large_table(rows: Sequence[Swept]) -> Table:
    """What `lifecycle reconcile` costs; `+ MB` is memory above that of a run without a task."""
    title = "reconcile, one run each (of its seconds it computed its own, and waited for GitHub's)"
    table = Table(title=title, title_justify="left")
    table.add_column("tasks", justify="right")
    table.add_column("repos", justify="right")
    table.add_column("case")
    counts = ("floor", "requests", "÷ floor", "points")
    for name in (*counts, "s", "own", "GitHub", "pauses", "MB", "+ MB"):
        table.add_column(name, justify="right")
    none = next((row.peak for row in rows if not row.tasks), 0)
    for row in rows:
        table.add_row(
            *(f"{row.tasks:,}", str(row.repositories), row.name),
            *(str(row.floor), str(row.requests), f"{row.ratio:.2f}", str(row.points)),
            *(f"{row.seconds:.1f}", f"{row.cpu:.1f}", f"{row.waited:.1f}", f"{row.paused:.0f}"),
            *(
                f"{row.peak / 1e6:.0f}",
                "-" if row.name == MENDED else f"{(row.peak - none) / 1e6:.1f}",
            ),
        )
    return table


def judge_remote(rows: Sequence[Row]) -> list[str]:
    """Which path takes more requests than it may, or more than one point to look."""
    faults = []
    for row in rows:
        for kind, cost, most in zip(
            ("cold", "warm"), (row.cold, row.warm), MOST[row.name], strict=True
        ):
            if cost.requests > most:
                faults.append(
                    f"{row.name} takes {cost.requests} requests {kind}, and may take {most}"
                )
            if cost.git > MOST_GIT[row.name]:
                faults.append(
                    f"{row.name} takes {cost.git} requests of git's {kind}, and may take "
                    f"{MOST_GIT[row.name]}"
                )
        if row.name == POLL and row.warm.points > 1:
            faults.append(f"a look costs {row.warm.points} points, and may cost 1")
    return faults


def judge_beside(rows: Sequence[Row]) -> list[str]:
    """Which path takes more than twice its floor, or longer than `gh` does for the same job."""
    faults = []
    for row in rows:
        for what, limit, other in (
            (f"{MOST_FLOORS} of its floor", MOST_FLOORS, row.floor),
            ("gh", NOISE, row.gh),
        ):
            if other is not None and row.warm.seconds > limit * other.seconds:
                faults.append(f"{row.name} takes {row.warm.seconds * 1e3:.0f} ms, more than {what}")
    return faults


def judge(quiet: Mapping[str, float], active: Sequence[Took]) -> list[str]:
    """What is too slow or asks too much, in words; empty if all is well."""
    faults = [
        f"{name} takes {quiet[name] / quiet[PYTHON]:.2f} of Python's start"
        for name in NO_OPS
        if quiet[name] >= quiet[PYTHON]
    ]
    faults += judge_staged(quiet, UNCHANGED) + judge_check(quiet, START)
    faults += judge_views(quiet, UNCHANGED) + judge_starts(quiet, PYTHON, QUIET)
    return faults + [
        f"{path.name} takes {path.requests} requests, and may take {BUDGET[path.name]}"
        for path in active
        if path.requests > BUDGET[path.name]
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
