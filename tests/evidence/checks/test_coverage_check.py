"""A check of coverage passes when a number was read where its platform says, and not otherwise."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lifecycle.core.timing import SystemClock
from lifecycle.evidence.checks import known_checks
from lifecycle.evidence.checks.check_engine import CheckRun
from lifecycle.evidence.checks.check_reading import missing_tool
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import RunRecord
from lifecycle.settings import config
from tests.batches import each_row
from tests.platforms.platform_ground import put

COUNTS = r"(?P<covered>\d+) of (?P<total>\d+)"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's home, beside a worktree that is known by a marker."""
    root = tmp_path / "work/root"
    subprocess.run(["git", "init", "--quiet", root], check=True)
    (root / "marker").touch()
    return tmp_path / "home"


def checked(
    home: Path, coverage: dict[str, object] | None, *scripts: str, name: str = "coverage"
) -> RunRecord:
    """What is kept of a check by a platform of the user's, whose commands for it are these scripts."""
    root = home.parent / "work/root"
    commands = {name: [["sh", "-c", script] for script in scripts]}
    put(home / ".config/lifecycle/platforms", "own", commands=commands, coverage=coverage)
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": ""}
    settings = config.load(root, environment)
    check = known_checks.demanded(name, root, settings, environment)

    def take(part: bytes) -> None:
        """It is kept."""

    run = CheckRun(root, environment, SystemClock(), settings, check, take, take, seconds=60.0)
    return run.result().record


def test_the_number_is_read_from_all_that_was_printed(home: Path) -> None:
    """Several commands are one check: the number may stand in the output of any of them."""
    pattern: dict[str, object] = {"pattern": COUNTS}
    done = checked(home, pattern, "echo 3 of 4", "echo reported")
    assert (done.outcome, done.why) == (Outcome.PASSED, "coverage 75 %")
    done = checked(home, pattern, "echo begun", "echo 1 of 2")
    assert (done.outcome, done.why) == (Outcome.PASSED, "coverage 50 %")


def test_without_a_number_it_is_no_evidence(home: Path) -> None:
    """Success alone is not enough, nor is a number in another place than the platform says."""
    pattern: dict[str, object] = {"pattern": COUNTS}
    assert checked(home, pattern, "echo none").outcome is Outcome.UNKNOWN
    assert checked(home, pattern, "echo 'coverage: 90%'").outcome is Outcome.UNKNOWN
    assert checked(home, None, "echo none").outcome is Outcome.UNKNOWN


def test_a_failure_is_one_whatever_was_read(home: Path) -> None:
    """The status counts first, that of each command."""
    pattern: dict[str, object] = {"pattern": COUNTS}
    assert checked(home, pattern, "echo 3 of 4; exit 1").outcome is Outcome.FAILED
    assert checked(home, pattern, "exit 1", "echo 3 of 4").outcome is Outcome.FAILED
    assert checked(home, None, "exit 1").outcome is Outcome.FAILED


def test_a_report_of_an_earlier_run_is_none_of_this_one(home: Path) -> None:
    """A file counts if this run wrote it."""
    source: dict[str, object] = {"pattern": COUNTS, "files": ["report"]}
    report = home.parent / "work/root/report"
    report.write_text("9 of 9")
    os.utime(report, (1_000_000_000, 1_000_000_000))
    assert checked(home, source, "true").outcome is Outcome.UNKNOWN
    done = checked(home, source, "echo 1 of 4 >report")
    assert (done.outcome, done.why) == (Outcome.PASSED, "coverage 25 %")


