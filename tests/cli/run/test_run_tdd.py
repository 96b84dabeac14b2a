"""The commands of red and green, as processes: a real test that fails, then passes, and what is refused."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time

import pytest
from msgspec.structs import replace

from lifecycle.run.state import Criterion, Story
from lifecycle.run.table import RunPhase, StoryStatus, TddPhase
from tests.bare_pytest import BARE
from tests.cli.outcome import ok
from tests.conftest import COMMAND
from tests.run.run_ground import RunGround

VIOLATION = """STOP. TDD violation detected.
Current phase: none
Expected: red (write failing test first)
Developer must write a failing test before implementation.
"""
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


class Cycle:
    """A story of a project whose tests pytest runs."""

    def __init__(self, ground: RunGround) -> None:
        self.ground, self.root = ground, ground.root
        command = shlex.join([sys.executable, "-m", "pytest", "-q", *BARE])
        self.write(".lifecycle.toml", f"[checks.commands]\ntest = {json.dumps(command)}\n")
        self.write(".gitignore", "__pycache__/\n")
        self.write("test_more.py", "def test_more():\n    pass\n")
        ground.git("add", ".")
        ground.git("commit", "--quiet", "-m", "Begin")
        self.lifecycle("trust", "--yes")
        story = Story("S1", "Adds numbers", status=StoryStatus.IN_PROGRESS, started=1.0)
        ground.kept(replace(ground.begun(), stories=(story, Story("S2", "Tells it"))))

    def write(self, path: str, text: str) -> None:
        """Write a file of the project."""
        (self.root / path).write_text(text)

    def lifecycle(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command here; it may fail."""
        return subprocess.run(
            [COMMAND, *words],
            cwd=self.root,
            env=self.ground.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def cycle(ground: RunGround) -> Cycle:
    """A story at work, and the project's one test passes."""
    return Cycle(ground)


def test_red_and_green_are_run_and_not_said(cycle: Cycle) -> None:
    """The design's lines in their order; at each step what was not run is refused, and nothing changes."""
    ground = cycle.ground
    done = ground.run("tdd-phase", "S1", "green")
    assert (done.returncode, done.stdout) == (1, VIOLATION)
    assert ground.said("tdd-validate", "S1", "green") == '{"valid": false, "expected": "red"}\n'
    assert ground.said("tdd-phase", "S1", "red").startswith(
        "S1 TDD phase: red (write failing test first)\n"
    )
    cycle.write("test_calc.py", TEST)
    assert cycle.lifecycle("check", "test").returncode == 2
    done = ground.run("tdd-phase", "S1", "green")  # there is no calc yet: an import error
    assert done.returncode == 1
    assert "Current phase: red\nExpected: red (write failing test first)\n" in done.stdout
    assert "failed by an error and not by an assertion (test_calc.py)" in done.stdout
    cycle.write("calc.py", "def add(first, second):\n    return 0\n")
    assert cycle.lifecycle("check", "test").returncode == 1
    assert ground.said("tdd-validate", "S1", "green") == '{"valid": true}\n'
    shown = ground.data("tdd-phase", "S1", "green")
    assert (shown["phase"], shown["red"]["tests"]) == ("green", ["test_calc.py::test_add"])
    assert [*shown["red"]["files"]] == ["test_calc.py"]
    assert ground.said("tdd-status", "S1") == '"green"\n'
    done = ground.run("tdd-phase", "S1", "verify", "--json")
    refused = json.loads(done.stdout)
    assert (done.returncode, refused["current"], refused["expected"]) == (1, "green", "green")
    cycle.write("calc.py", "def add(first, second):\n    return first + second\n")
    assert "green" not in ground.data("tdd-status", "S1")
    ground.said("gate", "G3", "S1")  # a gate sees it, too
    assert ground.data("tdd-status", "S1")["green"]["tests"] == ["test_calc.py::test_add"]
    assert "### GREEN\nRun: " in ground.said("tdd-phase", "S1", "refactor")
    cycle.write("calc.py", "def add(one, two):\n    return one + two\n")
    assert ground.said("tdd-validate", "S1", "verify") == '{"valid": false, "expected": "green"}\n'
    cycle.write("test_calc.py", TEST.replace("add(1, 2) == 3", "True"))
    ok(cycle.lifecycle("check", "test"))
    said = ground.said("tdd-phase", "S1", "verify")
    assert "### Tests that were changed between RED and GREEN\n- test_calc.py\n" in said
    assert ground.data("tdd-status", "S1")["green"]["changed"] == ["test_calc.py"]


@pytest.mark.soak(
    "cli/run/test_run_tdd.py::test_red_and_green_are_run_and_not_said",
    "run/test_tdd_moves.py::test_after_the_clock_was_set_back_a_story_has_its_own_red_and_green",
)
def test_after_the_clock_was_set_back_the_first_run_shows_red(cycle: Cycle) -> None:
    """The story began in the future: what failed before is none of its tests, and what failed since is."""
    ground = cycle.ground
    cycle.write("calc.py", "def add(first, second):\n    return 0\n")
    cycle.write("test_calc.py", TEST)
    assert cycle.lifecycle("check", "test").returncode == 1
    story = Story("S1", "Adds", criteria=(Criterion("a sum"),), design="a def", files=("calc.py",))
    ground.kept(ground.store.demanded().but(stories=(story,), phase=RunPhase.DEVELOPMENT))
    ground.said("update-story", "S1", "in_progress")
    run = ground.store.demanded()
    ahead = run.story("S1").but(started=time.time() + 3600, tdd=TddPhase.RED)
    ground.kept(run.with_story(ahead))
    assert "no run of the tests failed" in ground.run("tdd-phase", "S1", "green").stdout
    assert cycle.lifecycle("check", "test").returncode == 1
    assert "failed before" in ground.run("tdd-phase", "S1", "green").stdout
    cycle.write("test_sum.py", TEST)
    assert cycle.lifecycle("check", "test").returncode == 1
    assert ground.data("tdd-phase", "S1", "green")["red"]["tests"] == ["test_sum.py::test_add"]


def test_a_waiver_is_recorded(cycle: Cycle) -> None:
    """With its reason, in the state; it needs one."""
    ground = cycle.ground
    said = ground.said("tdd", "waive", "S2", "--reason", "documents only")
    assert said == "S2 TDD waived: documents only\n"
    assert ground.data("tdd-status", "S2")["waived"] == "documents only"
    assert ground.said("tdd-validate", "S2", "verify") == '{"valid": true}\n'
    assert ground.run("tdd", "waive", "S2").returncode == 2
    cycle.write("calc.py", "def add(one, two):\n    return one + two\n")
    done = ground.run("tdd", "waive", "S1", "--reason", "documents only")
    assert (done.returncode, "S1 has changed calc.py" in done.stderr) == (1, True)
    assert "waived" not in ground.data("tdd-status", "S1")
    done = ground.run("tdd", "waive", "S7", "--reason", "x")
    assert done.returncode == 1
    assert "no story" in done.stderr
