"""How a command ended, as far as it is known."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    """It failed, was refused or was interrupted."""
    UNKNOWN = "unknown"
    """It runs in the background, or its result is not there."""
