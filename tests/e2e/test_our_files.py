"""Whatever lies where a file of ours belongs: no hook hangs or writes through it, and a command says it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from lifecycle.settings.resources import hook_script
from tests.conftest import Place
from tests.factories import client, values
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_our_files.py::test_no_hook_waits_for_a_mark_or_writes_through_it",
    "storage/test_regular_files.py::test_what_is_no_file_of_ours_is_neither_read_nor_written_nor_waited_for",
)

SHELLS = [
    shell
    for shell in ("dash", "bash")
    if any(Path(folder, shell).exists() for folder in os.environ["PATH"].split(":"))
]
ONE_SHELL = [*SHELLS[:1], *map(soaked, SHELLS[1:])]
HOOKS = (
    "on-stop",
    "ci-waiter",
    "on-idle",
    "session-start",
    "on-clear",
    "user-prompt-submit",
    "pre-tool-use",
    "post-tool-use",
    "workflow-agent",
    "pre-compact",
    "session-end",
)
MARKS = (
    "stamp",
    "due",
    "idle-due",
    "waiting",
    "owner",
    "seen",
    "ended",
    "prompts",
    "run",
    "waiter",
    "now",
    "staged",
    "stage-due",
    "stage-words",
    "stage-awaited",
)
ONE = "11111111-aaaa-4bbb-8ccc-000000000001"
SECONDS = 60
"""A hook's own work takes some milliseconds, and what has no end is given up after a second of work; a
busy machine has given it that within twenty seconds."""


def lie(path: Path, kind: str, victim: Path) -> None:
    """Put something that is no file of ours in a file's place."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "link":
        path.symlink_to(victim)
    else:
        with path.open("wb") as file:
            file.truncate(10_000_000_000)


