"""Whether a process exists; imported by quick paths, so it imports nothing but `os`."""

from __future__ import annotations

import os


def is_there(pid: str | int) -> bool:
    """True if this user has such a process; an id reused for another user's process does not count."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, OverflowError, ProcessLookupError, PermissionError):
        return False
    return int(pid) > 0
