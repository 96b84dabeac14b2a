"""Temporary files lie in memory, where the system has room for them there.

Tests make and remove ten thousand folders; on a disk with a journal a tenth of the suite's time is spent in
removing them. Whoever wants them elsewhere sets TMPDIR. It is imported before anything asks for a folder.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 -- files in it get names of their own, by tempfile
WANTED = 4 * 1024**3
"""Bytes that have to be free: several times of what a whole run leaves."""


def has_room(folder: Path, wanted: int = WANTED) -> bool:
    """Whether a folder is there, may be written and run programs, and has so many bytes free."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    system = os.statvfs(folder)
    return not system.f_flag & os.ST_NOEXEC and system.f_bavail * system.f_frsize >= wanted


if "TMPDIR" not in os.environ and has_room(MEMORY):
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None  # pytest has asked already
