"""What the size of a run costs, measured as `make bench` does, once."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from lifecycle.cli.run.run import command
from tests.bench.runs import CASES, LIMIT, RunTook, judge_runs, run_rows, run_table, words_of
from tests.conftest import COMMAND


@pytest.mark.soak("bench/test_runs.py::test_only_what_grows_with_the_run_is_a_fault")
def test_every_command_is_measured_on_both_states(tmp_path: Path) -> None:
    """Each of the command line's ends well on an empty state and on the large one, and has its row."""
    rows = run_rows(tmp_path, 1, COMMAND)
    assert [row.name for row in rows] == [f"run {name}" for name in command.table]
    assert all(row.empty > 0 and row.large > 0 for row in rows)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(run_table(rows, 1))
    text = console.export_text()
    assert all(row.name in text for row in rows)


def test_a_command_that_nobody_thought_of_is_measured_with_a_word_for_each_argument() -> None:
    """What it demands is read from the command itself; only what is refused then is named by hand."""
    assert words_of("criterion") == ("S2", "1", "met")
    assert words_of("tdd") == ("waive", "S2", "--reason", "words")
    assert words_of("recover") == ()
    assert not set(CASES) - set(command.table)


def test_only_what_grows_with_the_run_is_a_fault() -> None:
    """Half as long again is allowed, and not more."""
    assert judge_runs([RunTook("run status", 1.0, LIMIT)]) == []
    [fault] = judge_runs([RunTook("run status", 1.0, LIMIT + 0.01)])
    assert fault.startswith("run status takes 1.51")
