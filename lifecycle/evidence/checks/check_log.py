"""The output of a check: its beginning and its end in memory, and as a log in `.lifecycle/checks/`."""

from __future__ import annotations

import re
import time
from pathlib import Path

from lifecycle.core.redact import shown
from lifecycle.storage.store import Folder

FOLDER = "checks"

HEAD = 250_000
END = 750_000
"""Bytes of the output that are kept: this many of its beginning and of its end."""

LOGS = 20
"""How many logs are kept."""

TAIL = 2_000
"""Characters of the end that are kept in the record."""


class CheckOutput:
    """A check's output on both streams, in the order in which it came."""

    def __init__(self) -> None:
        self._head, self._end = bytearray(), bytearray()
        self._size = 0

    @property
    def left_out(self) -> int:
        """How many bytes between the beginning and the end are not kept."""
        return max(0, self._size - HEAD - END)

    def add(self, part: bytes) -> None:
        """Add a further part of the output."""
        self._size += len(part)
        room = HEAD - len(self._head)
        self._head += part[:room]
        self._end += part[room:]
        if len(self._end) > 2 * END:  # seldom, since the rest is moved
            del self._end[:-END]

    @property
    def text(self) -> str:
        """All of it, or its beginning and its end with a line in between about the missing part."""
        gap = f"\n[... {self.left_out:,} bytes were left out here ...]\n" if self.left_out else ""
        return (self._head + gap.encode() + self._end[-END:]).decode("utf-8", "replace")


def keep(root: Path, name: str, began: float, text: str) -> str:
    """Write the log of a run, and delete the oldest logs; returns its path below the worktree.

    Args:
        root: the worktree's top folder.
        name: the check's name.
        began: when the run began, in seconds since the epoch.
        text: the output; secrets are removed.

    Raises:
        OSError: the log cannot be written.
    """
    folder = Folder(root, FOLDER)
    folder.make()
    moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime(began)) + f"{int(began % 1 * 1000):03}Z"
    file = f"{moment}-{re.sub(r'[^A-Za-z0-9_-]', '-', name)}.log"
    folder.write(file, shown(text).encode("utf-8", "replace"))
    logs = sorted(path.name for path in folder.path.iterdir() if path.name.endswith(".log"))
    for old in logs[:-LOGS]:
        folder.remove(old)
    return str((folder.path / file).relative_to(root))


def tail(text: str) -> str:
    """The end of an output, without secrets, for a record."""
    return shown(text[-4 * TAIL :])[-TAIL:]
