"""A model that follows a script: the part of Anthropic's Messages API that the client uses, on loopback.

The script is a list of rules. A request is answered by the first unused rule whose words are in what is
new in it: the message after the model's last one. What no rule answers gets `OTHERWISE`. Each request
is kept, so that a test can say what reached the model, and how often.

The form is that of https://docs.anthropic.com/en/api/messages and .../messages-streaming.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

OTHERWISE = "Understood."
SECONDS = 120


@dataclass(frozen=True)
class Call:
    """The model calls a tool of the client's.

    Attributes:
        tool: its name, as `Bash`.
        input: its input.
    """

    tool: str
    input: dict[str, Any]


def bash(command: str) -> Call:
    """The model runs a command."""
    return Call("Bash", {"command": command, "description": "A command of the script"})


def writes(path: Path, text: str) -> Call:
    """The model writes a file."""
    return Call("Write", {"file_path": str(path), "content": text})


@dataclass(frozen=True)
class Rule:
    """What is answered to the first request that has these words in what is new.

    Attributes:
        words: all of them must be there.
        answer: from what is new, what the model says (a text), or calls, in this order.
    """

    words: tuple[str, ...]
    answer: Callable[[str], tuple[str | Call, ...]]


def on(*words: str) -> _On:
    """`on("claim it").say("Yes.", bash("lifecycle claim 42"))`: a rule."""
    return _On(words)


@dataclass(frozen=True)
class _On:
    words: tuple[str, ...]

    def say(self, *answer: str | Call) -> Rule:
        """What the model says, or calls."""
        return Rule(self.words, lambda _: answer)

    def does(self, answer: Callable[[str], tuple[str | Call, ...]]) -> Rule:
        """What the model says, or calls, by what is new: ids that only GitHub knew."""
        return Rule(self.words, answer)


@dataclass(frozen=True)
class Request:
    """One request of the client's to the model.

    Attributes:
        body: the JSON that it sent.
    """

    body: dict[str, Any]

    @property
    def messages(self) -> tuple[str, ...]:
        """Each message as text."""
        return tuple(_text(message["content"]) for message in self.body["messages"])

    @property
    def new(self) -> str:
        """What came after the model's last message.

        What blocks a stop the client writes twice, as feedback and as an error: here it stands once.
        """
        kept: list[str] = []
        for message in reversed(self.body["messages"]):
            if message["role"] == "assistant":
                break
            kept.insert(0, _text(message["content"]))
        is_blocked = any(_FEEDBACK in text for text in kept)
        return "\n".join(text for text in kept if not (is_blocked and text.startswith(_ECHO)))

    @property
    def is_turn(self) -> bool:
        """True if it belongs to the conversation: the client asks for titles and the like without tools."""
        return bool(self.body.get("tools"))


_FEEDBACK = "Stop hook feedback:\n"
"""Begins what blocks a stop, behind a note on what a hook's text is: 2.1.332 has one, 2.1.330 none."""
_ECHO = "Stop hook blocking error from command: "


def _text(content: Any) -> str:
    """A message's, or a tool result's, content as text."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content:
        match block["type"]:
            case "text":
                parts.append(block["text"])
            case "tool_use":
                parts.append(f"{block['name']} {json.dumps(block['input'])}")
            case "tool_result":
                parts.append(_text(block.get("content") or ""))
    return "\n".join(parts)


@dataclass
class Model:
    """`with Model() as model:` listens at `model.url` until the end of the block.

    Attributes:
        rules: the script: what was not used yet.
        requests: what the client asked, in order.
        strange: what else was asked of this server, or of others by way of it.
    """

    rules: list[Rule] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def follows(self, *rules: Rule) -> None:
        """Add to the script."""
        with self._changed:
            self.rules += rules

    @property
    def turns(self) -> list[Request]:
        """The requests of the conversation, in order."""
        with self._changed:
            return [request for request in self.requests if request.is_turn]

    def heard(self, words: str) -> int:
        """How often the words reached the model so far, as news."""
        return sum(request.new.count(words) for request in self.turns)

    def hears(self, words: str, times: int = 1) -> None:
        """Wait until the words have reached the model so often."""
        with self._changed:
            came = self._changed.wait_for(lambda: self.heard(words) >= times, SECONDS)
        news = "\n---\n".join(request.new[-500:] for request in self.turns)
        assert came, f"{words!r} reached the model {self.heard(words)} times; what did:\n{news}"

    def answer(self, request: Request) -> tuple[str | Call, ...]:
        """Keep the request; what the script answers to it."""
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            new = request.new
            for rule in self.rules:
                if request.is_turn and all(word in new for word in rule.words):
                    self.rules.remove(rule)
                    return rule.answer(new)
        return (OTHERWISE,)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: Model

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is killed cuts its connections; everything else is a mistake of this file."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_HEAD(self) -> None:
        """The client looks whether the server is there."""
        self._send(200, "text/plain", b"")

    def do_GET(self) -> None:
        """Nothing is there."""
        self._refuse()

    def do_CONNECT(self) -> None:
        """The client wants to reach another address: this is its proxy."""
        self._refuse()

    def do_POST(self) -> None:
        """A message is asked for, or its length."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            count = len(json.dumps(body)) // 4
            self._send(200, "application/json", json.dumps({"input_tokens": count}).encode())
        elif path == "/v1/messages":
            answer = self.server.model.answer(Request(body))
            message = _message(body["model"], answer)
            if body.get("stream"):
                lines = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in _events(message))
                self._send(200, "text/event-stream", "".join(lines).encode())
            else:
                self._send(200, "application/json", json.dumps(message).encode())
        else:
            self._refuse()

    def _refuse(self) -> None:
        self.server.model.strange.append(f"{self.command} {self.path}")
        self._send(404, "application/json", b"{}")

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""


_serial = itertools.count(1)


def _message(model: str, answer: tuple[str | Call, ...]) -> dict[str, Any]:
    number = next(_serial)
    content: list[dict[str, Any]] = []
    for index, part in enumerate(answer):
        if isinstance(part, str):
            content.append({"type": "text", "text": part})
        else:
            name = f"toolu_{number:06}{index:02}"
            content.append({"type": "tool_use", "id": name, "name": part.tool, "input": part.input})
    ends = "tool_use" if any(isinstance(part, Call) for part in answer) else "end_turn"
    return {
        "id": f"msg_{number:06}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": ends,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ends = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ends, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}