def hooked(root: Path, hook: str, shell: str = "sh", session: str = ONE) -> str:
    """Run a hook with a stand-in for Python; what it started."""
    command = root.parent / "command"
    command.write_text('#!/bin/sh\necho "started $*"\n')
    command.chmod(0o755)
    done = subprocess.run(
        [shell, str(hook_script(hook))],
        cwd=root,
        env={
            "PATH": os.environ["PATH"],
            "LIFECYCLE_BIN": str(command),
            "CLAUDE_CODE_SESSION_ID": session,
            **client(),
        },
        input='{"tool_input":{"command":"make test"},"tool_use_id":"x"}',
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A worktree with a claim of another session's, all of whose marks are there and due."""
    root = tmp_path / "clone"
    (root / ".git").mkdir(parents=True)
    (root / ".lifecycle").mkdir()
    (root / ".lifecycle.toml").write_text("")
    (root / ".agent-claim.json").write_text(json.dumps(values()))
    for name in MARKS:
        (root / ".lifecycle" / name).write_text("another 1\n")
        os.utime(root / ".lifecycle" / name, (1, 1))
    return root


@pytest.mark.parametrize("shell", ONE_SHELL)
@pytest.mark.parametrize("kind", ["pipe", soaked("device"), "link"])
def test_no_hook_waits_for_a_mark_or_writes_through_it(root: Path, kind: str, shell: str) -> None:
    """Every mark at once, and each alone that is read: every hook ends, and says nothing about it.

    Those that none of these marks keeps from it start the command.
    """
    victim = root.parent / "victim"
    victim.write_text("precious\n")
    for names in (MARKS, ("owner",), ("seen",), ("waiter",), ("stage-words",), ("now",)):
        for name in MARKS:
            path = root / ".lifecycle" / name
            path.unlink(missing_ok=True)
            path.write_text("another 1\n")
        for name in names:
            lie(root / ".lifecycle" / name, kind, victim)
        started = {hook for hook in HOOKS if hooked(root, hook, shell)}
        assert started >= {"on-stop", "session-start", "on-clear", "post-tool-use", "pre-compact"}
    assert victim.read_text() == "precious\n"


READERS = ("user-prompt-submit", "session-end", "ci-waiter", "post-tool-use")
READ = {
    "owner": "session-end",
    "seen": "user-prompt-submit",
    "waiter": "ci-waiter",
    "stage-words": "post-tool-use",
}
"""A hook that reads each mark; they all read it by the same lines of `common`."""


@pytest.mark.parametrize("shell", ONE_SHELL)
@pytest.mark.parametrize(
    ("name", "hook"),
    [
        (pytest.param if hook == first and name in ("owner", "stage-words") else soaked)(name, hook)
        for name, first in READ.items()
        for hook in READERS
    ],
)
def test_a_mark_without_an_end_is_given_up(root: Path, name: str, hook: str, shell: str) -> None:
    """Ten gigabytes without a line break: a second's work is spent on it, not a prompt's whole time."""
    if name == "seen":
        (root / ".lifecycle/owner").write_text(f"{ONE[:-1]}2\n")
    lie(root / ".lifecycle" / name, "huge", root)
    if name == "waiter":
        ahead = time.time() + 3600
        os.utime(root / ".lifecycle/waiter", (ahead, ahead))
        (root / ".lifecycle/owner").write_text(f"{ONE}\n")  # only then is it read
    assert hooked(root, hook, shell) in ("", f"started hook {hook}\n")
    # Without it the same hook does what it is for: it starts the command, or notes the session's end.
    (root / ".lifecycle" / name).unlink()
    (root / ".lifecycle/owner").write_text(f"{ONE}\n")
    is_started = hooked(root, hook, shell) != ""
    assert is_started or (root / ".lifecycle/ended").read_text() == f"{ONE}\n"


@pytest.mark.parametrize("kind", ["pipe", "device", "link"])
def test_a_claim_that_is_no_file_starts_nothing(root: Path, kind: str) -> None:
    """For the guards there is no claim then."""
    victim = root.parent / "victim"
    victim.write_text(json.dumps(values()))
    for name in MARKS:
        (root / ".lifecycle" / name).unlink()
    (root / ".lifecycle.toml").unlink()
    assert hooked(root, "on-stop")
    lie(root / ".agent-claim.json", kind, victim)
    assert {hook: hooked(root, hook) for hook in HOOKS} == dict.fromkeys(HOOKS, "")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("kind", ["link", "theirs"])
def test_in_a_folder_that_is_not_ours_nothing_is_written(root: Path, kind: str, shell: str) -> None:
    """A link, or another user's: only a session's start goes on, to say it."""
    here, victim = root / ".lifecycle", root.parent / "victim"
    if kind == "link":
        here.rename(victim)
        here.symlink_to(victim)
    elif os.geteuid() == 0:
        os.chown(here, 12345, -1)
    else:
        pytest.skip("giving a folder to another user needs root, which runs no tests here")
    before = {path.name: path.stat().st_mtime_ns for path in here.iterdir()}
    started = {hook for hook in HOOKS if hooked(root, hook, shell)}
    assert started == {"session-start"}
    assert {path.name: path.stat().st_mtime_ns for path in here.iterdir()} == before


COMMANDS = (
    ("status",),
    ("tick",),
    ("tick", "--dry-run"),
    ("claim", "42"),
    ("handoff", "--summary", "Fix"),
    ("nudge", "coding", "--reason", "because"),
    ("close",),
    ("release",),
)


@SOAKED
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (".agent-claim.json", "pipe"),
        soaked(".agent-claim.json", "device"),
        soaked(".agent-claim.json", "link"),
        soaked(".lifecycle/state.json", "pipe"),
        (".lifecycle/state.json", "link"),
        (".lifecycle/lock", "link"),
    ],
)
def test_commands_say_what_lies_in_the_place_of_a_file(place: Place, name: str, kind: str) -> None:
    """One sentence, no wait, exit 1, nothing asked of GitHub, and what lies there stays as it is."""
    victim = place.root.parent / "victim"
    victim.write_text("precious\n")
    place.ready(phase="coding", status="In Progress")
    place.tree().tick()
    lie(place.root / name, kind, victim)
    before = os.lstat(place.root / name)
    for arguments in COMMANDS:
        if name.endswith("lock") and (arguments == ("status",) or "--dry-run" in arguments):
            continue  # it takes no lock
        place.clear()
        done = place.cli(*arguments)
        assert done.returncode == 1, (arguments, done)
        assert done.stderr.startswith("lifecycle: "), arguments
        assert done.stderr.count("\n") == 1, (arguments, done.stderr)
        assert name in done.stderr, (arguments, done.stderr)
        assert "was left as it is" in done.stderr, (arguments, done.stderr)
        assert place.writes() == [], arguments
    assert os.lstat(place.root / name).st_ino == before.st_ino
    assert victim.read_text() == "precious\n"
    found = json.loads(place.cli("doctor", "--json").stdout)["findings"]
    assert any(name in one["says"] for one in found if one["level"] == "fail"), found


