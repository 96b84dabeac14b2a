"""An agent without a name of its own: what it is called, and how it does by hand what the verbs do."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

from lifecycle.core.tracker import Wording

_DIGITS = 12


def seat_in(root: Path, session: str) -> str:
    """The digits of a session in a worktree on this machine."""
    return seat_of(platform.node(), str(root.resolve()), session)


def seat_of(machine: str, root: str, session: str) -> str:
    """Digits that are the same for the same agent, and others for every other."""
    said = f"{machine}\0{root}\0{session}".encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.sha256(said).digest()[:8]) % 10**_DIGITS
    return f"{number:0{_DIGITS}}"


def own_commands(*, publish: str = "", start: str = "") -> Wording:
    """The command lines; `publish` and `start` where there is such a thing."""
    return Wording(
        show="lifecycle tracker show {id}",
        ready="lifecycle tracker ready --label {label}",
        claim="lifecycle tracker claim {id}",
        close='lifecycle tracker close {id} --reason "…"',
        label="lifecycle tracker label {id} --add {label} --create",
        comment="lifecycle tracker comment {id} -",
        publish=publish,
        start=start,
    )
