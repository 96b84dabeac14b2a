"""What a command printed, where the client keeps it in a file.

Of much output the event has the first characters only; what a test run says of itself stands at its end.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks (a large result of a tool is
kept in a file, and the event names it).
"""

from __future__ import annotations

import os
import stat
from enum import StrEnum


class CallEnd(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    """It failed, was refused or was interrupted."""
    UNKNOWN = "unknown"
    """It runs in the background, or its result is not there."""


WHOLE = 1_000_000
"""Bytes up to which such a file is read; of a longer one its end."""


def end_of(path: str) -> tuple[str, bool]:
    """The end of a file's text, and whether something is missing before it.

    What is no regular file, is a link, or cannot be read, is empty, and all of it is missing.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return "", True
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            return "", True
        begin = max(0, about.st_size - WHOLE)
        content = os.pread(descriptor, WHOLE, begin)
    except OSError:
        return "", True
    finally:
        os.close(descriptor)
    return content.decode("utf-8", "replace"), begin > 0 or len(content) < about.st_size
