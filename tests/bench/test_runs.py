"""What the size of a run costs, measured as `make bench` does, once."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from tests.bench import runs
from tests.bench.runs import LIMIT, RunTook, judge_runs, run_rows, run_table


def test_every_command_is_measured_on_both_states(tmp_path: Path) -> None:
    """Each ends well on an empty state and on the large one; the table has a row for it."""
    rows = run_rows(tmp_path, 1)
    assert len(rows) == len(runs.COMMANDS)
    assert all(row.empty > 0 and row.large > 0 for row in rows)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(run_table(rows, 1))
    assert all(row.name in console.export_text() for row in rows[:1])


def test_only_what_grows_with_the_run_is_a_fault() -> None:
    """Half as long again is allowed, and not more."""
    assert judge_runs([RunTook("run status", 1.0, LIMIT)]) == []
    [fault] = judge_runs([RunTook("run status", 1.0, LIMIT + 0.01)])
    assert fault.startswith("run status takes 1.51")
