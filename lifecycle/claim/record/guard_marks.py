"""The marks in `.lifecycle/` that the hooks' guards read before they start Python.

A mark is an empty file; its mtime is a moment. The guards (`sh`, in `hooks/`) compare it with the present
or with the claim file's mtime, and end where nothing is due.
"""

from __future__ import annotations

from lifecycle.core.ports import Clock
from lifecycle.storage.store import Folder

STOP_DUE = "due"
IDLE_DUE = "idle-due"
"""Marks whose mtime is the moment from which on-stop and on-idle look again."""

ALWAYS = 1.0
"""A moment that has come whatever the clock says: a clock that ran ahead must not stop polling."""

WAITING = "waiting"
"""A mark that is there while a prompt of the user's is worth Python's start."""

ANSWERED = "answered"
"""A mark whose mtime is when a person last wrote a prompt; it goes when the question is put."""

OWNER = "owner"
"""A file with the id of the session that the claim belongs to."""

_STAMP = "stamp"
_PROMPTS = "prompts"
"""A file that the hook on the user's prompts touches: its mtime shows that the hook is installed."""


class GuardMarks:
    """The marks of one worktree."""

    def __init__(self, folder: Folder, clock: Clock) -> None:
        self.folder = folder
        self.clock = clock

    def set_due(self, name: str, moment: float | None) -> None:
        """Tell the guard when to let a wake through again; None removes the mark."""
        if moment is None:
            self.folder.remove(name)
        else:
            self.folder.mark(name, int(moment * 1e9))

    def has(self, name: str) -> bool:
        """True if the mark is there, due or not."""
        return self.folder.mtime_ns(name) >= 0

    def is_due(self, name: str) -> bool:
        """True if the mark is there and its moment has come."""
        return 0 <= self.folder.mtime_ns(name) <= self.clock.now() * 1e9

    def stamp(self, mtime_ns: int) -> None:
        """Tell the guard that this version of the claim file was looked at and left nothing to do."""
        self.folder.mark(_STAMP, mtime_ns)

    def is_stamped(self, mtime_ns: int) -> bool:
        """True if a look at this version of the claim file left nothing to do."""
        return self.folder.mtime_ns(_STAMP) == mtime_ns

    @property
    def answered_at(self) -> float | None:
        """When a person last wrote a prompt, if that was after the question was put; else None."""
        moment = self.folder.mtime_ns(ANSWERED)
        return moment / 1e9 if moment >= 0 else None

    def hears_prompts(self, since: float) -> bool:
        """True if the hook on the user's prompts has run since then, so that it is installed."""
        return self.folder.mtime_ns(_PROMPTS) >= since * 1e9

    def is_owner(self, session: str) -> bool:
        """True if the guards know this session as the one that the claim belongs to."""
        known = self.folder.read(OWNER)
        return known is not None and known.content == f"{session}\n".encode()

    def show_owner(self, session: str) -> None:
        """Tell the guards which session the claim belongs to; "" for none."""
        if not session:
            self.folder.remove(OWNER)
        elif not self.is_owner(session):
            self.folder.write(OWNER, f"{session}\n".encode())
