"""What the `sh` guards of the staged workflow let through, and what ends before Python starts."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from lifecycle.settings.resources import hook_script
from tests.factories import client

SHELLS = [
    shell
    for shell in ("sh", "dash", "bash")
    if any(Path(folder, shell).exists() for folder in os.environ["PATH"].split(":"))
]


@dataclass
class Guarded:
    """A worktree with the workflow's marks, and a stand-in for Python that repeats what it was given."""

    root: Path

    def __post_init__(self) -> None:
        (self.root / ".git").mkdir()
        self.here.mkdir()
        self.command.write_text('#!/bin/sh\necho "started $*"\ncat\n')
        self.command.chmod(0o755)

    @property
    def here(self) -> Path:
        """`.lifecycle/`."""
        return self.root / ".lifecycle"

    @property
    def command(self) -> Path:
        """The stand-in."""
        return self.root.parent / "command"

    @property
    def settings(self) -> Path:
        """`.lifecycle.toml`."""
        return self.root / ".lifecycle.toml"

    def run(
        self,
        hook: str,
        stdin: bytes = b"{}",
        shell: str = "sh",
        more: dict[str, str] | None = None,
    ) -> bytes | None:
        """What Python got on stdin; None if it was not started."""
        done = subprocess.run(
            [shell, str(hook_script(hook))],
            cwd=self.root,
            env={
                "PATH": os.environ["PATH"],
                "LIFECYCLE_BIN": str(self.command),
                **client(),
                **(more or {}),
            },
            input=stdin,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        begin = f"started hook {hook}\n".encode()
        assert not done.stdout or done.stdout.startswith(begin)
        return done.stdout.removeprefix(begin) if done.stdout else None

    def know(self, *, due: float | None = None) -> None:
        """The settings were read as they are; `due`: seconds from now on."""
        mark = self.here / "staged"
        mark.touch()
        moment = self.settings.stat().st_mtime_ns
        os.utime(mark, ns=(moment, moment))
        if due is not None:
            self.date("stage-due", time.time() + due)

    def date(self, name: str, moment: float) -> None:
        """Put a mark there with this mtime."""
        (self.here / name).touch()
        os.utime(self.here / name, (moment, moment))


@pytest.fixture
def guarded(tmp_path: Path) -> Guarded:
    """A worktree whose settings lie there and were never read."""
    root = tmp_path / "tree"
    root.mkdir()
    found = Guarded(root)
    found.settings.write_text("[stages]\nuse = true\n")
    return found


@pytest.mark.parametrize("shell", SHELLS)
def test_a_stop_ends_in_the_shell_unless_the_workflow_is_active(
    guarded: Guarded, shell: str
) -> None:
    """Never read, or changed since, in either direction of time: on. Read and off, or not due: not."""
    assert guarded.run("on-stop", shell=shell) is not None
    guarded.know()
    assert guarded.run("on-stop", shell=shell) is None
    guarded.know(due=3600)
    assert guarded.run("on-stop", shell=shell) is None
    guarded.know(due=-1)
    assert guarded.run("on-stop", b'{"a": 1}', shell=shell) == b'{"a": 1}'
    guarded.date("stage-due", time.time() + 3600)
    for moment in (time.time() - 100, time.time() + 100):
        os.utime(guarded.settings, (moment, moment))
        assert guarded.run("on-stop", shell=shell) is not None
    guarded.know()
    guarded.settings.unlink()
    guarded.date("stage-due", 1)
    assert guarded.run("on-stop", shell=shell) is None


def event(command: str, **response: object) -> bytes:
    """PostToolUse as the client sends it: compact, one line, the command before the answer."""
    sent = {
        "session_id": "11111111-aaaa-4bbb-8ccc-000000000001",
        "transcript_path": "/home/dev/tests/pytest.jsonl",
        "cwd": "/home/dev/tests",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "Run it"},
        "tool_response": {"stdout": "", "stderr": "", "interrupted": False, **response},
        "tool_use_id": "toolu_1",
        "duration_ms": 12,
    }
    return json.dumps(sent, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_only_a_command_that_may_run_tests_starts_python(guarded: Guarded, shell: str) -> None:
    """A word of the list in the command lets it through, whole; in a path or an answer it does not."""
    guarded.know(due=-1)
    (guarded.here / "stage-words").write_text("test\n./verify all\n")
    assert guarded.run("post-tool-use", event("ls -l", stdout="tests\n"), shell) is None
    for command in ("pytest -q", "cd x && ./verify all 'é\\n\"quoted\"'"):
        long = event(command, stdout="\N{SNOWMAN} 100% passed\\n\n" * 20_000)
        assert guarded.run("post-tool-use", long, shell) == long
    failed = event("pytest").replace(b'"tool_response"', b'"error"')
    assert guarded.run("post-tool-use", failed, shell) == failed.rstrip(b"\n")


def test_a_command_that_is_longer_than_the_first_bytes_is_looked_at(guarded: Guarded) -> None:
    """Nobody knows what stands behind them: Python looks."""
    guarded.know(due=-1)
    (guarded.here / "stage-words").write_text("test\n")
    long = event("cat <<EOF\n" + "x" * 5000 + "\nEOF\n pytest")
    assert guarded.run("post-tool-use", long) == long


def test_an_inactive_workflow_looks_at_no_command(guarded: Guarded) -> None:
    """Without a mark, before its moment, and without settings: the shell ends it."""
    (guarded.here / "stage-words").write_text("test\n")
    guarded.know()
    assert guarded.run("post-tool-use", event("pytest")) is None
    guarded.know(due=3600)
    assert guarded.run("post-tool-use", event("pytest")) is None
    guarded.know(due=-1)
    assert guarded.run("post-tool-use", event("pytest")) is not None
    guarded.settings.unlink()
    assert guarded.run("post-tool-use", event("pytest")) is None


@pytest.mark.parametrize("shell", SHELLS)
def test_before_the_settings_were_read_every_command_is_looked_at(
    guarded: Guarded, shell: str
) -> None:
    """Once, whatever its words: no session started here yet, and none stopped. Then the marks count."""
    for name in ("pytest -q", "./our-own"):
        assert guarded.run("post-tool-use", event(name), shell) == event(name).rstrip(b"\n")
    (guarded.here / "stage-words").write_text("test\n")
    guarded.date("stage-due", time.time() + 3600)
    guarded.date("staged", 1)  # changed since
    assert guarded.run("post-tool-use", event("./our-own"), shell) is not None
    guarded.know(due=-1)
    assert guarded.run("post-tool-use", event("./our-own"), shell) is None
    guarded.settings.unlink()
    assert guarded.run("post-tool-use", event("pytest"), shell) is None


@pytest.mark.parametrize("shell", SHELLS)
def test_a_prompt_starts_python_only_while_a_background_run_is_waited_for(
    guarded: Guarded, shell: str
) -> None:
    """Its moment has not come: the prompt may tell the end. No mark, or an old one: not."""
    assert guarded.run("user-prompt-submit", shell=shell) is None
    guarded.date("stage-awaited", time.time() + 3600)
    assert guarded.run("user-prompt-submit", b'{"prompt": "x"}', shell=shell) == b'{"prompt": "x"}'
    guarded.date("stage-awaited", time.time() - 1)
    assert guarded.run("user-prompt-submit", shell=shell) is None


def test_a_background_run_is_waited_for_also_where_another_session_holds_the_claim(
    guarded: Guarded,
) -> None:
    """Whose claim it is says nothing of whose tests they are; and it leaves no sign of the owner's."""
    (guarded.root / ".agent-claim.json").write_text("{}")
    (guarded.here / "owner").write_text("another\n")
    mine = {"CLAUDE_CODE_SESSION_ID": "mine"}
    assert guarded.run("user-prompt-submit", more=mine) is None
    guarded.date("stage-awaited", time.time() + 3600)
    assert guarded.run("user-prompt-submit", more=mine) is not None
    assert not (guarded.here / "prompts").exists()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("form", ["{}/.git/worktrees/new", "../main/.git/worktrees/new"])
def test_a_linked_worktree_is_guarded_by_its_main_ones_settings(
    tmp_path: Path, shell: str, form: str
) -> None:
    """Without a file of its own that of the main worktree counts, by a path of either kind."""
    main, new = tmp_path / "main", tmp_path / "new"
    (main / ".git/worktrees/new").mkdir(parents=True)
    new.mkdir()
    guarded = Guarded.__new__(Guarded)
    guarded.root = new
    guarded.here.mkdir()
    guarded.command.write_text('#!/bin/sh\necho "started $*"\ncat\n')
    guarded.command.chmod(0o755)
    (new / ".git").write_text(f"gitdir: {form.format(main)}\n")
    assert guarded.run("on-stop", shell=shell) is None
    (main / ".lifecycle.toml").write_text("[stages]\nuse = true\n")
    assert guarded.run("on-stop", shell=shell) is not None
    (new / ".git").write_text("gitdir: /nowhere/.git/worktrees/new\n")
    assert guarded.run("on-stop", shell=shell) is None
