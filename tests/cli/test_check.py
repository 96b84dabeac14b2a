"""`lifecycle check`: a project's checks by their names, after the user's yes, with their own end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import EvidenceRoom, RunRecord
from tests.cli.outcome import ok, refused
from tests.conftest import STARTED, Place

SOAKED = pytest.mark.soak(
    "cli/test_check.py::test_nothing_runs_before_the_yes_and_an_agent_cannot_give_it",
    "evidence/checks/test_check_engine.py::test_all_of_a_run_is_kept",
)

SETTINGS = """
[checks.commands]
test = ["sh", "test.sh"]
lint = "sh -c 'echo linted; echo warned >&2; exit 3'"
shell = "true && false"
"""
AGENT = {"CLAUDE_CODE_SESSION_ID": "s-1"}


@pytest.fixture
def project(place: Place) -> Place:
    """A worktree with checks that the user has said yes to."""
    (place.root / ".lifecycle.toml").write_text(SETTINGS)
    (place.root / "test.sh").write_text("echo '==== 3 passed in 0.1s ===='\n")
    ok(place.cli("trust", "--yes"))
    return place


def test_nothing_runs_before_the_yes_and_an_agent_cannot_give_it(place: Place) -> None:
    """What comes with the repository is named; after a change it is asked for anew."""
    (place.root / ".lifecycle.toml").write_text('[checks.commands]\nlint = "touch ran"\n')
    for more in ({}, AGENT):
        sentence = refused(place.cli("check", "lint", **more))
        assert "`touch ran`" in sentence
        assert "lifecycle trust" in sentence
    refused(place.cli("trust", "--yes", **AGENT))
    assert not (place.root / "ran").exists()
    shown = ok(place.cli("trust", "--yes"))
    assert "lint: `touch ran`" in shown
    assert place.cli("check", "lint").returncode == 0
    assert (place.root / "ran").exists()
    (place.root / ".lifecycle.toml").write_text('[checks.commands]\nlint = "touch other"\n')
    refused(place.cli("check", "lint"))
    assert not (place.root / "other").exists()
    data = json.loads(ok(place.cli("trust", "--show", "--json")))
    assert (data["checks"], data["trusted"]) == ({"lint": ["touch other"]}, False)
    ok(place.cli("trust", "--yes"))
    ok(place.cli("trust", "--revoke"))
    refused(place.cli("check", "lint"))


def test_the_output_and_the_status_are_the_commands(project: Place) -> None:
    """Each stream is its own; what we say stands on standard error."""
    done = project.cli("check", "lint")
    assert (done.returncode, done.stdout) == (3, "linted\n")
    first, second = done.stderr.splitlines()
    assert first == "warned"
    assert second.startswith("lifecycle: lint FAILED")
    assert (project.root / second.rpartition("log: ")[2]).read_text() in (
        "linted\nwarned\n",
        "warned\nlinted\n",
    )


@SOAKED
def test_as_json_the_output_goes_to_standard_error(project: Place) -> None:
    """One object, with all that is kept, and what else is to be said; the status stays the command's."""
    (project.root / "test.sh").write_text("echo '==== 3 passed in 0.1s ====' | tee coverage.xml\n")
    done = project.cli("check", "lint", "--json", **AGENT)
    data = json.loads(done.stdout)
    assert (done.returncode, data["status"], data["outcome"]) == (3, 3, "FAILED")
    assert data["argv"] == ["sh", "-c", "echo linted; echo warned >&2; exit 3"]
    assert (data["session"], data["folder"]) == ("s-1", str(project.root))
    assert {"linted", "warned"} <= set(done.stderr.splitlines())
    data = json.loads(project.cli("check", "test", "--json").stdout)
    assert (data["outcome"], data["made"]) == ("PASSED", ["coverage.xml"])
    assert "coverage.xml" in data["remarks"][0]
    assert data["tree"] == data["tree_before"] != data["tree_after"]


