"""The digits by which one agent on one machine is told from every other."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

_DIGITS = 12


def seat_in(root: Path, session: str) -> str:
    """The digits of a session in a worktree on this machine."""
    return seat_of(platform.node(), str(root.resolve()), session)


def seat_of(machine: str, root: str, session: str) -> str:
    """Digits that are the same for the same agent, and others for every other."""
    said = f"{machine}\0{root}\0{session}".encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.sha256(said).digest()[:8]) % 10**_DIGITS
    return f"{number:0{_DIGITS}}"
