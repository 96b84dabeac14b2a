"""`.lifecycle/feedback/`: packets of failed heads and the logs beside them, bounded in number and size.

These files can be fetched from GitHub again, and are deleted with the claim.
"""

from __future__ import annotations

from pathlib import Path

from lifecycle.storage.store import FEEDBACK, FOLDER, Folder

MOST_FILES = 64
MOST_BYTES = 40_000_000
"""Most bytes that are kept there: the oldest files are deleted first."""


class FeedbackFiles:
    """The files of one worktree. Every method raises OSError if a path does not hold a regular file."""

    def __init__(self, root: Path) -> None:
        self.folder = Folder(root, FEEDBACK)

    @staticmethod
    def packet_of(pull: int, commit: str, event: str = "") -> str:
        """The name of the packet of a pull request's commit: about its checks, or about a "conflict"."""
        kind = "conflict-" if event == "conflict" else ""
        return f"{kind}{pull}-{commit[:12]}.txt"

    @staticmethod
    def shown(name: str) -> str:
        """A file's path as it is shown: from the worktree's root."""
        return f"{FOLDER}/{FEEDBACK}/{name}"

    def has(self, name: str) -> bool:
        """True if the file exists."""
        return self.folder.mtime_ns(name) >= 0

    def read(self, name: str) -> bytes | None:
        """A file's content; None if it does not exist."""
        file = self.folder.read(name)
        return file.content if file is not None else None

    def write(self, name: str, content: bytes) -> None:
        """Replace a file; the folder is made, and the oldest files are deleted if there are too many."""
        self.folder.make()
        self.folder.write(name, content)
        self._prune(name)

    def _prune(self, written: str) -> None:
        size = 0
        for place, name in enumerate(self.folder.names()):
            size += max((self.folder.path / name).lstat().st_size, 0)
            if name != written and (place >= MOST_FILES or size > MOST_BYTES):
                self.folder.remove(name)
