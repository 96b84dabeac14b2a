"""The Claude Code contract: what comes in on stdin, and what may go out, for each event.

`REPLIES` is the one place that knows which sentence reaches whom. Three rules hold everywhere: a hook
never fails (exit 0, valid JSON or nothing, but for a deliberate wake, which is exit 2 with the text on
stderr); nothing is printed that the client would drop; `hookEventName` is the event that was asked.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lifecycle.plan import Say, Tone

INPUT_LIMIT = 1_000_000
"""Bytes of stdin that are read; a larger input is cut, and then counts as empty."""

STDIN_SECONDS = 1.0
"""How long stdin may stay silent before the hook goes on without it."""

CONTEXT_LIMIT = 9_000
"""Characters of context; the client replaces more than about 10,000 by a file."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a hook prints, and how it exits."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0


@dataclass(frozen=True, slots=True)
class Channel:
    """One event's row of the reply table.

    Attributes:
        event: the client's name of the event.
        tones: what it can deliver; everything else stays on the queue.
    """

    event: str
    tones: frozenset[Tone]


REPLIES: dict[str, Channel] = {
    # A continued turn costs a model call: only the new PR and what the agent can mend are worth it.
    "on-stop": Channel("Stop", frozenset({Tone.ACT, Tone.NEXT, Tone.NOTE})),
    # Nothing printed on stdout reaches anybody; exit 2 of an asyncRewake hook wakes the session.
    "on-idle": Channel("Notification", frozenset({Tone.ACT, Tone.NEXT, Tone.NEWS, Tone.ASK})),
    # Context at the start of a session; it cannot block, and everything that waits belongs here.
    "session-start": Channel("SessionStart", frozenset(Tone)),
}
"""Hook entrypoint → its channel."""


def read_input(descriptor: int | None = None) -> dict[str, Any]:
    """The event's JSON object, or an empty dict for anything else.

    Any stdin will do: closed, a terminal, empty, broken, binary, huge, nested without end.
    """
    if descriptor is None:
        try:
            descriptor = sys.stdin.fileno()
        except (AttributeError, OSError, ValueError):
            return {}
    try:
        if os.isatty(descriptor):
            return {}
        content = _drain(descriptor)
        value = json.loads(content)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _drain(descriptor: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while size <= INPUT_LIMIT:
        ready, _, _ = select.select([descriptor], [], [], STDIN_SECONDS)
        chunk = os.read(descriptor, 65536) if ready else b""
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
    return b""


def is_for(hook: str, event: Mapping[str, Any]) -> bool:
    """False if the client runs this entrypoint for another event than its own.

    A call by hand (`echo '{}' | hooks/on-stop`) names no event and counts as the right one.
    """
    name = event.get("hook_event_name")
    return not isinstance(name, str) or name in ("", REPLIES[hook].event)


def render(hook: str, said: Iterable[Say], *, context: str = "") -> Reply:
    """The reply that delivers `said` on this entrypoint's channel.

    Args:
        hook: the entrypoint's name.
        said: sentences whose tones the channel can deliver.
        context: further text for SessionStart.
    """
    by_tone: dict[Tone, list[str]] = {}
    for say in said:
        by_tone.setdefault(say.tone, []).append(say.text)
    match hook:
        case "on-stop":
            return _stop(by_tone)
        case "on-idle":
            lines = [text for texts in by_tone.values() for text in texts]
            return Reply(stderr="\n".join(lines) + "\n", code=2) if lines else Reply()
        case _:
            return _start(by_tone, context)


def _stop(by_tone: dict[Tone, list[str]]) -> Reply:
    output: dict[str, Any] = {}
    act, after = by_tone.get(Tone.ACT, []), by_tone.get(Tone.NEXT, [])
    if act:
        output |= {"decision": "block", "reason": _clip("\n".join(act + after))}
    elif after:
        output["hookSpecificOutput"] = {
            "hookEventName": "Stop",
            "additionalContext": _clip("\n".join(after)),
        }
    notes = by_tone.get(Tone.NOTE, [])
    if notes:
        output["systemMessage"] = _clip("\n".join(notes))
    return Reply(json.dumps(output) + "\n") if output else Reply()


def _start(by_tone: dict[Tone, list[str]], context: str) -> Reply:
    lines = [text for texts in by_tone.values() for text in texts]
    text = _clip("\n".join([*lines, context]).strip())
    if not text:
        return Reply()
    inner = {"hookEventName": "SessionStart", "additionalContext": text}
    return Reply(json.dumps({"hookSpecificOutput": inner}) + "\n")


def _clip(text: str) -> str:
    return text if len(text) <= CONTEXT_LIMIT else f"{text[: CONTEXT_LIMIT - 1]}…"
