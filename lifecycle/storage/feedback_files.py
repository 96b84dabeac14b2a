"""`.lifecycle/feedback/`: packets of failed heads and the logs beside them, bounded in number and size.

These files can be fetched from GitHub again, and are deleted with the claim.
"""

from __future__ import annotations

from pathlib import Path

from lifecycle.storage.store import FEEDBACK, FOLDER, Folder

MOST_FILES = 64
MOST_BYTES = 40_000_000
"""Most bytes that are kept there: the oldest files are deleted first."""


def folder_of(root: Path) -> Folder:
    """The folder of one worktree."""
    return Folder(root, FEEDBACK)


def packet_of(pull: int, commit: str, event: str = "") -> str:
    """The name of the packet of a pull request's commit: about its checks, or about a "conflict"."""
    kind = "conflict-" if event == "conflict" else ""
    return f"{kind}{pull}-{commit[:12]}.txt"


def shown(name: str) -> str:
    """A file's path as it is shown: from the worktree's root."""
    return f"{FOLDER}/{FEEDBACK}/{name}"


def write(root: Path, name: str, text: str) -> str:
    """Replace a file; the oldest ones are deleted if there are too many. Returns its path as it is shown.

    Raises:
        OSError: it cannot be written, or a path there does not hold a regular file.
    """
    folder, size = folder_of(root), 0
    folder.make()
    folder.write(name, text.encode())
    for place, other in enumerate(folder.names()):
        size += max((folder.path / other).lstat().st_size, 0)
        if other != name and (place >= MOST_FILES or size > MOST_BYTES):
            folder.remove(other)
    return shown(name)
