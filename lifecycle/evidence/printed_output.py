"""How a tool call ended, and how much of what it printed is read.

Of much output the event has the first characters only; what a test run says of itself stands at its end.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks (a large result of a tool is
kept in a file, and the event names it).
"""

from __future__ import annotations

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
