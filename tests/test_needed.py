"""What the end of a run says about tests that could not be run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.bare_pytest import only
from tests.needed import REQUIRED, ROOT, told

TESTS = """
import pytest
from tests.needed import demand_program

@pytest.fixture(scope="module")
def client():
    demand_program("no-such-program", "clients")

@pytest.mark.parametrize("number", range(5))
def test_with_a_client(client, number): pass

@pytest.mark.skip(reason="only on the moon")
def test_elsewhere(): pass

def test_here(): pass
"""


MISSING = "no-such-program is not installed; `make clients` installs it"


def run(folder: Path, *options: str, required: str = "") -> subprocess.CompletedProcess[str]:
    """Run these tests, with the plug-in alone."""
    (folder / "test_client.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.needed", "-q", *options],
        cwd=folder,
        env={
            "PYTHONPATH": str(ROOT), "PATH": os.defpath, REQUIRED: required, **only("xdist.plugin"),
        },
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip


def test_what_could_not_be_run_is_one_line_for_each_reason(tmp_path: Path) -> None:
    """Five tests of a client that is not there are one line, from several processes too; all passes."""
    done = run(tmp_path, "-n", "2")
    assert done.returncode == 0, done.stdout
    assert [line for line in done.stdout.splitlines() if line.startswith("not run: ")] == [
        f"not run: 5 tests of the real no-such-program: {MISSING}",
        "not run: 1 test: only on the moon",
    ]
    assert "1 passed, 6 skipped" in done.stdout


def test_where_all_is_required_what_is_lacking_fails(tmp_path: Path) -> None:
    """In CI no test of a client passes by not being run; what only another system can run is no lack."""
    done = run(tmp_path, required="all")
    assert done.returncode == 1
    assert "1 passed, 1 skipped, 5 errors" in done.stdout
    assert MISSING in done.stdout


def test_nothing_is_said_where_all_was_run() -> None:
    """Silence means that every test was run."""
    assert told(Counter()) == []
