"""`lifecycle trust`: commands of a project's file run after a person's yes, and not before."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.outcome import ok, refused
from tests.clones import clone
from tests.conftest import COMMAND, Place
from tests.trackers.beads import simulated

SOAKED = pytest.mark.soak(
    "cli/test_trust.py::test_handoff_runs_nothing_before_the_yes",
    "evidence/checks/test_known_checks.py::test_what_comes_with_the_repository_needs_the_yes",
)

VALIDATE = 'validate = ["touch ran", "test -f valid"]\n'


@pytest.fixture
def project(place: Place) -> Place:
    """A claim, a commit, and a file that wants to run commands."""
    ok(place.cli("claim", "42"))
    (place.root / ".lifecycle.toml").write_text(VALIDATE)
    (place.root / "valid").touch()
    place.work(str(place.claim()["branch"]), push=False)
    return place


def answered(place: Place, answer: str) -> tuple[int, str]:
    """`lifecycle trust` on a terminal whose user types this: the exit code and what was shown."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [str(COMMAND), "trust"],
        cwd=place.root,
        env=place.environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    ) as process:
        os.close(slave)
        os.write(master, answer.encode())
        shown = b""
        try:
            while chunk := os.read(master, 4096):
                shown += chunk
        except OSError:  # the terminal's other end was closed: the command is over
            pass
        finally:
            os.close(master)
    return process.returncode, shown.decode()


def test_handoff_runs_nothing_before_the_yes(project: Place) -> None:
    """Untrusted commands are named, nothing runs, nothing is pushed, the phase stays."""
    sentence = refused(project.cli("handoff", "--summary", "Fix"))
    assert "`touch ran`, `test -f valid`" in sentence
    assert "lifecycle trust" in sentence
    assert not (project.root / "ran").exists()
    assert project.claim()["phase"] == "coding"
    assert f"refs/heads/{project.claim()['branch']}" not in project.control.world()["refs"]


@SOAKED
def test_after_the_yes_they_run_until_they_change(project: Place) -> None:
    """The yes is for these words: another command in the file asks again."""
    ok(project.cli("trust", "--yes"))
    ok(project.cli("handoff", "--summary", "Fix"))
    assert (project.root / "ran").exists()
    (project.root / ".lifecycle.toml").write_text('validate = ["touch other"]\n')
    assert "touch other" in refused(project.cli("handoff", "--summary", "Fix"))
    assert not (project.root / "other").exists()


@SOAKED
def test_the_yes_is_shared_by_the_worktrees_of_one_clone(project: Place, tmp_path: Path) -> None:
    """A second worktree is not asked again; a second clone is."""
    ok(project.cli("trust", "--yes"))
    project.git("worktree", "add", "--quiet", "-b", "second", str(tmp_path / "second tree"))
    second = tmp_path / "second clone"
    clone(project.info.git_url, second, project.environment)
    answers = []
    for root in (tmp_path / "second tree", second):
        (root / ".lifecycle.toml").write_text(VALIDATE)
        (root / "sub").mkdir()
        other = Place(project.info, project.control, root / "sub", project.environment)
        answers.append(json.loads(ok(other.cli("trust", "--show", "--json")))["trusted"])
    assert answers == [True, False]


@SOAKED
def test_a_person_is_asked_on_the_terminal(project: Place) -> None:
    """The commands are shown first; y allows, anything else leaves it as it was."""
    code, shown = answered(project, "n\n")
    assert code == 1
    assert shown.index("touch ran") < shown.index("test -f valid") < shown.index("[y/N]")
    assert "These may not run yet" in ok(project.cli("trust", "--show"))
    assert answered(project, "\n")[0] == 1
    code, shown = answered(project, "y\n")
    assert (code, "These may now run" in shown) == (0, True)
    assert "These may run." in ok(project.cli("trust", "--show"))


@SOAKED
def test_without_a_terminal_nothing_is_allowed(project: Place) -> None:
    """A script needs --yes; the sentence names the commands, shows where each ends, and says so."""
    said = refused(project.cli("trust"))
    assert "in this order: `touch ran` `test -f valid` There is no terminal" in said
    assert "--yes" in said
    data = json.loads(project.cli("trust", "--json").stdout)
    assert data["error"]["kind"] == "Refused"
    assert json.loads(ok(project.cli("trust", "--show", "--json"))) == {
        "commands": ["touch ran", "test -f valid"],
        "program": None,
        "trusted": False,
    }


@SOAKED
def test_an_agent_cannot_say_yes_for_its_user(project: Place) -> None:
    """In an agent's session the command refuses; looking is allowed."""
    agent = {"CLAUDE_CODE_SESSION_ID": "1"}
    assert "terminal of their own" in refused(project.cli("trust", "--yes", **agent))
    assert "These may not run yet" in ok(project.cli("trust", "--show", **agent))


