"""A transcript as the client writes it, line by line, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Written:
    """Lines of a session's transcript; every method adds some and returns itself."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def add(self, **entry: Any) -> Written:
        """A line with what every line of the conversation has."""
        whole = {"parentUuid": None, "isSidechain": False, **entry}
        whole |= {
            "uuid": entry.get("uuid", f"u{len(self.lines)}"),
            "sessionId": "s",
            "version": "2.1",
        }
        return self.raw(json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode())

    def raw(self, line: bytes) -> Written:
        """Bytes as they are, as a line."""
        self.lines.append(line)
        return self

    def human(self, text: str, **more: Any) -> Written:
        """A person's prompt."""
        message = {"role": "user", "content": text}
        return self.add(type="user", message=message, origin={"kind": "human"}, **more)

    def feedback(self, text: str) -> Written:
        """What a Stop hook told the agent, with the lines that repeat it."""
        message = {"role": "user", "content": f"Stop hook feedback:\n{text}"}
        self.add(type="user", message=message, isMeta=True)
        error = {"blockingError": text, "command": "x"}
        attachment = {"type": "hook_blocking_error", "hookEvent": "Stop", "blockingError": error}
        self.add(attachment=attachment, type="attachment")
        return self.add(type="system", subtype="stop_hook_summary", hookErrors=[text])

    def context(self, text: str, event: str = "SessionStart") -> Written:
        """What a hook added as context."""
        inner = {"type": "hook_additional_context", "content": [text], "hookEvent": event}
        return self.add(attachment=inner, type="attachment")

    def machine(self, text: str, **more: Any) -> Written:
        """A notification of the client's."""
        message = {"role": "user", "content": f"<task-notification>\n{text}\n</task-notification>"}
        return self.add(type="user", message=message, origin={"kind": "task-notification"}, **more)

    def says(self, text: str, **more: Any) -> Written:
        """Words of the agent."""
        message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        return self.add(type="assistant", message=message, **more)

    def calls(self, tool: str, **asked: Any) -> Written:
        """A tool call without its result; the result belongs to the last one."""
        use = {"type": "tool_use", "id": f"t{len(self.lines)}", "name": tool, "input": asked}
        self.last = str(use["id"])
        return self.add(type="assistant", message={"role": "assistant", "content": [use]})

    def result(
        self, output: str, *, is_error: bool = False, of: str = "", **details: Any
    ) -> Written:
        """What came of the last call, or of the one named."""
        content = f"Exit code 1\n{output}" if is_error else output
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": of or self.last,
            "content": content,
        }
        block |= {"is_error": True} if is_error else {}
        told = (
            f"Error: {content}" if is_error else {"stdout": output, "interrupted": False, **details}
        )
        message = {"role": "user", "content": [block]}
        return self.add(type="user", message=message, toolUseResult=told)

    def bash(self, command: str, output: str = "", *, is_error: bool = False) -> Written:
        """A shell command and its result."""
        return self.calls("Bash", command=command).result(output, is_error=is_error)

    def edit(self, path: str = "/w/a.py") -> Written:
        """An edit of a file."""
        return self.calls("Edit", file_path=path, old_string="a", new_string="b").result("updated")

    def bytes(self) -> bytes:
        """The file's content."""
        return b"".join(line + b"\n" for line in self.lines)

    def at(self, folder: Path) -> str:
        """The file, written; its path."""
        path = folder / "transcript.jsonl"
        path.write_bytes(self.bytes())
        return str(path)
