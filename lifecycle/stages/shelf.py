"""What the staged workflow keeps in `.lifecycle/`: marks for its guards, and files under one lock.

All of it only adds to what the transcript says: a worktree whose `.lifecycle/` was deleted goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lifecycle import store
from lifecycle.stages import marks
from lifecycle.store import Folder

LOCK_SECONDS = 1.5
_RACY_NS = 2_000_000_000


class Shelf:
    """The files of one worktree."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = Folder(root)

    def path(self, name: str) -> Path:
        """Where a file of the sessions' folder lies."""
        return self.folder.path / marks.SESSIONS / name

    @contextmanager
    def locked(self, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Hold the lock of the staged workflow; raises LockBusy."""
        with self.folder.locked(seconds, marks.LOCK):
            (self.folder.path / marks.SESSIONS).mkdir(exist_ok=True)
            yield

    def load(self, name: str) -> Any:
        """A file's JSON, or None if it is not there or cannot be read: it is learned again."""
        found = store.read(self.path(name))
        try:
            return None if found is None else json.loads(found.content)
        except (ValueError, RecursionError):
            return None

    def save(self, name: str, value: Any) -> None:
        """Replace a file; the caller holds the lock."""
        _write(self.path(name), json.dumps(value, indent=1).encode("ascii") + b"\n")

    @property
    def is_off(self) -> bool:
        """True if somebody switched the workflow off here."""
        return (self.folder.path / marks.OFF).exists()

    def switch(self, *, off: bool) -> None:
        """Switch the workflow off in this worktree, or on again."""
        self.folder.make()
        if off:
            (self.folder.path / marks.OFF).touch()
            self.set_due(None)
        else:
            (self.folder.path / marks.OFF).unlink(missing_ok=True)
            self.set_due(marks.ALWAYS)

    def set_due(self, moment: float | None) -> None:
        """From when on a stop is looked at (seconds, epoch); None: never."""
        path = self.folder.path / marks.DUE
        if moment is None:
            path.unlink(missing_ok=True)
        elif marks.mtime_ns(str(path)) != int(moment * 1e9):
            self.folder.make()
            path.touch()
            os.utime(path, ns=(int(moment * 1e9), int(moment * 1e9)))

    def note_settings(
        self, said: dict[str, Any], words: list[str], mtime_ns: int, now: float
    ) -> None:
        """Keep the settings for the quick path, and the moment at which their file was written.

        A file that is younger than two seconds may change again without its date showing it: then the
        next stop reads it once more.

        Raises:
            LockBusy: another process does so right now.
        """
        with self.folder.locked(LOCK_SECONDS, marks.LOCK):
            content = "".join(f"{word}\n" for word in words)
            _write(self.folder.path / marks.WORDS, content.encode())
            path = self.folder.path / marks.STAGED
            _write(path, json.dumps(said).encode("ascii") + b"\n")
            is_settled = now * 1e9 - mtime_ns >= _RACY_NS
            moment = mtime_ns if is_settled else 0
            os.utime(path, ns=(moment, moment))


def _write(path: Path, content: bytes) -> None:
    """Replace a file under the lock, and take away what a killed process left of doing the same."""
    for left in store.left_beside(path):
        left.unlink(missing_ok=True)
    store.write(path, content)