@SOAKED
def test_the_list_says_what_runs_and_how_it_stands(project: Place) -> None:
    """Name, words, where they come from, whether they may run, the last outcome, and the standing."""
    listed = json.loads(ok(project.cli("check", "--list", "--json")))["checks"]
    assert [one["name"] for one in listed] == ["test", "lint", "shell"]
    assert listed[0] == {
        "name": "test",
        "commands": [["sh", "test.sh"]],
        "from": "checks.commands in .lifecycle.toml",
        "needs_trust": True,
        "trusted": True,
        "problem": "",
        "last": None,
        "standing": "missing",
    }
    assert "needs a shell" in listed[2]["problem"]
    assert 'write [["true"], ["false"]]' in refused(project.cli("check", "shell"))
    assert project.cli("check", "lint").returncode == 3
    assert project.cli("check", "test").returncode == 0
    shown = ok(project.cli("check", "--list"))
    assert "trusted; passed on the files as they are" in shown
    assert "trusted; failed" in shown
    (project.root / "more.py").touch()
    assert "trusted; passed, before files were changed" in ok(project.cli("check", "--list"))


def test_the_list_judges_the_tests_as_a_stop_does(project: Place) -> None:
    """Of several test commands one that the agent ran says nothing of another; the check runs all."""
    stages = '[stages]\ntest = ["make api", "make unit"]\n'
    (project.root / ".lifecycle.toml").write_text(f"{SETTINGS}{stages}")
    run = RunRecord(1.0, "make unit", Outcome.PASSED, "t", suites=("make unit",))
    EvidenceRoom(project.root).add(run)
    assert "run with some of the project's test commands only" in ok(project.cli("check", "--list"))
    assert project.cli("check", "test").returncode == 0
    assert "trusted; passed on the files as they are" in ok(project.cli("check", "--list"))


@SOAKED
@pytest.mark.parametrize(
    "words", [[], ["--list", "test"], ["test", "--seconds", "0"], ["test", "--seconds", "nan"]]
)
def test_a_command_line_that_means_nothing(project: Place, words: list[str]) -> None:
    """Exit 2, and nothing runs."""
    assert project.cli("check", *words).returncode == 2
    assert not (project.root / ".lifecycle/evidence").exists()


@SOAKED
def test_more_words_and_a_limit(project: Place) -> None:
    """What stands behind -- is the command's; --seconds ends it with 124."""
    (project.root / "test.sh").write_text('echo "$@"; test -z "$1" || exec sleep 1000\n')
    done = project.cli("check", "test", "--seconds", "0.3", "--", "--seconds", "9")
    assert (done.returncode, done.stdout) == (124, "--seconds 9\n")
    assert "test PARTIAL (" in done.stderr
    broken = "echo '==== 2 passed, 1 error in 0.1s ===='; exit 1\n"
    (project.root / "test.sh").write_text(broken)
    assert "test FAILED: 2 passed, 1 error in " in project.cli("check", "test").stderr
    assert project.cli("check", "nope").returncode == 1


@SOAKED
@pytest.mark.started  # a signal is for the command itself
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_command_with_us(project: Place, number: int, code: int) -> None:
    """Its whole group is gone when we are, and one line says that it was stopped, as the record does."""
    (project.root / "test.sh").write_text("sleep 1000 & echo $!; exec sleep 1000\n")
    with subprocess.Popen(
        [str(STARTED), "check", "test"],
        cwd=project.root,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.send_signal(number)
        _, said = process.communicate()
    assert process.returncode == code
    (line,) = said.decode().splitlines()
    assert "test PARTIAL (it was stopped" in line
    assert not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text()
    (run,) = json.loads((project.root / ".lifecycle/evidence/records.json").read_text())["records"]
    assert run["outcome"] == "partial"


@SOAKED
def test_a_reader_that_goes_away_does_not_end_the_check(project: Place) -> None:
    """`lifecycle check test | head -1`: it runs to its end, and is remembered."""
    (project.root / "test.sh").write_text("for n in 1 2 3; do echo $n; done; touch ended\n")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [str(STARTED), "check", "test"],
        cwd=project.root,
        env=project.environment,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (project.root / "ended").exists()
    assert b"lifecycle: test PASSED" in done.stderr
    assert done.returncode == 0


def test_what_comes_after_the_command_is_not_imported_before_it() -> None:
    """A check adds less than 0.3 s to its command in a large tree: what reads its end is met meanwhile."""
    later = (
        *("sqlite3", "hashlib", "lifecycle.evidence.junit"),
        *("lifecycle.evidence.checks.check_reading", "lifecycle.core.ports"),
    )
    code = f"import sys, lifecycle.cli.checks.check; print(sys.modules.keys() & {set(later)!r})"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout == "set()\n"
