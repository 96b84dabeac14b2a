"""What the length of a job's log costs: the packet's lines of one of 50 MB, against one of 5 MB."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

SIZES = (5, 50)
"""Megabytes."""

MOST_MEMORY = 1.25
"""How much more memory the longest log may take than the shortest."""

READ = """
import json, resource, sys, time
from lifecycle.feedback.checks.excerpt import excerpt
from lifecycle.feedback.checks.log_lines import KeptLog

def lines(size):
    for n in range(size * 1_000_000 // 100):
        yield f"2026-01-31T10:00:00.0000000Z {n:070}"
    yield "2026-01-31T10:00:59.0000000Z E       assert 13 == 12"

kept = KeptLog()
made = excerpt(kept.through(lines(int(sys.argv[1]))))
assert made.first_error and kept.text
print(json.dumps([time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


@dataclass(frozen=True, slots=True)
class LogCost:
    """What reading one log took: CPU seconds with Python's start, the most memory in the system's unit."""

    size: int
    seconds: float
    memory: int


def log_rows(sizes: Sequence[int] = SIZES) -> list[LogCost]:
    """Each size in a process of its own."""
    return [_read(size) for size in sizes]


def _read(size: int) -> LogCost:
    command = [sys.executable, "-c", READ, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, memory = json.loads(done.stdout)
    return LogCost(size, seconds, memory)


def log_table(rows: Sequence[LogCost]) -> Table:
    """CPU seconds, and memory against that of the shortest log."""
    table = Table(title="the lines of a job's log that tell the error", title_justify="left")
    for name in ("MB of log", "CPU s", "CPU s a MB", "memory ÷ shortest"):
        table.add_column(name, justify="right")
    for row in rows:
        ratio = row.memory / rows[0].memory
        table.add_row(
            str(row.size), f"{row.seconds:.1f}", f"{row.seconds / row.size:.2f}", f"{ratio:.2f}"
        )
    return table


def judge_logs(rows: Sequence[LogCost]) -> list[str]:
    """What grows with the log and must not, in words; empty if all is well."""
    first = rows[0]
    return [
        f"memory for a log of {row.size} MB is {row.memory / first.memory:.2f} of that for {first.size} MB"
        for row in rows[1:]
        if row.memory > MOST_MEMORY * first.memory
    ]
