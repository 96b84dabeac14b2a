"""The bench measures what it says. Nothing here depends on how fast the machine is."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from tests.bench import bench
from tests.bench.checked import CHECKED
from tests.bench.checked import MOST_STARTS as MOST_CHECK
from tests.bench.paths import (
    BUDGET,
    NO_OPS,
    NOTHING_WAITS,
    PYTHON,
    QUIET,
    TRUE,
    UNCHANGED,
    WAITED,
    Took,
    active_paths,
    quiet_probes,
)
from tests.bench.remote import FLOORS, LATENCY, MOST, MOST_GIT, POLL, Cost, Row, remote_rows
from tests.bench.staged import DETECTED, INACTIVE, LOG, MOST_NO_OPS, MOST_STARTS, START
from tests.bench.starts import BARE, HOOK, IMPORTS, TALKS, start_probes
from tests.bench.timing import Probe, ProbeFailedError, interleaved, seconds_of
from tests.bench.views import LINE, LINE_NONE, MOST_VERSIONS, STATUS, VERSION
from tests.bench.views import MOST_NO_OPS as MOST_LINES

FINE = {
    TRUE: 0.001,
    **dict.fromkeys(NO_OPS, 0.001),
    PYTHON: 0.008,
    BARE: 0.010,
    IMPORTS: 0.030,
    HOOK: 0.040,
    TALKS: 0.060,
    START: 0.02,
    DETECTED: 0.03,
    CHECKED: 0.2,
    VERSION: 0.1,
    STATUS: 0.2,
    QUIET: 0.04,
}
WITHIN = [Took(name, 0.2, most) for name, most in BUDGET.items()]


@pytest.mark.soak(
    "e2e/test_guard.py::test_on_stop_ends_early_without_a_claim_and_with_an_unchanged_one"
)
def test_quiet_probes_take_the_paths_that_they_are_named_for(tmp_path: Path) -> None:
    """With a claim unchanged the script ends before Python; without the stamp Python sets it anew."""
    probes = {probe.name: probe for probe in quiet_probes(tmp_path)}
    assert set(probes) == {
        TRUE, PYTHON, BARE, IMPORTS, HOOK, TALKS, QUIET, START, DETECTED, CHECKED, VERSION, STATUS, *NO_OPS,
    }  # fmt: skip
    stamp = tmp_path / "kept/.lifecycle/stamp"
    nowhere = str(tmp_path / "no-such-command")
    unchanged, quiet = probes[UNCHANGED], probes[QUIET]

    # With no command to start, the script's only other way out is the guard; either leaves no stamp.
    quiet.prepare()
    seconds_of(quiet.command, {**quiet.environment, "LIFECYCLE_BIN": nowhere})
    assert not stamp.exists()
    seconds_of(quiet.command, quiet.environment)
    assert stamp.exists()

    told = tmp_path / "started"
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\n: >'{told}'\n")
    spy.chmod(0o755)
    silent = (unchanged, probes[WAITED], probes[NOTHING_WAITS], probes[LINE], probes[LINE_NONE])
    for probe in silent:
        seconds_of(probe.command, {**probe.environment, "LIFECYCLE_BIN": str(spy)})
        assert not told.exists(), probe.name
    (tmp_path / "waited/.lifecycle/waiter").unlink()
    waited = probes[WAITED]
    seconds_of(waited.command, {**waited.environment, "LIFECYCLE_BIN": str(spy)})
    assert told.exists()  # nobody waits any more: the measure measures
    told.unlink()
    quiet.prepare()
    seconds_of(quiet.command, {**quiet.environment, "LIFECYCLE_BIN": str(spy)})
    assert told.exists()


@pytest.mark.soak(
    "stages/test_guards.py::test_a_stop_ends_in_the_shell_unless_the_workflow_is_active"
)
def test_staged_probes_take_the_paths_that_they_are_named_for(tmp_path: Path) -> None:
    """Without a labelled task the script ends before Python; with one the detection looks and is quiet."""
    probes = {probe.name: probe for probe in quiet_probes(tmp_path)}
    told, spy = tmp_path / "started", tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\n: >'{told}'\n")
    spy.chmod(0o755)
    inactive, detected = probes[INACTIVE], probes[DETECTED]
    for probe in (inactive, detected):
        assert Path(probe.stdin).stat().st_size > 0
        seconds_of(probe.command, {**probe.environment, "LIFECYCLE_BIN": str(spy)})
        assert told.exists() == (probe is detected)
    assert (
        Path(json.loads(Path(detected.stdin).read_text())["transcript_path"]).stat().st_size > 5e7
    )

    active = Path(detected.environment["CLAUDE_PROJECT_DIR"])
    before = sorted((active / ".lifecycle").iterdir())
    seconds_of(detected.command, detected.environment, stdin=detected.stdin)
    lines = (active / LOG).read_text().splitlines()
    assert lines[0].endswith("Hook triggered")
    assert lines[-1].endswith("The agent may stop")
    left = {path.name for path in (active / ".lifecycle").iterdir()} - {one.name for one in before}
    assert left <= {"now"}  # the full path would have left more: it takes a lock
    assert seconds_of(probes[START].command, probes[START].environment) > 0


def test_a_staged_stop_that_is_too_slow_is_a_fault() -> None:
    """Inactive it costs the claim's no-op, active less than two starts; either limit is a fault."""
    slow = FINE[UNCHANGED] * MOST_NO_OPS * 1.1
    (fault,) = bench.judge({**FINE, INACTIVE: slow}, WITHIN)
    assert fault == f"{INACTIVE} takes 1.65 of {UNCHANGED}"
    (fault,) = bench.judge({**FINE, DETECTED: FINE[START] * MOST_STARTS}, WITHIN)
    assert fault == f"{DETECTED} takes 2.00 of {START}"
    (fault,) = bench.judge({**FINE, CHECKED: FINE[START] * MOST_CHECK}, WITHIN)
    assert fault == f"{CHECKED} takes 15.0 of {START}"