ABSENT = {
    "error: no such command: `llvm-cov`\n\nhelp: view all installed commands with `cargo --list`\n"
    "help: find a package to install `llvm-cov` with `cargo search cargo-llvm-cov`\n": (
        101,
        "cargo-llvm-cov is not installed (install it with: cargo install cargo-llvm-cov)",
    ),
    "error: 'cargo-clippy' is not installed for the toolchain 'stable'.\n"
    "To install, run `rustup component add clippy`\n": (
        1,
        "clippy is not installed (install it with: rustup component add clippy)",
    ),
    "ERROR: usage: python -m pytest [options] [file_or_dir] [file_or_dir] [...]\n"
    "python -m pytest: error: unrecognized arguments: --cov --cov-report=term\n  inifile: None\n": (
        4,
        "pytest-cov is not installed (install it with: python -m pip install pytest-cov)",
    ),
    "/venv/bin/python3: No module named pytest\n": (
        1,
        "pytest is not installed (install it with: python -m pip install pytest)",
    ),
    'go: no such tool "covdata"\n': (1, "go tool covdata is not installed"),
    "Data collection : Unable to find a datacollector with friendly name 'XPlat Code Coverage'.\n": (
        0,
        "coverlet.collector is not installed (install it with: dotnet add package coverlet.collector)",
    ),
    "error: Failed to spawn: `ruff`\n  Caused by: No such file or directory (os error 2)\n": (
        2,
        "ruff is not installed",
    ),
    "ERROR: JAVA_HOME is not set and no 'java' command could be found in your PATH.\n": (
        1,
        "Java is not installed",
    ),
    "\n> coverage\n> nyc npm test\n\nsh: 1: nyc: not found\n": (127, "nyc is not installed"),
    "/bin/sh: line 1: nyc: command not found\nmake: *** [Makefile:2: cov] Error 127\n": (
        2,
        "nyc is not installed",
    ),
    "Command not found: ruff\n": (1, "ruff is not installed"),
    "zsh:1: command not found: nyc\n": (127, "nyc is not installed"),
    "Error: command not found: frob\n": (1, ""),
    "main.py: key: not found\n": (1, ""),
    "ModuleNotFoundError: No module named 'ex'\n": (1, ""),
    "error: package ID specification `x` did not match any packages\n": (101, ""),
}
"""What commands printed that did not find a program, their exit status, and what is said of it."""


@each_row(("output", "status", "why"), [(output, *row) for output, row in ABSENT.items()])
def test_a_program_that_is_not_there_is_named_with_what_installs_it(
    output: str, status: int, why: str
) -> None:
    """No edit of the code mends that; what the code itself does not find is its own."""
    assert missing_tool(status, output) == why


def test_coverage_without_its_program_says_so(home: Path) -> None:
    """Whatever it ended with; where a percentage was read, it was there."""
    text = "Unable to find a datacollector with friendly name 'XPlat Code Coverage'."
    pattern: dict[str, object] = {"pattern": COUNTS}
    done = checked(home, pattern, f'echo "{text}"')
    assert (done.outcome, done.why.split(" (")[0]) == (
        Outcome.UNKNOWN,
        "coverlet.collector is not installed",
    )
    assert checked(home, pattern, f'echo "{text}" 3 of 4').outcome is Outcome.PASSED
    done = checked(home, pattern, "no-such-program --cov")
    assert (done.outcome, done.why) == (Outcome.FAILED, "no-such-program is not installed")


@pytest.mark.parametrize("name", ["coverage", "build", "test"])
def test_what_tests_print_themselves_is_no_program_that_is_missing(home: Path, name: str) -> None:
    """Where tests ran, the code failed, though they quote a shell: one was told to install that."""
    quoted = "printf 'sh: 1: frob: not found\\n'"
    ran = "printf '=== 1 failed, 2 passed in 0.1s ===\\n'; exit 127"
    done = checked(home, None, f"{quoted}; {ran}", name=name)
    assert (done.outcome, "installed" in done.why) == (Outcome.FAILED, False)
    absent = checked(home, None, f"{quoted}; exit 127", name=name)
    assert (absent.outcome, absent.why) == (Outcome.FAILED, "frob is not installed")


def test_without_a_platforms_word_a_known_programs_number_is_read(home: Path) -> None:
    """As in the output of pytest-cov or of Go: of the last command, and if that has none, of another."""
    other, last = "echo 'TOTAL 9 1 90%'", "echo 'coverage: 66.7% of statements'"
    for scripts in (("echo begun", last), (other, last), (last, "echo ended")):
        done = checked(home, None, *scripts)
        assert (done.outcome, done.why) == (Outcome.PASSED, "coverage 66.7 %")