@SOAKED
def test_a_repository_that_brings_devices_hangs_nobody(place: Place) -> None:
    """The claim, whose it is and that something waits come with it, and each mark leads to a device."""
    here = place.root / ".lifecycle"
    here.mkdir()
    for name in MARKS:
        (here / name).symlink_to("/dev/zero")
    for name in ("owner", "waiting", "due", "idle-due", "stage-due"):
        (here / name).unlink()
        (here / name).write_text("another\n")
    (place.root / ".agent-claim.json").write_text(json.dumps(values()))
    place.git("add", "--force", ".lifecycle", ".agent-claim.json")
    for hook in HOOKS:
        done = place.hook(hook, {"session_id": ONE}, CLAUDE_CODE_SESSION_ID=ONE)
        assert (done.returncode, done.stderr) == (0, ""), hook
        assert bool(done.stdout) == (hook == "session-start"), hook
    for arguments in (("status",), ("tick",), ("claim", "42"), ("release",)):
        done = place.cli(*arguments)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), (arguments, done)
    assert all(
        (here / name).readlink() == Path("/dev/zero") for name in ("seen", "waiter", "stamp")
    )


@SOAKED
@pytest.mark.parametrize("inner", [".lifecycle", ".lifecycle/stages"])
def test_a_linked_folder_is_not_written_through_by_commands(place: Place, inner: str) -> None:
    """It was not put in with git: a command says so, and the folder that it leads to is as before."""
    victim = place.root.parent / "victim"
    victim.mkdir()
    (victim / "state.json").write_text("precious\n")
    place.ready(phase="coding", status="In Progress")
    (place.root / inner).parent.mkdir(exist_ok=True)
    (place.root / inner).symlink_to(victim)
    if inner != ".lifecycle":
        (place.root / ".lifecycle.toml").write_text("[stages]\nuse = true\n")
    commands = COMMANDS if inner == ".lifecycle" else (("stage", "set", "CODING"),)
    for arguments in (*commands, ("stage", "off"), ("trust", "--yes"), ("doctor",)):
        done = place.cli(*arguments)
        if arguments in commands:
            assert done.returncode == 1, (arguments, done)
            assert "is a link" in done.stderr, (arguments, done.stderr)
            assert done.stderr.count("\n") == 1, (arguments, done.stderr)
        assert "Traceback" not in done.stderr + done.stdout
    for hook in HOOKS:
        assert place.hook(hook, {}).returncode == 0
    assert [path.name for path in victim.iterdir()] == ["state.json"]
    assert (victim / "state.json").read_text() == "precious\n"
    (place.root / inner).unlink()
    assert "Claim: issue #42" in place.hook("session-start", {}).stdout


@SOAKED
def test_a_sessions_start_says_that_the_folder_is_a_link(place: Place) -> None:
    """The one hook that says it, to the person and to the agent."""
    place.ready()
    (place.root.parent / "victim").mkdir()
    (place.root / ".lifecycle").symlink_to(place.root.parent / "victim")
    done = place.hook("session-start", {})
    assert done.returncode == 0
    assert ".lifecycle is a link" in json.loads(done.stdout)["systemMessage"]


@SOAKED
def test_a_claim_without_an_end_is_set_aside(place: Place) -> None:
    """Ten gigabytes that take no room: no more is read than shows it, and the claim comes back."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick()
    before = place.claim()
    lie(place.root / ".agent-claim.json", "huge", place.root)
    old = time.time() - 10
    os.utime(place.root / ".agent-claim.json", (old, old))
    done = place.cli("tick")
    assert "it is larger than 1,000,000 bytes" in done.stdout + done.stderr
    assert place.claim() == before
    lie(place.root / ".lifecycle/state.json", "huge", place.root)
    refused = place.cli("status")
    assert (refused.returncode, "state.json cannot be read" in refused.stderr) == (1, True)
    assert "It was kept as state.json.unreadable;" in place.cli("tick").stdout
    assert (place.root / ".lifecycle/state.json.unreadable").stat().st_size == 10_000_000_000
