"""What a session with many workflows costs, measured as `make bench` does, once."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

from rich.console import Console

from tests.bench.timing import interleaved
from tests.bench.workflows import (
    BARE,
    CHANGED,
    LIMITED,
    MOST,
    judge_workflows,
    workflow_probes,
    workflow_table,
)


def test_the_probes_take_the_paths_that_they_are_named_for(tmp_path: Path) -> None:
    """Each prints a workflow among all of them; only what changed by hand is read and prepared anew."""
    probes = {probe.name: probe for probe in workflow_probes(tmp_path, 20)}
    assert list(probes) == [BARE, *LIMITED, CHANGED]
    prepared = tmp_path / "workflows/.lifecycle/recovery.json"
    for name in (*LIMITED, CHANGED):
        probe = probes[name]
        probe.prepare()
        before = prepared.read_bytes()
        with Path(probe.stdin).open("rb") as event:
            done = subprocess.run(
                probe.command,
                env=probe.environment,
                stdin=event,
                capture_output=True,
                text=True,
                check=True,
            )
        assert 'Workflow "Workflow 19"' in done.stdout.replace("\\", "")
        assert "and 16 more" in done.stdout
        assert (prepared.read_bytes() != before) == (name == CHANGED), name


def test_the_table_shows_every_row(tmp_path: Path) -> None:
    """What was measured is printed, against Python's start."""
    took = interleaved(workflow_probes(tmp_path, 1)[:1], 1)
    took |= dict.fromkeys((*LIMITED, CHANGED), 0.1)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(workflow_table(took, 1))
    text = console.export_text()
    assert all(name in text for name in took)
    assert os.linesep in text


def test_only_what_takes_more_than_three_starts_is_a_fault() -> None:
    """What changed by hand has no limit."""
    fine = {BARE: 0.01, **dict.fromkeys(LIMITED, 0.01 * MOST), CHANGED: 1.0}
    assert judge_workflows(fine) == []
    for name in LIMITED:
        (fault,) = judge_workflows({**fine, name: 0.031})
        assert fault == f"{name} takes 3.10 of {BARE}"
