"""An agent in the client, as hooks see both: a transcript that grows as the client writes it, and events.

The shapes of the transcript's lines are those that Claude Code writes; those of the events are its hook
reference's (https://code.claude.com/docs/en/hooks). A Stop hook that blocks is written down as feedback,
and the agent's turn goes on.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import Place
from tests.e2e.client import Heard, Session, heard

STOP: dict[str, Any] = {
    "permission_mode": "default",
    "stop_hook_active": False,
    "background_tasks": [],
    "session_crons": [],
}


@dataclass
class Agent:
    """One session, from its first prompt to its end or to `/clear`."""

    place: Place
    environment: dict[str, str] = field(default_factory=dict)
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    calls: int = 0
    is_lagging: bool = False

    @property
    def transcript(self) -> Path:
        """The file that the client writes."""
        return self.place.root.parent / f"{self.id}.jsonl"

    @property
    def session(self) -> Session:
        """The session as far as hooks see it."""
        return Session(self.place, self.id, self.environment)

    def line(self, kind: str, **more: Any) -> str:
        """Add one line to the transcript, and give its id."""
        name = str(uuid.uuid4())
        entry = {
            "parentUuid": None,
            "isSidechain": False,
            "type": kind,
            **more,
            "uuid": name,
            "timestamp": "2026-11-21T20:39:27.213Z",
            "userType": "external",
            "cwd": str(self.place.root),
            "sessionId": self.id,
            "version": "2.1.330",
        }
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")
        return name

    def prompt(self, text: str) -> Heard:
        """A person writes."""
        message = {"role": "user", "content": text}
        self.line("user", message=message, origin={"kind": "human"}, promptSource="typed")
        return self.session.prompt(text)

    def wakes(self, text: str) -> None:
        """A hook of ours woke the session: the client's own prompt."""
        content = f"<task-notification>\n{text}\n</task-notification>"
        message = {"role": "user", "content": content}
        origin = {"kind": "task-notification"}
        self.line("user", message=message, origin=origin, promptSource="system")

    def says(self, text: str) -> None:
        """The agent writes a text, as one block of an answer."""
        self._block({"type": "text", "text": text}, "end_turn")

    def uses(self, tool: str, asked: dict[str, Any], output: str = "", *, ok: bool = True) -> None:
        """The agent uses a tool, and the client runs the hook on commands."""
        self.calls += 1
        call = f"toolu_{self.id[:8]}_{self.calls}"
        self._block({"type": "tool_use", "id": call, "name": tool, "input": asked}, "tool_use")
        content = output if ok else f"Exit code 1\n{output}"
        result = {
            "tool_use_id": call,
            "type": "tool_result",
            "content": content,
            "is_error": not ok,
        }
        details: Any = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        self.line(
            "user",
            message={"role": "user", "content": [result]},
            toolUseResult=details if ok else f"Error: {content}",
        )
        if tool != "Bash":
            return
        common = {"tool_name": tool, "tool_input": asked}
        if ok:
            self._tell("PostToolUse", **common, tool_response=details, tool_use_id=call)
        else:
            self._tell("PostToolUseFailure", **common, tool_use_id=call, error=content)

    def runs(self, command: str, output: str = "", *, ok: bool = True) -> None:
        """The agent runs a command; what it does is up to the test."""
        self.uses("Bash", {"command": command, "description": "Run it"}, output, ok=ok)

    def really_runs(self, *command: str) -> str:
        """The agent runs a command of ours or of git's, and it is run."""
        names = {"CLAUDE_CODE_SESSION_ID": self.id, **self.environment}
        done = self.place.run(*command, stdin=b"", **names)
        self.runs(" ".join(command), done.stdout + done.stderr, ok=done.returncode == 0)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def edits(self, name: str, content: str) -> None:
        """The agent writes a file."""
        path = self.place.root / name
        path.write_text(content)
        self.uses("Write", {"file_path": str(path), "content": content}, "File written.")

    def stops(self, text: str, **event: Any) -> Heard:
        """The agent ends its answer with this text, and the client runs the hook that it waits for."""
        if not self.is_lagging:
            self.says(text)
        reply = heard(self.begins_to_stop(text, **event))
        if self.is_lagging:
            self.says(text)
        self.hears(reply)
        return reply

    def begins_to_stop(self, text: str, **event: Any) -> Any:
        """The client starts the hook, and the caller waits for it."""
        more = {**STOP, "transcript_path": str(self.transcript), "last_assistant_message": text}
        return self.session.launch("on-stop", "Stop", **{**more, **event})

    def hears(self, reply: Heard) -> None:
        """What a Stop hook told the agent, as the client writes it down."""
        if reply.model:
            content = f"Stop hook feedback:\n{reply.model}"
            self.line("user", message={"role": "user", "content": content}, isMeta=True)

    def starts(self, source: str) -> Heard:
        """SessionStart: what a hook adds as context stands in the transcript."""
        reply = self.session.run(
            "session-start", "SessionStart", source=source, transcript_path=str(self.transcript)
        )
        if reply.model:
            context = {
                "type": "hook_additional_context",
                "content": [reply.model],
                "hookName": f"SessionStart:{source}",
                "hookEvent": "SessionStart",
            }
            self.line("attachment", attachment=context)
        return reply

    def cleared(self) -> Agent:
        """`/clear`: the same client goes on with another session and another transcript."""
        self.session.end("clear")
        return Agent(self.place, self.environment)

    def _block(self, block: dict[str, Any], reason: str) -> None:
        message = {
            "id": f"msg_{uuid.uuid4().hex[:20]}",
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": reason,
        }
        self.line("assistant", message=message)

    def _tell(self, event: str, **more: Any) -> None:
        process = self.session.launch(
            "post-tool-use", event, transcript_path=str(self.transcript), **more
        )
        assert heard(process).is_silent