def test_a_start_that_is_too_slow_is_a_fault() -> None:
    """What asks GitHub, beyond what a stop imports; and a look that finds nothing to do."""
    (fault,) = bench.judge({**FINE, TALKS: 0.068}, WITHIN)
    assert fault == "what asks GitHub takes 1.40 of json, http.client and ssl"
    (fault,) = bench.judge({**FINE, QUIET: 0.1}, WITHIN)
    assert fault == f"{QUIET} takes 12.5 of {PYTHON}"


def test_a_view_that_is_too_slow_is_a_fault() -> None:
    """The status line costs a no-op, and status not many starts of the command; either limit is a fault."""
    for name in (LINE, LINE_NONE):
        (fault,) = bench.judge({**FINE, name: FINE[UNCHANGED] * MOST_LINES}, WITHIN)
        assert fault == f"{name} takes 1.50 of {UNCHANGED}"
    (fault,) = bench.judge({**FINE, STATUS: FINE[VERSION] * MOST_VERSIONS}, WITHIN)
    assert fault == f"{STATUS} takes 2.50 of {VERSION}"


def test_every_round_runs_every_probe(tmp_path: Path) -> None:
    """Each probe is prepared and run once a round, and its median is a time above zero."""
    calls: list[str] = []
    probes = [
        Probe(name, ("/bin/sh", "-c", ":"), dict(os.environ), partial(calls.append, name))
        for name in ("one", "two")
    ]
    medians = interleaved(probes, 3)
    assert calls == ["one", "two"] * 3
    assert all(medians[name] > 0 for name in ("one", "two"))


def test_a_process_that_fails_is_no_measurement() -> None:
    """A time is worth nothing if the process did not do its work; expected codes are fine."""
    command = (sys.executable, "-I", "-S", "-c", "raise SystemExit(2)")
    assert seconds_of(command, {}, 2) > 0
    with pytest.raises(ProbeFailedError, match="exited 2"):
        seconds_of(command, {})


@pytest.mark.soak(
    "bench/test_bench.py::test_one_request_too_many_is_a_fault",
    "e2e/test_story.py::test_the_whole_life_of_a_task",
)
def test_active_paths_stay_within_their_requests(tmp_path: Path) -> None:
    """One task from claim to close: every path is timed, and asks no more than it may."""
    took = active_paths(tmp_path, 1)
    assert [path.name for path in took] == list(BUDGET)
    assert all(path.seconds > 0 for path in took)
    assert {path.name: path.requests for path in took} == BUDGET


