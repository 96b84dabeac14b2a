"""The event that the client sends to a hook on stdin, whatever else stdin may be.

It is imported at every stop that the staged workflow sees, so it imports next to nothing.
"""

from __future__ import annotations

import json
import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INPUT_LIMIT = 32_000_000
"""How many bytes of stdin are read; a larger input counts as empty. People may paste much into a prompt."""

STDIN_SECONDS = 1.0
"""How long stdin may stay silent before the hook continues without it."""


def read_input() -> dict[str, Any]:
    """The event's JSON object, or an empty dict for anything else.

    Any stdin will do: closed, a terminal, empty, broken, binary, huge, nested without end.
    """
    try:
        descriptor = sys.stdin.fileno()
        if os.isatty(descriptor):
            return {}
        value = json.loads(drained(descriptor, INPUT_LIMIT))
    except (AttributeError, OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def drained(descriptor: int, limit: int) -> bytes:
    """All bytes until the end, or until it is silent for a while; b"" if there are more than `limit`."""
    chunks: list[bytes] = []
    size = 0
    while size <= limit:
        ready, _, _ = select.select([descriptor], [], [], STDIN_SECONDS)
        chunk = os.read(descriptor, 65536) if ready else b""
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
    return b""