@SOAKED
def test_the_yes_can_be_taken_back(project: Place) -> None:
    """After --revoke, handoff refuses again; a second time there is nothing to take back."""
    ok(project.cli("trust", "--yes"))
    assert "may no longer run" in ok(project.cli("trust", "--revoke"))
    assert "nothing was changed" in ok(project.cli("trust", "--revoke"))
    assert "lifecycle trust" in refused(project.cli("handoff", "--summary", "Fix"))


@SOAKED
def test_no_commands_need_no_trust(place: Place) -> None:
    """Nothing is asked and nothing is written where the file names no command."""
    assert "nothing to trust" in ok(place.cli("trust"))
    assert not Path(place.environment["XDG_CONFIG_HOME"]).exists()


@SOAKED
def test_what_a_terminal_would_hide_is_shown(project: Place) -> None:
    """A control sequence in a stranger's file cannot hide the command that it stands in."""
    hiding = "validate = 'echo'\n".replace("'echo'", '"evil # \\u001b[2K\\rmake test\\u202e"')
    (project.root / ".lifecycle.toml").write_text(hiding)
    for done in (
        project.cli("trust", "--show"),
        project.cli("trust"),
        project.cli("handoff", "--summary", "Fix"),
    ):
        said = done.stdout + done.stderr
        assert "evil # \\x1b[2K\\rmake test\\u202e" in said
        assert "\x1b" not in said


@SOAKED
def test_options_that_contradict_are_a_usage_error(place: Place) -> None:
    """One question at a time."""
    assert place.cli("trust", "--yes", "--revoke").returncode == 2


@pytest.fixture
def tasks(place: Place, tmp_path: Path) -> Place:
    """A clone with a database of bd's, the program, and nobody's yes."""
    folder = tmp_path / "bin"
    simulated.install(folder)
    simulated.workspace(place.root, folder)
    path = f"{folder}{os.pathsep}{place.environment['PATH']}"
    return replace(place, environment={**place.environment, "PATH": path})


def test_bd_is_not_run_before_the_yes(tasks: Place, tmp_path: Path) -> None:
    """Neither at a session's start nor by a command; GitHub's issues take its place, and that is said."""
    (tasks.root / ".lifecycle.toml").write_text("stages.use = true\n")
    tasks.hook("session-start", {"hook_event_name": "SessionStart", "source": "startup"})
    done = tasks.cli("tracker", "ready")
    assert done.returncode == 0
    assert "nobody has allowed bd to run in this repository" in done.stderr
    assert "lifecycle trust" in done.stderr
    ok(tasks.cli("claim", "42"))
    assert simulated.calls(tmp_path / "bin") == []
    (tasks.root / ".lifecycle.toml").write_text('tracker.use = "beads"\n')
    assert "Nobody has allowed bd" in refused(tasks.cli("tracker", "ready"))
    assert simulated.calls(tmp_path / "bin") == []


@SOAKED
def test_after_the_yes_bd_is_run_and_sees_no_token(tasks: Place, tmp_path: Path) -> None:
    """It is shown with what else would run; the tokens of the user are withheld from it."""
    assert "lifecycle runs bd" in ok(tasks.cli("trust", "--show"))
    assert json.loads(ok(tasks.cli("trust", "--show", "--json")))["program"] == "bd"
    ok(tasks.cli("trust", "--yes"))
    seen, outer = tmp_path / "seen", tmp_path / "outer"
    outer.mkdir()
    (outer / "bd").write_text(f"#!/bin/sh\nenv >> '{seen}'\nexec '{tmp_path}/bin/bd' \"$@\"\n")
    (outer / "bd").chmod(0o755)
    path = f"{outer}{os.pathsep}{tasks.environment['PATH']}"
    ok(tasks.cli("tracker", "ready", PATH=path, GITHUB_TOKEN="another one"))
    assert "BEADS_ACTOR=" in seen.read_text()
    assert "GH_TOKEN" not in seen.read_text()
    assert "GITHUB_TOKEN" not in seen.read_text()
    simulated.forget(tmp_path / "bin")
    ok(tasks.cli("trust", "--revoke"))
    assert "nobody has allowed" in tasks.cli("tracker", "ready").stderr
    assert simulated.calls(tmp_path / "bin") == []


@SOAKED
def test_init_is_a_yes_to_bd(tasks: Place, tmp_path: Path) -> None:
    """Whoever wires the project says so; looking does not, and an agent cannot."""
    agent = {"CLAUDE_CODE_SESSION_ID": "1"}
    assert '"programs": [\n+        "bd"\n' in ok(tasks.cli("init", "--dry-run"))
    assert "a person allows it with: lifecycle trust" in ok(tasks.cli("init", **agent))
    assert "nobody has allowed" in tasks.cli("tracker", "ready").stderr
    ok(tasks.cli("init"))
    assert simulated.calls(tmp_path / "bin") == []
    assert tasks.cli("tracker", "ready").stderr == ""
    assert simulated.calls(tmp_path / "bin")
    assert "already set up" in ok(tasks.cli("init"))
