"""How many tokens a session took, as the client's transcript counts them: a bounded read of what is new.

The client writes a line for each part of an answer, all with the same counts under the same id. What came
from the model's cache is left out, and so is what subagents took, whose transcripts lie elsewhere.

Source: https://docs.anthropic.com/en/api/messages (`usage`).
"""

from __future__ import annotations

import json
import os

from lifecycle.core.timing import parse_time
from lifecycle.storage import regular_files

MOST = 32_000_000
"""Bytes that are read at one stop; what is beyond comes with the next one."""

_COUNTED = ("input_tokens", "output_tokens", "cache_creation_input_tokens")


def taken(path: str, start: int, since: float) -> tuple[int, int]:
    """Count the tokens behind a place of a transcript, in lines that are there whole.

    Args:
        path: of the transcript; nothing is told where it cannot be read.
        start: the bytes of it that were read before.
        since: seconds since the epoch; an answer that came earlier does not count.

    Returns:
        Tokens, and the bytes that were read now.
    """
    new = _new_lines(path, start)
    return _tokens(new, since), len(new)


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


def _tokens(content: bytes, since: float) -> int:
    """The tokens of those answers among these lines that came since then."""
    counted: dict[str, int] = {}
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
        if entry.get("type") == "assistant" and (at is None or at >= since):
            counted[name] = sum(count for count in counts if isinstance(count, int) and count > 0)
    return sum(counted.values())
