"""The output of a check: its beginning and its end in memory, and as a log in `.lifecycle/checks/`."""

from __future__ import annotations

import re
import time
from collections import deque
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
        self._head = bytearray()
        self._end: deque[bytes] = deque()
        self._held = self.left_out = 0

    def add(self, part: bytes) -> None:
        """Add a further part of the output."""
        room = HEAD - len(self._head)
        if room > 0:
            self._head += part[:room]
            part = part[room:]
        if not part:
            return
        self._end.append(part)
        self._held += len(part)
        while self._held - len(self._end[0]) >= END:
            gone = len(self._end.popleft())
            self._held -= gone
            self.left_out += gone

    @property
    def text(self) -> str:
        """All of it, or its beginning and its end with a line in between about the missing part."""
        head, end = bytes(self._head), b"".join(self._end)
        if not self.left_out:
            return (head + end).decode("utf-8", "replace")
        gap = f"\n[... {self.left_out:,} bytes were left out here ...]\n"
        return head.decode("utf-8", "replace") + gap + end.decode("utf-8", "replace")


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
