"""A reconcile that is stopped, and one whose outputs are closed, full, or read by nobody."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from lifecycle.sandbox.control.faults import Fault
from tests.cli.outcome import ok, refused
from tests.cli.reconcile_ground import CARD, REPOSITORY, drift, written
from tests.conftest import STARTED, Place
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "cli/test_reconcile_outputs.py::test_a_run_that_is_stopped_tells_what_it_did",
    "cli/test_reconcile_actions.py::test_a_file_that_takes_nothing_is_an_error",
)


@SOAKED
@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_run_says_so_in_one_line(drifted: Place) -> None:
    """Ctrl-C while GitHub is slow: exit 130, no traceback, and the next run does it all."""
    drifted.control.set_latency(5)
    with subprocess.Popen(
        [str(STARTED), "reconcile"],
        cwd=drifted.root,
        env=drifted.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        drifted.control.wait_for_requests(1)
        process.send_signal(2)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.strip() == "Interrupted; what was done so far is kept."
    drifted.control.set_latency(0)
    assert "1 finding: 1 applied." in ok(drifted.cli("reconcile"))


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    "numbers",
    [
        [signal.SIGINT, signal.SIGTERM],
        *map(soaked, ([signal.SIGTERM], [signal.SIGINT], [signal.SIGHUP, signal.SIGINT])),
    ],
)
def test_a_run_that_is_stopped_tells_what_it_did(
    place: Place, step: Place, numbers: list[int]
) -> None:
    """At the second repair: the first is told in every form, the second is named as left.

    A signal that comes with another, or follows it, as from a runner or an impatient hand, does not cut the
    telling off.
    """
    drift(place, others=True)
    step.cli("reconcile", "--dry-run")
    looked = len(step.requests())
    place.clear()
    place.control.add_fault(Fault(kind="hang", operation="SetBoardFields", skip=1))
    files = [Path(step.environment[name]) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")]
    for file in files:  # each waits for its reader, so that the second signal comes between them
        file.unlink()
        os.mkfifo(file)
    with subprocess.Popen(
        [str(STARTED), "reconcile", "--summary"],
        cwd=step.root,
        env=step.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        place.control.wait_for_requests(looked + 4, seconds=30)  # two looks, a write, and one more
        for number in (signal.SIGSTOP, *numbers, signal.SIGCONT):  # all at once
            process.send_signal(number)
        outputs = files[0].read_text()
        for number in numbers[1:]:
            process.send_signal(number)
        summary = files[1].read_text()
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.strip() == "Interrupted; what was done so far is kept."
    assert f"✓ {REPOSITORY}#39 status-drift: " in out
    assert f"· {REPOSITORY}#42 {CARD}: " in out
    assert "2 findings: 1 applied, 1 left." in out
    assert re.search(r"^Ended early: .*interrupted", out, re.MULTILINE)
    assert "1 applied, 1 left." in summary
    assert outputs == "findings=2\napplied=1\nfailed=1\n"
    place.control.clear_faults()
    again = json.loads(ok(step.cli("reconcile", "--json")))
    assert [one["issue"] for one in again["findings"]] == [42]
    assert again["counts"]["applied"] == 1


@SOAKED
@pytest.mark.parametrize("outputs", [">&-", "2>&-", ">&- 2>&-"])
def test_an_output_that_is_closed_costs_nothing(drifted: Place, outputs: str) -> None:
    """Started with no standard output or error, it repairs and exits as always."""
    done = drifted.run("sh", "-c", f"{STARTED} reconcile {outputs}")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert ("1 applied" in done.stdout) is (outputs == "2>&-")
    assert drifted.card()["Status"] == "Done"


@SOAKED
def test_nobody_has_to_read_all_of_it(place: Place, step: Place) -> None:
    """A reader that goes away after no line at all costs no word, and none of the step's files."""
    drift(place)
    done = step.run("sh", "-c", f"{STARTED} reconcile --summary | true")
    assert (done.stdout, done.stderr) == ("", "")
    assert written(step, "GITHUB_OUTPUT") == "findings=1\napplied=1\nfailed=0\n"
    assert "1 applied" in written(step, "GITHUB_STEP_SUMMARY")


@SOAKED
def test_an_output_that_is_full_says_what_was_kept(drifted: Place) -> None:
    """The repairs were done before: the sentence does not say that nothing was."""
    done = drifted.run("sh", "-c", f"{STARTED} reconcile >/dev/full")
    said = refused(done)
    assert said.startswith("lifecycle: standard output: No space left on device; ")
    assert "what was done until then is kept" in said
    assert drifted.card()["Status"] == "Done"


@SOAKED
def test_a_file_that_takes_nothing_is_named(place: Place, step: Place) -> None:
    """The summary's file is a folder: exit 1 names it; the repair was made, and outputs and log say so."""
    drift(place)
    step.environment["GITHUB_STEP_SUMMARY"] = str(step.root)
    done = step.cli("reconcile", "--summary")
    assert f"{step.root}: Is a directory; what was done until then is kept" in refused(done)
    assert f"✓ {REPOSITORY}#42 {CARD}: " in done.stdout
    assert written(step, "GITHUB_OUTPUT") == "findings=1\napplied=1\nfailed=0\n"
