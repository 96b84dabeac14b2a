"""The mark that a session is still owed its recovery message, from a compaction until it was printed.

`.lifecycle/owed-ID` is made before a compaction, and before a start's message is printed; it is deleted
once the message is printed. So a hook that is killed in between leaves it, and the next prompt brings the
message. If a prompt brought it, the file contains a word until a late start has passed.

It is imported by the quick path, so it imports next to nothing.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH108

from __future__ import annotations

import os
import time

from lifecycle.storage import regular_files, workflow_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

OWED = "owed-"
STARTED = "started"
"""A file with what identifies the start that was answered last; its mtime is the time of that."""

TWICE_SECONDS = 10.0
"""If a session starts in one client from the same source within this time, it is the same start: two copies
of the hook are installed, and one of them has answered."""

_TOLD = b"told\n"
_SMALL = 1_000
_PAUSE = 0.005
"""Seconds between two looks whether another copy of the same start is still at it."""


def owe(root: str, session: str) -> None:
    """Note that this session has to be told its state; raises OSError."""
    regular_files.fill(_path(root, session), b"")


def settle(root: str, session: str) -> None:
    """Note that the session was told; raises OSError."""
    try:
        os.unlink(_path(root, session))
    except FileNotFoundError:
        return


def told_by_prompt(root: str, session: str) -> None:
    """Note that a prompt told the session, so that this compaction's start does not; raises OSError."""
    regular_files.fill(_path(root, session), _TOLD)


def is_owed(root: str, session: str) -> bool:
    """True if the session has to be told."""
    return regular_files.whole(_path(root, session), _SMALL) == b""


def begin_start(
    root: str, session: str, source: str, client: int, seconds: float
) -> Callable[[], None] | None:
    """Begin to answer a start, of which two copies may run; returns what notes that it was told, or None.

    None if another copy has told it, or after a compaction a prompt. Another copy waits until it is noted,
    or this process has ended. Both raise OSError if nothing can be written.

    Args:
        root: the worktree.
        session: the client's session.
        source: where it starts from.
        client: the client's process: one that was killed is resumed by another, which was told nothing.
        seconds: how long another copy is waited for.
    """
    import fcntl

    path = regular_files.below(root, workflow_marks.FOLDER, STARTED)
    words = f"{workflow_marks.session_name(session)} {source[:40]} {client}\n"
    line = words.encode("utf-8", "replace")
    # The lock ends with this object: also with whoever failed before it could tell.
    held = os.fdopen(regular_files.opened(path, os.O_RDWR | os.O_CREAT), "rb", 0)
    for _ in range(int(seconds / _PAUSE)):
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError:
            time.sleep(_PAUSE)
    is_same = bool(session) and held.read(_SMALL) == line
    age = time.time() - os.fstat(held.fileno()).st_mtime
    if is_same and 0 <= age < TWICE_SECONDS and not is_owed(root, session):
        held.close()
        return None

    def told() -> None:
        regular_files.fill(path, line)
        settle(root, session)
        held.close()

    if source == "compact" and regular_files.whole(_path(root, session), _SMALL) == _TOLD:
        told()
        return None
    return told


def _path(root: str, session: str) -> str:
    name = workflow_marks.session_name(session)
    return regular_files.below(root, workflow_marks.FOLDER, f"{OWED}{name}")
