"""What the suite says of a test in which no assertion ran."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.asserted import NOTHING, STALE, WITHOUT_REASON
from tests.bare_pytest import only
from tests.repeated import soaked

ROOT = Path(__file__).parents[1]

HELPERS = """
from tests.asserted import check

@check
def registered(value): assert value

def unregistered(value): assert value
"""

CONFTEST = """
import pytest

def of_the_conftest(): assert True

@pytest.fixture
def asserting():
    assert True
    yield
    assert True
"""

RIGHT = """
import threading, warnings, pytest
from concurrent.futures import ThreadPoolExecutor
from hypothesis import given, strategies as st
from helpers import registered

def test_asserts(): assert 1

def asserts(): assert 1

def test_asserts_in_a_function_of_its_module(): asserts()

def test_asserts_in_a_thread():
    with ThreadPoolExecutor() as pool: pool.submit(asserts).result()

def test_raises():
    with pytest.raises(ValueError): int("x")

def test_raises_by_a_call(): pytest.raises(ValueError, int, "x")

def test_raises_a_group():
    with pytest.RaisesGroup(ValueError): raise ExceptionGroup("", [ValueError()])

def test_warns():
    with pytest.warns(UserWarning): warnings.warn("!")

def test_registered(): registered(1)

@given(st.integers())
def test_property(number): assert number == number

@pytest.fixture
def asserting(): assert 1

def test_asserts_like_its_fixture(asserting): assert 1

@pytest.mark.without_assertion("it ends")
def test_marked(): pass

@pytest.mark.parametrize("table", [[1], pytest.param([], marks=pytest.mark.without_assertion("why"))])
def test_marked_for_a_case(table):
    for one in table: assert one
"""

LET_BE = """
import pytest

def test_skipped(): pytest.skip()

@pytest.mark.skip
def test_skipped_by_mark(): pass

def test_expected(): pytest.xfail()

@pytest.mark.xfail
def test_expected_by_mark(): raise ValueError
"""

WRONG = """
import pytest
from hypothesis import given, strategies as st
from conftest import of_the_conftest
from helpers import unregistered

def test_nothing(): pass

@pytest.mark.parametrize("table", [[1], []])
def test_table(table):
    for one in table: assert one

@given(st.integers())
def test_property(number): pass

def test_elsewhere():
    of_the_conftest()
    unregistered(1)

def test_fixture(asserting): pass

def test_that_comes_after_one_that_asserts(): pass

@pytest.mark.without_assertion
def test_marked_without_reason(): pass

@pytest.mark.without_assertion(" ")
def test_marked_with_no_words(): pass

@pytest.mark.without_assertion("it asserts")
def test_marked_and_asserts(): assert 1

@pytest.mark.xfail(strict=True)
def test_expected_and_passes(): pass

def test_fails(): assert 0
"""


def ran(folder: Path, *options: str, **files: str) -> subprocess.CompletedProcess[str]:
    """Run these test modules in a process of their own, with the plug-in and its setting."""
    (folder / "pytest.ini").write_text("[pytest]\nenable_assertion_pass_hook = true\n")
    for name, content in files.items():
        (folder / f"{name}.py").write_text(content)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.asserted", "-q", "-rA", *options],
        cwd=folder, env={"PYTHONPATH": f"{ROOT}:{folder}", "COLUMNS": "200", **only("xdist.plugin")},
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip


def failures(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """What the summary says of each test that failed."""
    return dict(re.findall(r"^FAILED \S+::(.+?) - (.*?) *$", done.stdout, re.MULTILINE))


@pytest.mark.parametrize(
    "options", [[], soaked(["-n", "2"], id="workers")], ids=["one process", None]
)
def test_what_checks_something_passes(tmp_path: Path, options: list[str]) -> None:
    """An assertion, `raises`, `warns`, a property, a registered helper; or a mark that says why not."""
    done = ran(tmp_path, *options, helpers=HELPERS, conftest=CONFTEST, test_right=RIGHT)
    assert done.returncode == 0, done.stdout
    assert "13 passed" in done.stdout


def test_what_checks_nothing_fails_by_name(tmp_path: Path) -> None:
    """With one sentence each; a failure keeps its own, and an unexpected success is one."""
    done = ran(tmp_path, helpers=HELPERS, conftest=CONFTEST, test_wrong=WRONG)
    assert done.returncode == 1
    assert failures(done) == {
        "test_nothing": f"Failed: {NOTHING}",
        "test_table[table1]": f"Failed: {NOTHING}",
        "test_property": f"Failed: {NOTHING}",
        "test_elsewhere": f"Failed: {NOTHING}",
        "test_fixture": f"Failed: {NOTHING}",
        "test_that_comes_after_one_that_asserts": f"Failed: {NOTHING}",
        "test_marked_without_reason": f"Failed: {WITHOUT_REASON}",
        "test_marked_with_no_words": f"Failed: {WITHOUT_REASON}",
        "test_marked_and_asserts": f"Failed: {STALE}",
        "test_expected_and_passes": "[XPASS(strict)]",
        "test_fails": "assert 0",
    }
    assert "1 passed" in done.stdout


def test_what_is_skipped_or_is_to_fail_is_let_be(tmp_path: Path) -> None:
    """Nobody expects an assertion of a test that did not come to its end."""
    done = ran(tmp_path, test_let_be=LET_BE)
    assert done.returncode == 0, done.stdout
    assert "2 skipped, 2 xfailed" in done.stdout


def test_what_was_compiled_without_the_plug_in_is_compiled_again(tmp_path: Path) -> None:
    """pytest keeps what it compiled; of a run without the setting, no assertion would ever count."""
    options = ("-p", "no:tests.asserted", "-o", "enable_assertion_pass_hook=false")
    module = "def test_asserts(): assert 1"
    assert ran(tmp_path, *options, test_kept=module).returncode == 0
    assert list(tmp_path.glob("__pycache__/test_kept.*-pytest-*.pyc"))
    done = ran(tmp_path)
    assert "1 passed" in done.stdout, done.stdout


def test_without_its_setting_it_says_so(tmp_path: Path) -> None:
    """No test is failed for what pytest does not report."""
    done = ran(tmp_path, "-o", "enable_assertion_pass_hook=false", test_one="def test_one(): pass")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "enable_assertion_pass_hook = true" in done.stderr
