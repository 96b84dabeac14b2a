"""A full disk: hooks let the agent work, commands say one sentence, and nothing that was there is lost."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.settings.resources import hook_script
from tests.conftest import Place
from tests.factories import client

SOAKED = pytest.mark.soak(
    "e2e/test_full_disk.py::test_no_hook_is_in_the_way_on_a_full_disk",
    "storage/test_store.py::test_replace_if_replaces_what_was_expected",
)

ONE = "11111111-aaaa-4bbb-8ccc-000000000001"
EVENTS: dict[str, dict[str, str]] = {
    "session-start": {"hook_event_name": "SessionStart", "source": "startup"},
    "on-clear": {"hook_event_name": "SessionStart", "source": "clear"},
    "user-prompt-submit": {"hook_event_name": "UserPromptSubmit", "prompt": "go on"},
    "on-stop": {"hook_event_name": "Stop"},
    "ci-waiter": {"hook_event_name": "Stop"},
    "on-idle": {"hook_event_name": "Notification", "notification_type": "idle_prompt"},
    "pre-tool-use": {"hook_event_name": "PreToolUse", "tool_name": "Edit"},
    "post-tool-use": {"hook_event_name": "PostToolUse", "tool_name": "Bash"},
    "workflow-agent": {"hook_event_name": "SubagentStop", "agent_type": "reviewer"},
    "pre-compact": {"hook_event_name": "PreCompact", "trigger": "auto"},
    "session-end": {"hook_event_name": "SessionEnd"},
}
SHELLS = [
    shell
    for shell in ("dash", "bash")
    if any(Path(folder, shell).exists() for folder in os.environ["PATH"].split(":"))
]
COMMANDS = (
    ("status",),
    ("tick",),
    ("tick", "--json"),
    ("claim", "42"),
    ("handoff", "--summary", "Fix"),
    ("nudge", "coding", "--reason", "because"),
    ("close",),
    ("release",),
    ("stage", "off"),
    ("stage", "on"),
    ("stats",),
    ("doctor",),
)


class Disk:
    """The file system that the worktree lies on."""

    def __init__(self, root: Path) -> None:
        self.filler = root / ".git" / "filler"

    def fill(self) -> None:
        """Take all the room that is left, to the last byte."""
        for size in (65536, 4096, 1):
            with self.filler.open("ab", buffering=0) as file:
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    continue

    def free(self) -> None:
        """Give it back."""
        self.filler.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A file system of a few megabytes where `place` puts its worktree; it has to be asked for first."""
    root = tmp_path / "clone"
    root.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(root)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a full disk needs the right to mount a small one, which nobody has here")
    try:
        yield Disk(root)
    finally:
        subprocess.run(["umount", "--lazy", str(root)], check=True)


def is_clean(text: str) -> bool:
    """Nothing that a program says of itself when it fails."""
    words = ("Traceback", "Logging error", "printf", "cannot create")
    return not any(word in text for word in words)


def kept(place: Place) -> dict[str, bytes]:
    """The claim, and what the engine remembers, byte for byte."""
    names = (".agent-claim.json", ".lifecycle/state.json", ".lifecycle/owner")
    return {name: (place.root / name).read_bytes() for name in names}


@pytest.fixture
def full(disk: Disk, place: Place) -> Disk:
    """A claim whose pull request is open, in a session that owns it, and then the disk is full."""
    place.environment["CLAUDE_CODE_SESSION_ID"] = ONE
    place.ready()
    (place.root / ".lifecycle.toml").write_text("[stages]\nuse = true\n")
    place.hook("on-stop", {**EVENTS["on-stop"], "session_id": ONE})
    assert place.claim()["phase"] == "pr_created"
    for replaced in (place.root / ".lifecycle/replaced").iterdir():
        replaced.unlink()  # a look that is two seconds later does it, and so makes room
    disk.fill()
    return disk


