"""A client's session as far as hooks see it: its events, with payloads as Claude Code sends them.

The shapes are those of Claude Code's hook reference (https://code.claude.com/docs/en/hooks). At a Stop
the client starts on-stop and waits for it, and starts ci-waiter in the background, both at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lifecycle.settings.resources import hook_script
from tests.conftest import Place

SECONDS = 60


@dataclass
class Session:
    """One session of the client in one worktree."""

    place: Place
    id: str = "11111111-aaaa-4bbb-8ccc-000000000001"
    environment: dict[str, str] = field(default_factory=dict)

    def payload(self, event: str, **more: Any) -> bytes:
        """The event's JSON on stdin."""
        common = {
            "session_id": self.id,
            "transcript_path": f"/home/dev/.claude/projects/-hello/{self.id}.jsonl",
            "cwd": str(self.place.root),
            "hook_event_name": event,
        }
        return json.dumps({**common, **more}).encode()

    def launch(self, hook: str, event: str, **more: Any) -> subprocess.Popen[bytes]:
        """Start a hook as the client does, and leave it running."""
        process = subprocess.Popen(
            [str(hook_script(hook))],
            cwd=self.place.root,
            env=self.variables(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdin is not None
        try:
            process.stdin.write(self.payload(event, **more))
            process.stdin.close()
        except BrokenPipeError:
            pass  # the guard ended before it read
        process.stdin = None
        return process

    def begin(self, hook: str, **more: Any) -> subprocess.Popen[bytes]:
        """Start a hook with the payload that its event usually has."""
        event, usual = _USUAL[hook]
        return self.launch(hook, event, **{**usual, **more})

    def variables(self) -> dict[str, str]:
        """What the hooks of this session see."""
        own = {"CLAUDE_CODE_SESSION_ID": self.id, **self.environment}
        return {**self.place.environment, **own}

    def run(self, hook: str, event: str, **more: Any) -> Heard:
        """Run a hook to its end."""
        return heard(self.launch(hook, event, **more))

    def start(self, source: str = "startup") -> Heard:
        """SessionStart."""
        return self.run("session-start", "SessionStart", source=source)

    def prompt(self, text: str = "go on") -> Heard:
        """UserPromptSubmit."""
        return self.run(
            "user-prompt-submit", "UserPromptSubmit", prompt=text, permission_mode="default"
        )

    def wake(self, text: str) -> Heard:
        """The prompt that the client makes of a wake."""
        return self.prompt(f"<task-notification>\n{text}\n</task-notification>")

    def on_stop(self) -> Heard:
        """Stop, the hook that is waited for."""
        return self.run("on-stop", "Stop", **_STOP)

    def waiter(self) -> subprocess.Popen[bytes]:
        """Stop, the hook in the background."""
        return self.launch("ci-waiter", "Stop", **_STOP)

    def idle(self) -> Heard:
        """Notification `idle_prompt`."""
        return self.run(
            "on-idle",
            "Notification",
            message="Claude is waiting for your input",
            notification_type="idle_prompt",
        )

    def end(self, reason: str = "prompt_input_exit") -> Heard:
        """SessionEnd."""
        return self.run("session-end", "SessionEnd", reason=reason)

    def cli(self, *arguments: str, **more: str) -> Any:
        """The agent runs `lifecycle`."""
        return self.place.cli(*arguments, CLAUDE_CODE_SESSION_ID=self.id, **more)


_STOP: dict[str, Any] = {
    "permission_mode": "default",
    "stop_hook_active": False,
    "last_assistant_message": "Done.",
    "background_tasks": [],
    "session_crons": [],
}

_USUAL: dict[str, tuple[str, dict[str, Any]]] = {
    "session-start": ("SessionStart", {"source": "startup"}),
    "on-stop": ("Stop", _STOP),
    "ci-waiter": ("Stop", _STOP),
    "on-idle": (
        "Notification",
        {"message": "Claude is waiting for your input", "notification_type": "idle_prompt"},
    ),
    "user-prompt-submit": (
        "UserPromptSubmit",
        {"prompt": "go on", "permission_mode": "default"},
    ),
    "session-end": ("SessionEnd", {"reason": "prompt_input_exit"}),
}
"""Hook → its event, and the rest of the payload."""


@dataclass(frozen=True)
class Heard:
    """What a hook's reply brought to whom, as the client takes it.

    Attributes:
        code: the exit code.
        model: what reaches the model, from any place in the reply.
        person: what is shown to the user.
        woke: an exit 2 whose text wakes the idle session.
        denied: why a tool is not used, which reaches the model, too.
    """

    code: int
    model: str
    person: str
    woke: bool
    denied: str = ""

    @property
    def is_silent(self) -> bool:
        """True if nobody heard anything."""
        return not (self.model or self.person or self.denied)


def heard(process: subprocess.Popen[bytes]) -> Heard:
    """Wait for a hook and read its reply as the client would."""
    stdout, stderr = process.communicate(timeout=SECONDS)
    code = process.returncode
    if code == 2:
        assert stdout == b""
        return Heard(code, stderr.decode(), "", woke=True)
    assert stderr == b"", stderr.decode()
    reply = json.loads(stdout) if stdout else {}
    own = reply.get("hookSpecificOutput", {})
    context, denied = own.get("additionalContext", ""), own.get("permissionDecisionReason", "")
    assert bool(denied) == (own.get("permissionDecision") == "deny")
    model = "\n".join(text for text in (reply.get("reason", ""), context) if text)
    return Heard(code, model, reply.get("systemMessage", ""), woke=False, denied=denied)


@contextmanager
def ended(*processes: subprocess.Popen[bytes]) -> Iterator[None]:
    """End what still runs, whatever the test came to."""
    try:
        yield
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
