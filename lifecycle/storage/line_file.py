"""A text file of ours with a line for each event: it grows at its end, and is trimmed."""

from __future__ import annotations

from pathlib import Path

from lifecycle.storage import regular_files, store

_LARGEST = 32_000_000
_USUAL = 100
"""The usual length of a line in bytes."""


class LineFile:
    """The file at `path`, in folders that were checked; whoever changes it holds the lock that guards it.

    Each method raises StrangeFileError if the path is not a regular file.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def append(self, line: str) -> None:
        """Add a line."""
        regular_files.append(self.path, f"{line}\n".encode("utf-8", "replace"), most=_LARGEST)

    def tail(self, lines: int) -> list[str]:
        """The last lines, the oldest first; [] if there is no file."""
        content = regular_files.content(self.path, limit=_LARGEST)
        read = content[0].decode("utf-8", "replace").splitlines() if content else []
        return read[-lines:]

    def trim(self, lines: int) -> tuple[int, int]:
        """Keep the last lines only; returns how many there were, and how many are left."""
        content = regular_files.content(self.path, limit=_LARGEST)
        before = content[0].splitlines(keepends=True) if content else []
        kept = before[-lines:]
        if len(kept) < len(before):
            store.write(Path(self.path), b"".join(kept))
        return len(before), len(kept)

    def trim_grown(self, lines: int) -> None:
        """Keep the last lines only, once the file has about twice as many."""
        if Path(self.path).lstat().st_size > 2 * lines * _USUAL:
            self.trim(lines)
