"""The sign of a live waiter, which the hooks' guards and other processes read.

`.lifecycle/waiter` holds the process id and the session; its mtime is the moment until which the
waiter promises to be back. So a process id that was given to somebody else after a crash deceives
nobody for longer than one wait. Who may wait is decided by a lock, not by this file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from lifecycle import store
from lifecycle.store import Folder

SIGN = "waiter"
LOCK = "waiter.lock"
SLACK = 60.0
"""Seconds that a look may take beyond the moment for which it was promised."""


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
    content = f"{os.getpid()} {session}\n".encode()
    known = store.read(path)
    if known is None or known.content != content:
        store.write(path, content)
    os.utime(path, (until + SLACK, until + SLACK))


def is_live(folder: Folder, now: float) -> bool:
    """True if a waiter has promised to be back, its time is not up, and its process is there."""
    path = folder.path / SIGN
    snapshot = store.read(path)
    if snapshot is None or snapshot.mtime_ns <= now * 1e9:
        return False
    try:
        os.kill(int(snapshot.content.split()[0]), 0)
    except (IndexError, ValueError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True
