"""What a test that hangs does to the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

TESTS = """
import re, threading, time, pytest

pytestmark = pytest.mark.timeout(0.5)

@pytest.mark.parametrize("number", range(8))
def test_before(number): pass

def test_sleeps():
    try:
        time.sleep(600)
    except Exception:
        time.sleep(600)

def test_waits_for_a_lock():
    lock = threading.Lock()
    with lock, lock: pass

def test_searches():
    re.search("(a+)+b", "a" * 60)

@pytest.mark.parametrize("number", range(8))
def test_after(number): pass
"""


def test_one_that_hangs_fails_alone(tmp_path: Path) -> None:
    """It fails by name, and every other test of its worker runs."""
    (tmp_path / "test_hung.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.timeouts", "-n", "2", "-q", "-rf"],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
        timeout=100,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert "3 failed, 16 passed" in done.stdout
    for name in ("test_sleeps", "test_waits_for_a_lock", "test_searches"):
        assert f"FAILED test_hung.py::{name} - Failed: the test did not end" in done.stdout
