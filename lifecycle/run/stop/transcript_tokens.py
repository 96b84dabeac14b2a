"""How many tokens a session took, as the client's transcript counts them: a bounded read of what is new.

The client writes a line for each part of an answer, all with the same counts under the same id. What came
from the model's cache is left out, and so is what subagents took, whose transcripts lie elsewhere.

Source: https://docs.anthropic.com/en/api/messages (`usage`).
"""

from __future__ import annotations

import json
import os

from lifecycle.core.timing import parse_time
from lifecycle.run.state import Led, Run
from lifecycle.storage import regular_files

MOST = 32_000_000
"""Bytes that are read at one stop; what is beyond comes with the next one."""

_COUNTED = ("input_tokens", "output_tokens", "cache_creation_input_tokens")


def counted(run: Run, path: str) -> Run:
    """The run with what its session took since the last count; as it was where the file does not tell."""
    if not (run.led and path):
        return run
    led = run.led[-1]
    new = _new_lines(path, led.read)
    if not new:
        return run
    tokens = led.tokens + _tokens(new, led)
    return run.but(led=(*run.led[:-1], led.but(tokens=tokens, read=led.read + len(new))))


def _new_lines(path: str, start: int) -> bytes:
    """The whole lines from this place on; b"" if there are none, or it is no file that can be read."""
    try:
        descriptor = regular_files.opened(path, follow=True)
    except (OSError, ValueError):
        return b""
    try:
        content = os.pread(descriptor, MOST, start)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return content[: content.rfind(b"\n") + 1]


def _tokens(content: bytes, led: Led) -> int:
    """What the answers among these lines took that came since the session leads the run."""
    taken: dict[str, int] = {}
    for line in content.splitlines():
        if b'"usage"' not in line:
            continue
        try:
            entry = json.loads(line)
            message = entry["message"]
            usage, name = message["usage"], str(message["id"])
            counts = [usage.get(key, 0) for key in _COUNTED]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        at = parse_time(entry.get("timestamp"))
        if entry.get("type") == "assistant" and (at is None or at >= led.since):
            taken[name] = sum(count for count in counts if isinstance(count, int) and count > 0)
    return sum(taken.values())