def test_no_hook_is_in_the_way_on_a_full_disk(full: Disk, place: Place) -> None:
    """Each ends with exit 0 and JSON or nothing, the claim and the memory stay; later all goes on.

    A compaction's words are no JSON: the client adds them to what the summary is asked for.
    """
    before = kept(place)
    place.control.merge_pull(place.pull())
    for name, event in EVENTS.items():
        full.fill()  # what a hook emptied left some room
        done = place.hook(name, {**event, "session_id": ONE})
        assert (done.returncode, done.stderr) == (0, ""), (name, done)
        assert name == "pre-compact" or done.stdout == "" or json.loads(done.stdout), name
        assert is_clean(done.stdout), (name, done.stdout)
        assert kept(place) == before, name
    assert not [path for path in place.root.rglob("*.tmp") if path.is_file()]
    full.free()
    woken = place.hook("on-idle", {**EVENTS["on-idle"], "session_id": ONE})
    assert woken.returncode == 2
    assert "merged! Should I close issue #42?" in woken.stderr


@SOAKED
def test_a_command_says_one_sentence_on_a_full_disk(full: Disk, place: Place) -> None:
    """What it cannot keep it says; what only reads works, `doctor` names the disk; later all goes on."""
    before = kept(place)
    for arguments in COMMANDS:
        full.fill()
        done = place.cli(*arguments)
        assert done.returncode in (0, 1), (arguments, done)
        assert is_clean(done.stdout + done.stderr), (arguments, done)
        assert done.stderr.count("\n") <= 1, (arguments, done.stderr)
        assert done.returncode == 0 or done.stderr or done.stdout, arguments
        assert f"The disk of {place.root} is full." in done.stdout or arguments != ("doctor",)
        assert kept(place) == before, arguments
    full.free()
    assert place.cli("tick").returncode == 0
    assert place.cli("release").returncode == 0
    assert not place.has_claim()


def test_a_claim_is_taken_whole_or_not_at_all(disk: Disk, place: Place) -> None:
    """No room for the claim: one sentence, no half of a file, no lease left; with room it is taken."""
    disk.fill()
    done = place.cli("claim", "42")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert is_clean(done.stderr)
    assert not place.has_claim()
    disk.free()
    assert place.cli("claim", "42").returncode == 0
    assert place.claim()["issue_number"] == 42


def test_a_hand_off_on_a_full_disk_keeps_what_was_pushed(disk: Disk, place: Place) -> None:
    """One sentence at each try, and the claim is as it was; with room the same command goes on."""
    assert place.cli("claim", "42", CLAUDE_CODE_SESSION_ID=ONE).returncode == 0
    place.environment["CLAUDE_CODE_SESSION_ID"] = ONE
    place.git("commit", "--quiet", "--allow-empty", "--message", "Work")
    names = (".agent-claim.json", ".lifecycle/state.json")
    before = [(place.root / name).read_bytes() for name in names]
    disk.fill()
    for _ in range(2):
        done = place.cli("handoff", "--summary", "Fix")
        assert (done.returncode, done.stdout) == (1, "")
        assert "No space left on device; what was done until then is kept." in done.stderr
        assert done.stderr.count("\n") == 1
        assert [(place.root / name).read_bytes() for name in names] == before
        assert place.git("rev-parse", "HEAD") in place.git("ls-remote", "origin", "refs/heads/*")
    disk.free()
    assert place.cli("handoff", "--summary", "Fix").returncode == 0
    place.hook("on-stop", {**EVENTS["on-stop"], "session_id": ONE})
    assert place.claim()["phase"] == "pr_created"


def test_a_session_that_a_full_disk_lets_go_from_its_run_says_why(disk: Disk, place: Place) -> None:
    """The person is told at the stop, and the run is as it was; with room it holds the session again."""
    place.environment["CLAUDE_CODE_SESSION_ID"] = ONE
    assert place.cli("run", "init", "Pay by card").returncode == 0
    state = place.root / ".claude/workflow-state.json"
    before = state.read_bytes()
    disk.fill()
    done = place.hook("on-stop", {**EVENTS["on-stop"], "session_id": ONE})
    said = json.loads(done.stdout)
    assert said.keys() == {"systemMessage"}
    assert said["systemMessage"].startswith("The run cannot be saved (No space left on device), so")
    assert state.read_bytes() == before
    disk.free()
    done = place.hook("on-stop", {**EVENTS["on-stop"], "session_id": ONE})
    assert "is not complete, so go on" in json.loads(done.stdout)["reason"]


