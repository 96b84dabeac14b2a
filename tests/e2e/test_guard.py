"""The guard: with nothing to do, a hook ends before Python starts."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lifecycle.settings.resources import hook_script
from tests.factories import client, values

SHELLS = [
    s
    for s in ("sh", "dash", "bash")
    if any(Path(folder, s).exists() for folder in os.environ["PATH"].split(":"))
]


class Bench:
    """A folder with a claim, and a stand-in for Python that only says that it was started."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.here = root / ".lifecycle"
        self.claim = root / ".agent-claim.json"
        self.command = root / "started"
        self.command.write_text('#!/bin/sh\necho "started $*"\n')
        self.command.chmod(0o755)

    def starts(self, hook: str, shell: str = "sh", **environment: str) -> bool:
        """True if the hook script went on to the command."""
        done = subprocess.run(
            [shell, str(hook_script(hook))],
            cwd=self.root,
            env={
                "PATH": os.environ["PATH"],
                "LIFECYCLE_BIN": str(self.command),
                **client(),
                **environment,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0
        assert done.stderr == ""
        assert done.stdout in ("", f"started hook {hook}\n")
        return bool(done.stdout)

    def look(self) -> None:
        """Stamp the claim as it is, as a look that left nothing to do."""
        self.here.mkdir(exist_ok=True)
        stamp = self.here / "stamp"
        stamp.touch()
        mtime = self.claim.stat().st_mtime_ns
        os.utime(stamp, ns=(mtime, mtime))

    def due(self, name: str, seconds: float) -> None:
        """Wait for a moment, `seconds` from now."""
        mark = self.here / name
        mark.touch()
        moment = time.time() + seconds
        os.utime(mark, (moment, moment))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The folder."""
    return Bench(tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_on_stop_ends_early_without_a_claim_and_with_an_unchanged_one(
    bench: Bench, shell: str
) -> None:
    """No claim: nothing. A claim never looked at, or changed since: on. Unchanged: nothing."""
    assert not bench.starts("on-stop", shell)
    bench.claim.write_text(json.dumps(values()))
    assert bench.starts("on-stop", shell)
    bench.look()
    assert not bench.starts("on-stop", shell)
    os.utime(bench.claim, ns=(1, bench.claim.stat().st_mtime_ns + 1_000_000_000))
    assert bench.starts("on-stop", shell)
    bench.look()
    os.utime(bench.claim, ns=(1, bench.claim.stat().st_mtime_ns - 1_000_000_000))
    assert bench.starts("on-stop", shell)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("hook", "mark"), [("on-stop", "due"), ("on-idle", "idle-due")])
def test_a_moment_that_is_waited_for_lets_the_wake_through(
    bench: Bench, shell: str, hook: str, mark: str
) -> None:
    """Before the moment nothing starts, after it the hook goes on."""
    bench.claim.write_text(json.dumps(values()))
    bench.look()
    assert not bench.starts(hook, shell)
    bench.due(mark, 3600)
    assert not bench.starts(hook, shell)
    bench.due(mark, -1)
    assert bench.starts(hook, shell)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_claim_is_anybodys_once_its_session_has_ended(bench: Bench, shell: str) -> None:
    """After a /clear the client's process is there as before; its end is newer than its life."""
    bench.claim.write_text(json.dumps(values()))
    bench.look()
    (bench.here / "owner").write_text("one\n")
    (bench.here / "seen").write_text(f"one {os.getpid()}\n")
    assert not bench.starts("ci-waiter", shell, CLAUDE_CODE_SESSION_ID="two")
    ended = bench.here / "ended"
    ended.write_text("one\n")
    assert bench.starts("ci-waiter", shell, CLAUDE_CODE_SESSION_ID="two")
    os.utime(ended, (1, 1))  # it was resumed since
    assert not bench.starts("ci-waiter", shell, CLAUDE_CODE_SESSION_ID="two")


@pytest.mark.parametrize("hook", ["on-idle", "session-start"])
def test_without_a_claim_only_a_repository_that_asked_is_served(bench: Bench, hook: str) -> None:
    """A config file or either project variable is asking."""
    assert not bench.starts(hook)
    assert bench.starts(hook, LIFECYCLE_PROJECT_NUMBER="1")
    assert bench.starts(hook, MOLTNET_PROJECT_NUMBER="1")
    assert not bench.starts("on-stop", LIFECYCLE_PROJECT_NUMBER="1")
    (bench.root / ".lifecycle.toml").touch()
    assert bench.starts(hook)


def test_no_edit_is_missed_by_the_stamp(bench: Bench) -> None:
    """Edits at any moment around a look: none is ever hidden by the stamp that the look leaves.

    The look reads the mtime from the descriptor before it reads, and stamps only a settled file.
    """
    from lifecycle.claim.record.claim_store import ClaimStore
    from tests.conftest import ManualClock

    chance = random.Random(3)
    clock = ManualClock()
    for number in range(200):
        bench.claim.write_text(json.dumps(values(summary=str(number))))
        if chance.random() < 0.7:
            old = time.time_ns() - chance.choice([1, 3, 5]) * 1_000_000_000
            os.utime(bench.claim, ns=(old, old))
        claim_store = ClaimStore(bench.root, clock)
        claim_store.folder.make()
        loaded = claim_store.load()
        is_edited = chance.random() < 0.5
        if is_edited:
            bench.claim.write_text(json.dumps(values(summary=f"edited {number}")))
        claim_store.stamp(loaded.mtime_ns)
        if is_edited:
            assert bench.starts("on-stop"), number


def test_a_hook_far_below_the_project_finds_it(bench: Bench) -> None:
    """CLAUDE_PROJECT_DIR names the project, wherever the agent has changed to; CDPATH is harmless."""
    bench.claim.write_text(json.dumps(values()))
    below = bench.root / "a" / "b"
    below.mkdir(parents=True)
    done = subprocess.run(
        ["sh", str(hook_script("on-stop"))],
        cwd=below,
        env={
            "PATH": os.environ["PATH"],
            "LIFECYCLE_BIN": str(bench.command),
            "CLAUDE_PROJECT_DIR": str(bench.root),
            "CDPATH": "/:/tmp",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "started hook on-stop\n"


def test_a_project_file_does_not_shadow_ours(bench: Bench) -> None:
    """A file called queue.py or json.py in the project must not become our standard library."""
    for name in ("queue.py", "json.py", "lifecycle.py"):
        (bench.root / name).write_text("raise SystemExit(7)\n")
    command = str(Path(sys.executable).with_name("lifecycle"))
    for arguments, said in ((["hook", "on-stop"], ""), (["--version"], "lifecycle, version ")):
        done = subprocess.run(
            [command, *arguments],
            cwd=bench.root,
            env={"PATH": os.environ["PATH"]},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(said)
        assert bool(done.stdout) == bool(said)


@pytest.mark.parametrize("shell", SHELLS)
def test_pythons_own_variables_lead_no_hook_into_the_project(bench: Bench, shell: str) -> None:
    """A user's shell may set them for the project's Python; what lies elsewhere is the user's to name.

    They are kept for what the hook starts: a `pre-push`, or a check.
    """
    bench.command.write_text(
        '#!/bin/sh\necho "${PYTHONPATH-none} ${PYTHONHOME-none} '
        '${LIFECYCLE_PYTHONPATH-none} $LIFECYCLE_PYTHONHOME"\n'
    )
    bench.claim.write_text("{}")
    inside = [
        ".",
        "src",
        "/a:src",
        "/a:",
        ":/a",
        "/a::/b",
        f"/a:{bench.root}",
        f"{bench.root}/src:/a",
        f"/a:{bench.root}-link/src",
        f"/a:{bench.root}-link/all.zip",
    ]
    (bench.root / "src").mkdir()
    bench.root.with_name(f"{bench.root.name}-link").symlink_to(bench.root)
    elsewhere = ["/a", f"/a:{bench.root}-tools"]
    shown = {}
    for path in (*inside, *elsewhere):
        done = subprocess.run(
            [shell, str(hook_script("on-stop"))],
            cwd=bench.root,
            env={
                "LIFECYCLE_BIN": str(bench.command),
                "PYTHONPATH": path,
                "PYTHONHOME": "/b",
                **client(),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        shown[path] = done.stdout
    kept = {path: f"none none {path} /b\n" for path in inside}
    assert shown == kept | {path: f"{path} none none /b\n" for path in elsewhere}


@pytest.mark.parametrize("shell", SHELLS)
def test_an_edit_costs_no_python_unless_red_is_enforced_in_a_run(bench: Bench, shell: str) -> None:
    """There has to be a run, and the setting; a comment is none."""
    settings = bench.root / ".lifecycle.toml"
    assert not bench.starts("pre-tool-use", shell)
    settings.write_text('[tdd]\nenforce = "deny"\n')
    assert not bench.starts("pre-tool-use", shell)
    bench.here.mkdir()
    (bench.here / "run").touch()
    assert bench.starts("pre-tool-use", shell)
    assert not bench.starts("pre-tool-use", shell, CLAUDECODE="")
    settings.write_text('# [tdd]\n# enforce = "deny"\n')
    assert not bench.starts("pre-tool-use", shell)
    settings.unlink()
    assert not bench.starts("pre-tool-use", shell)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_pasted_prompt_is_not_read_to_its_end(bench: Bench, shell: str) -> None:
    """Its begin tells that a person wrote it: the hook is over while the client still writes the rest."""
    bench.claim.write_text(json.dumps(values()))
    bench.look()
    for begin, is_persons in (("<task-notification>", False), ("Yes. <task-notification>", True)):
        hook = subprocess.Popen(
            [shell, str(hook_script("user-prompt-submit"))],
            cwd=bench.root,
            env={"PATH": os.environ["PATH"], **client()},
            stdin=subprocess.PIPE,
        )
        assert hook.stdin is not None
        with hook.stdin as pipe:
            event = {"hook_event_name": "UserPromptSubmit", "prompt": f"{begin} {'x ' * 5_000}"}
            pipe.write(json.dumps(event).encode().removesuffix(b'"}'))
            pipe.flush()
            assert hook.wait(timeout=30) == 0
        assert (bench.here / "answered").exists() is is_persons