def test_all_well_is_no_fault() -> None:
    """No-ops below Python's start and requests within the budget leave nothing to complain of."""
    assert bench.judge(FINE, WITHIN) == []


@pytest.mark.parametrize("name", NO_OPS)
def test_a_no_op_as_slow_as_python_is_a_fault(name: str) -> None:
    """The guard must end well before Python could have started: as long as Python is too long."""
    fault, *_ = bench.judge({**FINE, name: FINE[PYTHON]}, WITHIN)
    assert fault.startswith(name)


def test_one_request_too_many_is_a_fault() -> None:
    """A path that asks more than its budget fails the bench."""
    (fault,) = bench.judge(FINE, [Took("closing", 0.2, BUDGET["closing"] + 1)])
    assert fault == "closing takes 4 requests, and may take 3"


def test_the_tables_show_every_path() -> None:
    """What was measured is printed, the quiet paths against Python's start."""
    console = Console(width=120, file=io.StringIO())
    with console.capture() as captured:
        console.print(bench.quiet_table(FINE, 1), bench.active_table(WITHIN, FINE, 1))
    text = captured.get()
    assert all(name in text for name in (*FINE, *BUDGET))


@pytest.mark.soak("bench/test_bench.py::test_a_look_that_costs_two_points_is_a_fault")
def test_far_away_paths_stay_within_their_requests(tmp_path: Path) -> None:
    """Cold and warm, beside `gh` where it is installed: each path is there, and asks what it may."""
    rows = remote_rows(tmp_path, 1)
    assert [row.name for row in rows] == list(FLOORS)
    assert bench.judge_remote(rows) == []
    assert all((row.cold.requests, row.warm.requests) == MOST[row.name] for row in rows)
    assert all(row.cold.git == row.warm.git == MOST_GIT[row.name] for row in rows)
    assert all((row.floor.requests, row.floor.git) == (FLOORS[row.name], 0) for row in rows)
    for cost in (one for row in rows for one in (row.floor, row.cold, row.warm, row.gh) if one):
        assert cost.seconds >= LATENCY * (cost.requests + cost.git)  # git is as far away as the API
    assert all(row.gh is not None for row in rows) == (shutil.which("gh") is not None)
    console = Console(width=140, file=io.StringIO())
    with console.capture() as captured:
        console.print(bench.remote_table(rows, 1))
    assert all(name in captured.get() for name in FLOORS)


def test_a_look_that_costs_two_points_is_a_fault() -> None:
    """The observation stays at one predicted point, and each path within its requests."""
    dear, fine = Cost(0.2, 1, 2), Cost(0.2, 1, 1)
    (fault,) = bench.judge_remote([Row(POLL, fine, fine, dear, None)])
    assert fault == "a look costs 2 points, and may cost 1"
    (fault,) = bench.judge_remote([Row(POLL, fine, Cost(0.2, 2, 1), fine, None)])
    assert fault == "idle poll takes 2 requests cold, and may take 1"
    (fault,) = bench.judge_remote([Row(POLL, fine, fine, Cost(0.2, 1, 1, 3), None)])
    assert fault == "idle poll takes 3 requests of git's warm, and may take 0"


def test_a_path_that_gh_is_quicker_at_is_a_fault() -> None:
    """So is one that takes more than twice what it cannot do without."""
    quick, slow = Cost(0.1, 1, 1), Cost(0.21, 1, 1)
    assert bench.judge_beside([Row(POLL, quick, slow, quick, quick)]) == []
    (fault,) = bench.judge_beside([Row(POLL, slow, slow, slow, quick)])
    assert fault == "idle poll takes 210 ms, more than gh"
    (fault,) = bench.judge_beside([Row(POLL, quick, slow, slow, None)])
    assert fault == "idle poll takes 210 ms, more than 2 of its floor"


def test_what_a_start_imports_is_there() -> None:
    """Each probe of a start names modules that there are: else the whole bench ends with it."""
    for probe in start_probes({**os.environ}):
        assert subprocess.run(probe.command, env=probe.environment, check=False).returncode == 0
