"""Signs of life, which the hooks' guards and other processes read: of a waiter, and of a session.

`.lifecycle/seen` holds the session that owns the claim and the process id of its client, which is the
parent of every hook; its mtime is when that was last seen. `.lifecycle/ended` holds the owner's id once
its session has ended.

`.lifecycle/waiter` holds the process id and the session; its mtime is the moment until which the
waiter promises to be back. So a process id that was given to somebody else after a crash deceives
nobody for longer than one wait. Who may wait is decided by a lock, not by this file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lifecycle import store
from lifecycle.store import Folder

SEEN = "seen"
ENDED = "ended"
SIGN = "waiter"
LOCK = "waiter.lock"
SLACK = 60.0
"""Seconds that a look may take beyond the moment for which it was promised."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of one session.

    Attributes:
        has_ended: its end was seen, and nothing of it since.
        is_client_there: its client's process is there; None if nobody knows which one that is.
        has_waiter: a process waits for its news right now.
        last_at: the last sign of it, in seconds since the epoch, or None.
    """

    has_ended: bool = False
    is_client_there: bool | None = None
    has_waiter: bool = False
    last_at: float | None = None


def sign(folder: Folder, session: str) -> None:
    """Note that a hook of this session runs: its parent is the session's client."""
    _put(folder.path / SEEN, f"{session} {os.getppid()}\n")


def note_end(folder: Folder, session: str) -> None:
    """Note that this session, which owns the claim, is over."""
    _put(folder.path / ENDED, f"{session}\n")


def signs_of(folder: Folder, session: str, now: float) -> Signs:
    """What is known of a session, by the files that hooks leave."""
    seen, ended = store.read(folder.path / SEEN), store.read(folder.path / ENDED)
    words = seen.content.decode(errors="replace").split() if seen else []
    is_seen = seen is not None and words[:1] == [session]
    seen_ns = seen.mtime_ns if seen is not None and is_seen else 0
    is_ended = ended is not None and ended.content.decode(errors="replace").strip() == session
    return Signs(
        has_ended=ended is not None and is_ended and ended.mtime_ns >= seen_ns,
        is_client_there=is_there(words[1]) if is_seen and len(words) > 1 else None,
        has_waiter=is_live(folder, now, session),
        last_at=seen_ns / 1e9 if is_seen else None,
    )


@contextlib.contextmanager
def alone(folder: Folder, seconds: float) -> Iterator[None]:
    """Be the one waiter of this worktree, and take the sign away at the end.

    Raises:
        LockBusy: another one lived for all of `seconds`.
    """
    with folder.locked(seconds, LOCK):
        try:
            yield
        finally:
            (folder.path / SIGN).unlink(missing_ok=True)


def promise(folder: Folder, session: str, until: float) -> None:
    """Show that this process waits for `session`, and is back by `until` (seconds, epoch)."""
    path = folder.path / SIGN
    content = f"{os.getpid()} {session}\n"
    known = store.read(path)
    if known is None or known.content != content.encode():
        _put(path, content)
    os.utime(path, (until + SLACK, until + SLACK))


def is_live(folder: Folder, now: float, session: str = "") -> bool:
    """True if a waiter has promised to be back, its time is not up, and its process is there.

    Args:
        folder: of the worktree.
        now: seconds since the epoch.
        session: whose waiter; any session's unless given.
    """
    snapshot = store.read(folder.path / SIGN)
    if snapshot is None or snapshot.mtime_ns <= now * 1e9:
        return False
    pid, _, whose = snapshot.content.decode(errors="replace").strip().partition(" ")
    return session in ("", whose) and is_there(pid)


def _put(path: Path, content: str) -> None:
    """Write a sign in place: half of one is no sign, and a killed process leaves nothing beside it."""
    path.write_text(content, encoding="utf-8")


def is_there(pid: str) -> bool:
    """True if this user has such a process; an id that went to another user's is not ours any more."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, OverflowError, ProcessLookupError, PermissionError):
        return False
    return int(pid) > 0
