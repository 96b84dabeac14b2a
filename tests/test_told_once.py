"""What a worker need not tell is missed by nobody: failures, skips and counts are shown as ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.bare_pytest import only
from tests.needed import ROOT

TESTS = """
import pytest

@pytest.fixture
def broken_before():
    raise OSError("no set-up")

@pytest.fixture
def broken_after():
    yield
    raise OSError("no tear-down")

def test_good(): assert 1
def test_bad(): assert not "bad"
def test_skipped(): pytest.skip("not here")
def test_early(broken_before): assert 1
def test_late(broken_after): assert 1
"""


def test_what_did_not_go_well_is_told_in_each_phase(tmp_path: Path) -> None:
    """A failure of a test, of its set-up or of its tear-down, and a skip; what went well is counted."""
    (tmp_path / "test_it.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "1", "-rs"],
        cwd=tmp_path,
        env={**os.environ, **only("xdist", "tests.told_once"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert " 1 failed, 2 passed, 1 skipped, 2 errors in " in lines[-1]
    assert "[100%]" in next(line for line in lines if line.startswith("."))
    for shown in ("no set-up", "no tear-down", "assert not 'bad'", "not here"):
        assert shown in done.stdout
