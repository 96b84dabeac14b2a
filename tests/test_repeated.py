"""What is left to `make soak`, and what shows it in `make test`."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

from tests.bare_pytest import only
from tests.repeated import NAMELESS, NOT_SEVERAL, WITHOUT_REASON, beside

TESTS = Path(__file__).parent

CASES = """
import pytest
from tests.repeated import DEATHS, soaked

@pytest.mark.parametrize("number", [1, soaked(2), soaked(3)])
def test_some(number): assert number == 1

@pytest.mark.once("test_some has the table")
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_first(number): assert number == 1

@pytest.mark.once("the other number")
@pytest.mark.parametrize("number", [1, 2])
@DEATHS
def test_deaths(after, number): assert after and number == 1

@pytest.mark.soak("test_cases.py::test_some")
def test_elsewhere(): assert 0
"""

NOTHING_LEFT = """
import pytest
from tests.repeated import soaked

@pytest.mark.parametrize("number", [soaked(1), soaked(2)])
def test_of_which_nothing_is_left(number): assert 1
"""

WHOLE = """
import pytest

@pytest.mark.soak
def test_whole(): assert 1
"""

NO_REASON = """
import pytest

@pytest.mark.once
@pytest.mark.parametrize("number", [1, 2])
def test_several(number): assert 1
"""

ONE = """
import pytest

@pytest.mark.once("it is enough")
def test_alone(): assert 1
"""


def run(folder: Path, text: str, *options: str) -> str:
    """What pytest prints of these tests, with the plug-in alone."""
    (folder / "test_cases.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.repeated", "-q", "--strict-markers"]
    done = subprocess.run(
        [*command, *options],
        cwd=folder, env={"PYTHONPATH": str(TESTS.parent), **only("xdist.plugin")},
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    return done.stdout


def test_the_end_of_a_run_says_what_is_elsewhere(tmp_path: Path) -> None:
    """Nine cases are left out, also where workers leave them out; other selections say nothing."""
    for workers in ((), ("-n", "2")):
        printed = run(tmp_path, CASES, "-m", "not soak", *workers)
        assert beside(9) in printed
        assert "3 passed" in printed
    assert "make soak" not in run(tmp_path, CASES, "-m", "soak")
    assert "4 failed" not in run(tmp_path, CASES, "-m", "not soak", "-k", "first")


@pytest.mark.once("each sentence stands beside its question, in one function")
@pytest.mark.parametrize(
    ("text", "said"),
    [(NOTHING_LEFT, NAMELESS), (WHOLE, NAMELESS), (NO_REASON, WITHOUT_REASON), (ONE, NOT_SEVERAL)],
    ids=["no case stays", "whole, and nothing named", "once, without a reason", "once, of one"],
)
def test_what_is_left_out_without_a_word_is_not_collected(
    tmp_path: Path, text: str, said: str
) -> None:
    """Nothing leaves `make test` without what shows the same there."""
    printed = run(tmp_path, text)
    assert said in printed
    assert "1 error" in printed
    assert "passed" not in printed


def _is_mark(value: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "pytest.mark.soak"


def _marks(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """The functions of a module that are marked `soak` with names; the module itself is ""."""
    named = {
        ast.unparse(node.targets[0]): node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_mark(node.value)
    }
    if "pytestmark" in named:
        yield "", named["pytestmark"]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for one in node.decorator_list:
                value = named.get(ast.unparse(one), one)
                if _is_mark(value):
                    yield node.name, value


def test_what_shows_the_same_is_there() -> None:
    """Each test that is named in place of one that is left out exists, and is not left out itself."""
    trees = {
        path.relative_to(TESTS).as_posix(): ast.parse(path.read_text())
        for path in sorted(TESTS.rglob("test_*.py"))
        if "soak" in path.read_text()
    }
    left_out = {f"{path}::{owner}" for path, tree in trees.items() for owner, _ in _marks(tree)}
    named = {
        (f"{path}::{owner}", ast.literal_eval(argument))
        for path, tree in trees.items()
        for owner, mark in _marks(tree)
        for argument in mark.args
    }
    assert left_out
    for owner, name in sorted(named):
        path, _, function = name.partition("::")
        assert (TESTS / path).is_file(), f"{owner} names {name}: there is no such file"
        assert f"\ndef {function}(" in (TESTS / path).read_text(), f"{owner} names {name}: no test"
        stays = name not in left_out and f"{path}::" not in left_out
        assert stays, f"{owner} names {name}, which is left out as well"
