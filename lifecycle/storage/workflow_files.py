"""The staged workflow's files in `.lifecycle/`: marks for its guards, and files under one lock.

All of them only add to the transcript: a worktree without its `.lifecycle/` can continue.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lifecycle.storage import store, workflow_marks

LOCK_SECONDS = 1.5
_RACY_NS = 2_000_000_000


class WorkflowFiles:
    """The files of one worktree."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = store.Folder(root)
        self.sessions = store.Folder(root, workflow_marks.SESSIONS)

    def path(self, name: str) -> Path:
        """The path of a file in the sessions' folder; raises StrangeFileError if the folder is not ours."""
        return Path(self.sessions.at(name))

    @contextmanager
    def locked(self, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Hold the lock of the staged workflow; raises LockBusy."""
        with self.folder.locked(seconds, workflow_marks.LOCK):
            self.sessions.make()
            yield

    def load(self, name: str) -> Any:
        """A file's JSON, or None if it does not exist or cannot be read: it is learned again."""
        with suppress(ValueError, RecursionError):
            return json.loads(self.sessions.read(name).content)
        return None

    def save(self, name: str, value: Any) -> None:
        """Replace a file; the caller holds the lock."""
        self.sessions.renew(name, store.as_json(value))

    @property
    def is_off(self) -> bool:
        """True if somebody switched the workflow off here."""
        return self.folder.has(workflow_marks.OFF)

    def switch(self, *, off: bool) -> None:
        """Switch the workflow off in this worktree, or on again."""
        if off:
            self.folder.mark(workflow_marks.OFF)
        else:
            self.folder.remove(workflow_marks.OFF)
        self.set_due(None if off else workflow_marks.ALWAYS)

    def set_due(self, moment: float | None) -> None:
        """Set from when on a stop is looked at (seconds since the epoch); None: never."""
        self.folder.set_due(workflow_marks.DUE, moment)

    def note_settings(
        self, settings: dict[str, Any], words: list[str], mtime_ns: int, now: float
    ) -> None:
        """Keep the settings for the quick path, and the moment at which their file was written.

        A settings file that is younger than two seconds may change again without a new date: then the next
        stop reads it once more.

        Raises:
            LockBusy: another process is doing the same.
        """
        with self.folder.locked(LOCK_SECONDS, workflow_marks.LOCK):
            self.folder.renew(workflow_marks.WORDS, "".join(f"{word}\n" for word in words).encode())
            self.folder.renew(workflow_marks.STAGED, json.dumps(settings).encode("ascii") + b"\n")
            is_settled = now * 1e9 - mtime_ns >= _RACY_NS
            self.folder.mark(workflow_marks.STAGED, mtime_ns if is_settled else 0)
