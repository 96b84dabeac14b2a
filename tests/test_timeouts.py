"""What a test that hangs does to the others."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from tests.bare_pytest import only
from tests.conftest import pytest_collection_modifyitems

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


PHASES = """
import subprocess, time, pytest
from hypothesis import given, strategies as st

pytestmark = pytest.mark.timeout(0.5)

@pytest.fixture
def hangs_before(): time.sleep(600)

@pytest.fixture
def hangs_after():
    yield
    time.sleep(600)

@pytest.fixture(scope="session")
def of_all(): time.sleep(600)

@pytest.fixture(scope="module")
def after_all():
    yield
    time.sleep(600)

def test_set_up(hangs_before): pass

def test_first(): pass

def test_torn_down(hangs_after): pass

def test_second(): pass

def test_runs_a_process(): subprocess.run(["sleep", "20"], capture_output=True)

def test_waits_for_a_process():
    with subprocess.Popen(["sleep", "20"]) as process: process.wait()

def test_of_all(of_all): pass

def test_third(): pass

def test_of_all_again(of_all): pass

@given(st.integers())
def test_property(number):
    if number > 3: time.sleep(600)

def test_fourth(): pass

def test_after_all(after_all): pass
"""

QUICKLY = """
import tests.timeouts

tests.timeouts.AGAIN_SECONDS, tests.timeouts.TOGETHER_SECONDS = 0.4, 0.1
"""

OF_C = """
import ctypes, signal, pytest

pytestmark = pytest.mark.timeout(1)

@pytest.mark.parametrize("number", range(8))
def test_before(number): pass

@pytest.mark.parametrize("kind", [ctypes.CDLL, ctypes.PyDLL])
def test_never_comes_back(kind):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
    kind(None).sleep(600)

@pytest.mark.parametrize("number", range(8))
def test_after(number): pass
"""


def ran(folder: Path, content: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a test module in processes of its own, with the plug-in."""
    (folder / "test_hung.py").write_text(content)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.timeouts", "-q", "-rfEp", *options],
        cwd=folder,
        env={
            "PYTHONPATH": str(ROOT), "COLUMNS": "200", **only("xdist.plugin", "pytest_timeout"),
        },
        capture_output=True, text=True,
        check=False, timeout=100,
    )  # fmt: skip


def told(done: subprocess.CompletedProcess[str]) -> dict[str, set[str]]:
    """The names of the tests by what the summary says of them."""
    names: dict[str, set[str]] = {}
    for kind, name in re.findall(r"^([A-Z]+) test_hung\.py::(\S+)", done.stdout, re.MULTILINE):
        names.setdefault(kind, set()).add(name)
    return names


def test_one_that_hangs_fails_alone(tmp_path: Path) -> None:
    """It fails by name, and every other test of its worker runs."""
    done = ran(tmp_path, TESTS, "-n", "2")
    assert done.returncode == 1, done.stdout
    assert "3 failed, 16 passed" in done.stdout
    for name in ("test_sleeps", "test_waits_for_a_lock", "test_searches"):
        assert f"FAILED test_hung.py::{name} - TimeIsUp: the test did not end" in done.stdout


@pytest.mark.soak("test_timeouts.py::test_one_that_hangs_fails_alone")
def test_whatever_of_it_hangs_it_fails_alone(tmp_path: Path) -> None:
    """Its fixtures before or after it, a process that it waits for, an example of a property.

    Those that need a fixture that did not come to its end fail for want of it, without waiting again.
    """
    (tmp_path / "conftest.py").write_text(QUICKLY)
    done = ran(tmp_path, PHASES)
    assert told(done) == {
        "ERROR": {"test_set_up", "test_torn_down", "test_of_all", "test_of_all_again", "test_after_all"},
        "FAILED": {"test_runs_a_process", "test_waits_for_a_process", "test_property"},
        "PASSED": {
            *("test_first", "test_second", "test_third", "test_fourth"),
            *("test_torn_down", "test_after_all"),
        },
    }  # fmt: skip
    assert done.stdout.count("TimeIsUp: the test did not end within its time\n") >= 8


@pytest.mark.soak(
    "test_timeouts.py::test_in_one_process_what_never_comes_back_from_c_ends_it_by_name"
)
def test_what_never_comes_back_from_c_costs_its_worker_alone(tmp_path: Path) -> None:
    """With or without the interpreter's lock: the worker is replaced, and the test fails by name."""
    (tmp_path / "conftest.py").write_text(QUICKLY)
    done = ran(tmp_path, OF_C, "-n", "2", "--dist", "worksteal")
    assert told(done)["FAILED"] == {"test_never_comes_back[CDLL]", "test_never_comes_back[PyDLL]"}
    assert "2 failed, 16 passed" in done.stdout
    assert len(re.findall(r"worker 'gw\d' crashed while running", done.stdout)) >= 2


def test_in_one_process_what_never_comes_back_from_c_ends_it_by_name(tmp_path: Path) -> None:
    """There is nobody to go on with the others; where the test was is told."""
    (tmp_path / "conftest.py").write_text(f"{QUICKLY}tests.timeouts.TIMES = 1\n")
    done = ran(tmp_path, OF_C, "-k", "PyDLL or after")
    assert done.returncode == 1
    assert "in test_never_comes_back" in done.stderr


def test_who_may_take_longer_begins_first(request: pytest.FixtureRequest) -> None:
    """At the end it would run alone, on one of several cores; all others keep their order."""

    class Test:
        config = request.config

        def __init__(self, *seconds: float) -> None:
            self.seconds = seconds

        def get_closest_marker(self, name: str) -> pytest.Mark | None:
            assert name == "timeout"
            return pytest.mark.timeout(*self.seconds).mark if self.seconds else None

    tests = [Test(), Test(300), Test(20), Test(), Test(900)]
    wanted = [tests[4], tests[1], tests[0], tests[2], tests[3]]
    pytest_collection_modifyitems(cast("list[pytest.Item]", tests))
    assert tests == wanted