def test_a_stop_that_can_write_nothing_tells_the_person(disk: Disk, place: Place) -> None:
    """The disk filled after the hand-off: no log can hold it, and no PR is opened before there is room.

    A session's start tells it to the agent as well.
    """
    place.ready()

    def said(hook: str, session: str) -> set[str]:
        event = {**EVENTS[hook], "session_id": session}
        done = place.hook(hook, event, CLAUDE_CODE_SESSION_ID=session)
        told = json.loads(done.stdout or "{}")
        text = "No space left on device), so everything it keeps here is unchanged"
        assert all(text in str(told[key]) for key in told), told
        return {*told}

    disk.fill()
    assert said("on-stop", ONE) == {"systemMessage"}
    assert said("session-start", "other") == {"systemMessage", "hookSpecificOutput"}
    disk.free()
    place.hook("on-stop", {**EVENTS["on-stop"], "session_id": ONE})
    assert place.claim()["phase"] == "pr_created"


@SOAKED
def test_a_waiter_whose_disk_is_full_ends_and_another_one_wakes(full: Disk, place: Place) -> None:
    """It cannot show its sign, so it ends quietly; the one of the next stop says what happened."""
    done = place.hook("ci-waiter", {**EVENTS["ci-waiter"], "session_id": ONE})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    full.free()
    place.control.merge_pull(place.pull())
    woken = place.hook("ci-waiter", {**EVENTS["ci-waiter"], "session_id": ONE})
    assert woken.returncode == 2
    assert "merged!" in woken.stderr


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("hook", "mark"), [("user-prompt-submit", "seen"), ("session-end", "ended")]
)
def test_a_script_that_may_write_nothing_says_nothing(
    tmp_path: Path, hook: str, mark: str, shell: str
) -> None:
    """The same without a disk of its own: every write of more than nothing fails, as on a full one.

    The file of the line that it tried to write is there, and empty.
    """
    (tmp_path / ".git").mkdir()
    (tmp_path / ".agent-claim.json").write_text("{}")
    (tmp_path / ".lifecycle").mkdir()
    (tmp_path / ".lifecycle/owner").write_text(f"{ONE}\n")
    line = f"trap '' XFSZ; ulimit -f 0; exec {shell} {hook_script(hook)}"
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            **client(),
            "CLAUDE_CODE_SESSION_ID": ONE,
            "LIFECYCLE_BIN": "/bin/true",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / ".lifecycle/owner").read_text() == f"{ONE}\n"
    assert (tmp_path / ".lifecycle" / mark).read_text() == ""


@SOAKED
@pytest.mark.parametrize("shell", SHELLS)
def test_the_shells_own_writes_are_nobodys_news(full: Disk, place: Place, shell: str) -> None:
    """The scripts write marks by themselves: no `printf` complains, whether the file was there or not."""
    for name in ("seen", "ended", "prompts", "now"):
        (place.root / ".lifecycle" / name).unlink(missing_ok=True)
        full.fill()
    seen = place.root / ".lifecycle/seen"
    hooks = [str(hook_script(hook)) for hook in ("user-prompt-submit", "session-end", "on-stop")]
    for hook in (*hooks, hooks[0]):
        done = place.run(shell, hook, stdin=b"{}", LIFECYCLE_BIN="/bin/true")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), hook
    assert not seen.exists() or seen.read_text() == ""
    full.free()
    place.run(shell, hooks[0], stdin=b"{}", LIFECYCLE_BIN="/bin/true")
    assert seen.read_text().startswith(f"{ONE} ")  # the same script, where there is room
