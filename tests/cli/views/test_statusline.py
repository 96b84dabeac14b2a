"""The client's status line: what it says, when it is made anew, and that it is silent everywhere else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lifecycle.settings.resources import hook_script
from lifecycle.storage.store import CLAIM_FILE
from lifecycle.views.prepared_line import SOURCES
from tests.cli.outcome import ok
from tests.cli.views.view_ground import EVIL, ViewGround, viewed
from tests.conftest import COMMAND
from tests.views.overview.overview_ground import PULL

SHELLS = [shell for shell in ("dash", "bash") if shutil.which(shell)]
SCRIPT = hook_script("statusline")
KEPT = ".git/lifecycle.line"
EVENT = json.dumps({"session_id": "x", "cwd": "/", "model": {"id": "m"}, "workspace": {}})


def words(line: str) -> str:
    """A line without colours and links."""
    return re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x07]*\x07", "", line).strip()


def shown(
    ground: ViewGround, *arguments: str, shell: str = "dash", stdin: str = EVENT, **more: str
) -> str:
    """What the client shows: the script's output. It never fails, and says nothing on standard error."""
    done = subprocess.run(
        [str(shutil.which(shell)), str(SCRIPT), *arguments],
        cwd="/",
        env={
            **ground.environment,
            "CLAUDE_PROJECT_DIR": str(ground.root),
            "LIFECYCLE_BIN": str(COMMAND),
            **more,
        },
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def settled(ground: ViewGround) -> None:
    """Let everything that is there have been there for a while."""
    for name in (*SOURCES, ".lifecycle.toml"):
        if (path := ground.root / name).exists():
            before = path.stat().st_mtime_ns - 60_000_000_000
            os.utime(path, ns=(before, before))


@pytest.fixture
def no_python(tmp_path: Path) -> str:
    """A command that notes that it was started, in place of ours."""
    program = tmp_path / "no-python"
    program.write_text(f'#!/bin/sh\n: >"{tmp_path}/started"\n')
    program.chmod(0o755)
    return str(program)


def was_started(tmp_path: Path) -> bool:
    """True if that command was started."""
    return (tmp_path / "started").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_it_says_what_is_at_work(ground: ViewGround, shell: str) -> None:
    """What waits for a person first, then issue, phase, pull request with colour and link, stage, run."""
    ground.everything()
    line = shown(ground, shell=shell)
    assert words(line) == (
        "WAITS FOR YOU  #42 checks_running · PR #107 all green · TESTING · run 1/3 S2 red"
    )
    assert line.startswith("\x1b[1;7m WAITS FOR YOU \x1b[0m ")
    assert f"\x1b[32m\x1b]8;;{PULL}\x07PR #107\x1b]8;;\x07 all green\x1b[0m" in line
    assert line.endswith("\n")
    assert line.count("\n") == 1


@pytest.mark.parametrize("shell", SHELLS)
def test_no_process_is_started_while_nothing_changes(
    ground: ViewGround, tmp_path: Path, no_python: str, shell: str
) -> None:
    """The prepared line is printed as it is; each of its sources that changes, comes or goes ends that."""
    ground.everything()
    settled(ground)
    line = shown(ground, shell=shell)
    for _ in range(3):
        assert shown(ground, shell=shell, LIFECYCLE_BIN=no_python, PATH="/nowhere") == line
    assert not was_started(tmp_path)
    for name in SOURCES:
        path = ground.root / name
        if path.exists():
            settled(ground)
            shown(ground, shell=shell)
            os.utime(path)
            shown(ground, shell=shell, LIFECYCLE_BIN=no_python)
            assert was_started(tmp_path), name
            (tmp_path / "started").unlink()
    settled(ground)
    shown(ground, shell=shell)
    (ground.root / CLAIM_FILE).unlink()
    shown(ground, shell=shell, LIFECYCLE_BIN=no_python)
    assert was_started(tmp_path)


def test_a_change_is_shown_at_the_next_message(ground: ViewGround) -> None:
    """Also one that comes right after another one, within the same tick of the clock."""
    ground.in_review(running=1)
    assert "PR #107 checks run" in words(shown(ground))
    for failed, said in ((["lint"], "checks failed"), ([], "all green")) * 3:
        ground.in_review(failed=failed)
        assert f"PR #107 {said}" in words(shown(ground))
    ground.workflow()
    assert words(shown(ground)).endswith("bug-hunt 2/3 Mend")
    settings = ground.root / ".lifecycle.toml"
    settings.write_text("<<<<<<< HEAD\n")
    assert words(shown(ground)).endswith("settings cannot be read; see: lifecycle status")
    settings.write_text("")
    assert words(shown(ground)).endswith("bug-hunt 2/3 Mend")


def test_a_line_is_made_once_more_and_then_kept(
    ground: ViewGround, tmp_path: Path, no_python: str
) -> None:
    """What changed a moment ago is looked at again, until it can no longer change unseen."""
    ground.claim()
    shown(ground)
    shown(ground, LIFECYCLE_BIN=no_python)
    assert was_started(tmp_path)
    (tmp_path / "started").unlink()
    settled(ground)
    shown(ground)
    shown(ground, LIFECYCLE_BIN=no_python)
    assert not was_started(tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_is_said_or_done_where_nothing_is_at_work(
    ground: ViewGround, tmp_path: Path, no_python: str, shell: str
) -> None:
    """No Python, no file and no word in a repository that is not served, and outside of any."""
    for root in (ground.root, tmp_path):
        elsewhere = ViewGround(root)
        assert shown(elsewhere, shell=shell, LIFECYCLE_BIN=no_python) == ""
    assert not was_started(tmp_path)
    assert [path.name for path in ground.root.iterdir()] == [".git"]
    assert not (ground.root / KEPT).exists()


@pytest.mark.parametrize("stdin", ["", "{", "\0\xff", "[]", "x" * 70_000])
def test_a_broken_input_costs_nothing(ground: ViewGround, stdin: str) -> None:
    """The script does not read it; the command that does prints nothing where it names no folder."""
    ground.claim()
    assert words(shown(ground, stdin=stdin)) == "#42 coding"
    done = subprocess.run(
        [str(COMMAND), "statusline"],
        cwd=ground.root.parent,
        env=ground.environment,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_command_takes_the_folder_from_the_clients_json(ground: ViewGround) -> None:
    """A person can try it: `lifecycle statusline` with the client's JSON, or in the worktree."""
    ground.claim()
    event = json.dumps({"cwd": "/", "workspace": {"project_dir": str(ground.root)}})
    named = subprocess.run(
        [str(COMMAND), "statusline"],
        cwd="/",
        env=ground.environment,
        input=event,
        capture_output=True,
        text=True,
        check=False,
    )
    assert words(ok(named)) == "#42 coding"
    assert words(ok(ground.cli("statusline"))) == "#42 coding"
    assert words(json.loads(ok(ground.cli("statusline", "--json")))["line"]) == "#42 coding"


@pytest.mark.parametrize("shell", SHELLS)
def test_another_status_line_is_called_first(ground: ViewGround, shell: str) -> None:
    """It gets the client's input, its lines stand above ours, and its failure costs ours nothing."""
    ground.claim()
    event = '{"model":"opus"}'
    assert shown(ground, "cat; echo; echo more", shell=shell, stdin=event).splitlines()[:2] == [
        event,
        "more",
    ]
    assert words(shown(ground, "exit 3", shell=shell)) == "#42 coding"
    assert shown(ground, "printf theirs", shell=shell).startswith("theirs\n")
    nothing = viewed(ground.root.parent / "other")
    assert shown(nothing, "echo 'it''s'", shell=shell) == "its\n"


def test_a_linked_worktree_has_a_line_of_its_own(ground: ViewGround) -> None:
    """Kept in git's folder of that worktree."""
    other = ground.root.parent / "linked"
    base = ["git", "-c", "user.name=A", "-c", "user.email=a@b.example"]
    for line in (
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", str(other)],
    ):
        subprocess.run([*base, *line], cwd=ground.root, check=True)
    ground.claim()
    linked = ViewGround(other)
    linked.claim(phase="ready_for_pr")
    for _ in range(2):
        assert words(shown(ground)) == "#42 coding"
        assert words(shown(linked)) == "#42 ready_for_pr"
    assert (ground.root / ".git/worktrees/linked/lifecycle.line").exists()
    settled(linked)
    assert words(shown(linked)) == "#42 ready_for_pr"
    (ground.root / ".lifecycle.toml").write_text("<<<<<<< HEAD\n")  # it counts there, too
    for _ in range(2):
        assert words(shown(linked)).endswith("settings cannot be read; see: lifecycle status")
    settled(linked)
    (ground.root / ".lifecycle.toml").write_text("")
    assert words(shown(linked)) == "#42 ready_for_pr"


def test_a_repository_cannot_bring_a_line(ground: ViewGround, no_python: str) -> None:
    """What lies in the worktree is never printed, and a link in the place of the line is not followed."""
    ground.claim()
    settled(ground)
    secret = ground.root / "bait"
    secret.write_text("1 100000\n\x1b[31mpwned\n")
    (ground.root / ".lifecycle").mkdir(exist_ok=True)
    (ground.root / ".lifecycle/statusline").write_text("1 100000\npwned\n")
    (ground.root / KEPT).symlink_to(secret)
    assert shown(ground, LIFECYCLE_BIN=no_python) == ""
    assert words(shown(ground)) == "#42 coding"


def test_what_strangers_wrote_moves_nothing(ground: ViewGround) -> None:
    """Of escape sequences only ours are there: colours, and links to the pages of GitHub."""
    memory = {
        "title": EVIL,
        "pull.url": f"https://github.com/x/{EVIL}",
        "pull.conflicts_with": EVIL,
    }
    ground.claim(memory=memory, branch=EVIL, phase="checks_running", pr_number=107)
    ground.workflow(name=EVIL)
    line = shown(ground)
    assert "conflicts" in line
    assert not [c for c in words(line) if not c.isprintable()]
    assert "]8;;https://evil" not in re.sub(r"\\x1b\]8;;", "", line)


def test_what_cannot_be_read_is_named(ground: ViewGround) -> None:
    """The rest of the line is there, and says where the reason is told."""
    ground.everything()
    (ground.root / CLAIM_FILE).write_text("{")
    line = words(shown(ground))
    assert "claim cannot be read; see: lifecycle status" in line
    assert "TESTING" in line


def test_without_colours_where_the_user_wants_none(ground: ViewGround) -> None:
    """NO_COLOR is followed; links are no colour."""
    ground.everything()
    line = shown(ground, NO_COLOR="1")
    assert "\x1b[" not in line
    assert f"\x1b]8;;{PULL}" in line


def test_several_that_wait_are_counted(ground: ViewGround) -> None:
    """So that a second one is not overlooked."""
    ground.everything()
    ground.stage(is_let_go=True)
    assert words(shown(ground)).startswith("WAITS FOR YOU (2)")
