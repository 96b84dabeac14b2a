"""Temporary files lie in memory, where the system has room for them there.

Tests make and remove ten thousand folders; on a disk with a journal a tenth of the suite's time is spent in
removing them. Whoever wants them elsewhere sets TMPDIR. It is imported before anything asks for a folder.

A run has a folder of its own there, which goes with the run: memory that nobody frees fills up. One that
failed is kept to be looked at, and one that was killed cannot remove its own; the next run removes both.

PYTEST_DONT_REWRITE: it is a plug-in as well, imported before pytest registers it, and asserts nothing.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # noqa: S108 -- a run's folder in it has a name of its own
WANTED = 4 * 1024**3
"""Bytes that have to be free: several times of what a whole run leaves."""

INODES = 500_000
"""Files and folders that have to find a place, likewise; some file systems limit them apart."""

PREFIX = "lifecycle-tests-"
LOCK = "lock"


def has_room(folder: Path, wanted: int = WANTED, inodes: int = INODES) -> bool:
    """Whether a folder is there, may be written and run programs, and has so much room for files."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    system = os.statvfs(folder)
    if system.f_files and system.f_favail < inodes:  # 0 files: they have no limit of their own
        return False
    return not system.f_flag & os.ST_NOEXEC and system.f_bavail * system.f_frsize >= wanted


def folder_of_run(memory: Path) -> Path:
    """Make the folder of this run in memory; this process holds its lock until it ends."""
    mine = Path(tempfile.mkdtemp(prefix=PREFIX, dir=memory))
    mine.chmod(0o711)  # some tests act as a user who may go there, and write nothing
    early = mine / "early"
    fcntl.flock(os.open(early, os.O_CREAT | os.O_RDWR, 0o600), fcntl.LOCK_EX)
    early.rename(mine / LOCK)  # whoever finds a lock finds it held
    return mine


def remove_left(memory: Path) -> None:
    """Remove the folders of this user's runs that are over: their locks are free."""
    for lock in memory.glob(f"{PREFIX}*/{LOCK}"):
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:  # somebody else's, or it has just been removed
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # its run goes on
            continue
        else:
            shutil.rmtree(lock.parent, ignore_errors=True)  # a test may have closed a folder
        finally:
            os.close(descriptor)


def begin(memory: Path = MEMORY) -> Path | None:
    """Put this run's temporary files, and those of what it starts, into memory; gives the folder."""
    if "TMPDIR" in os.environ:
        return None
    if os.access(memory, os.W_OK | os.X_OK):
        remove_left(memory)
    if not has_room(memory):
        return None
    mine = folder_of_run(memory)
    os.environ["TMPDIR"] = str(mine)
    tempfile.tempdir = None  # pytest has asked already
    atexit.register(shutil.rmtree, mine, ignore_errors=True)
    return mine


OF_THIS_RUN = begin()


def pytest_sessionfinish(exitstatus: int) -> None:
    """Keep what a run that failed has left."""
    if OF_THIS_RUN and exitstatus != pytest.ExitCode.OK:
        atexit.unregister(shutil.rmtree)
