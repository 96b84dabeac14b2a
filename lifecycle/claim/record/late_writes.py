"""Claim files that an exchange took out, kept until nobody can write into them any more.

An agent that writes in place opens the file first and writes later. Between the two the engine may have
put another file under the name (`store.replace_if`): what the agent writes then goes into the file that
was taken out. So that file is kept, in `.lifecycle/replaced/`, under a name that says what was in it, and
each look compares. What differs was written by the agent afterwards, and is merged like any other edit.

A file goes once no process has it open for writing: on Linux the kernel says so, by granting a lease or
not (https://man7.org/linux/man-pages/man2/F_GETLEASE.2const.html). Elsewhere it goes after KEPT_SECONDS.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from lifecycle.claim.record.claim_file import LIMIT
from lifecycle.core.ports import Clock
from lifecycle.storage import regular_files
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.storage.store import Folder

FOLDER = "replaced"
"""The folder in `.lifecycle/`."""

FRESH_SECONDS = 2.0
"""Who looked the name up before the exchange has opened the file by then."""

KEPT_SECONDS = 600.0
"""How long a file is kept where nobody says who has it open."""


@dataclass(frozen=True, slots=True)
class LateEdit:
    """What somebody wrote into a file that was taken out before.

    Attributes:
        path: of the file.
        mtime_ns: when it was written.
        content: what is in it now; half of it, if the agent is in the middle.
        is_over: nobody writes into it any more, as far as can be told.
    """

    path: Path
    mtime_ns: int
    content: bytes
    is_over: bool


class Late:
    """The files of one worktree that were taken out and are kept."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self.folder = Folder(root, FOLDER)
        self.clock = clock

    def keep(self, path: Path, content: bytes) -> None:
        """Take a file that an exchange took out, with the content that it had then.

        Where it cannot be taken (`.lifecycle/` is another file system) it is not watched: the exchange has
        been made, and is no failure.
        """
        with contextlib.suppress(OSError):
            self.folder.make()
            path.rename(self._named(content))

    def watch(self, path: Path, content: bytes) -> None:
        """The same for a file that keeps its name as well; where that cannot be, it is not watched."""
        with contextlib.suppress(OSError):
            self.folder.make()
            self._named(content).hardlink_to(path)

    def edits(self) -> list[LateEdit]:
        """What was written since, the oldest first."""
        found = []
        for path in self._all():
            with contextlib.suppress(StrangeFileError):
                read = _changed(path)
                if read is not None:
                    found.append(LateEdit(path, read[1], read[0], not self._is_held(path)))
        return sorted(found, key=lambda edit: edit.mtime_ns)

    def known(self, edit: LateEdit) -> None:
        """This edit was taken: what is written after it is another one."""
        with contextlib.suppress(FileNotFoundError):
            edit.path.rename(self._named(edit.content))

    def settle(self) -> bool:
        """Take away what nobody can write into any more; True if an edit may still come, or is there.

        Where nobody says who has a file open it may not, so that a stop is not looked at for minutes.
        """
        is_awaited = False
        for path in self._all():
            is_held, age = _is_open(path), self._age(path)
            # In this order: into what was closed by then nobody writes after it was read.
            if age < FRESH_SECONDS or is_held or _changed(path) is not None:
                is_awaited = True
            elif is_held is False or age > KEPT_SECONDS:
                path.unlink(missing_ok=True)
        return is_awaited

    def _all(self) -> list[Path]:
        self.folder.at("")  # raises where it is not ours
        try:
            found = sorted(self.folder.path.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [path for path in found if regular_files.mtime_ns(str(path)) >= 0]

    def _is_held(self, path: Path) -> bool:
        is_held = _is_open(path)
        return self._age(path) < FRESH_SECONDS if is_held is None else is_held

    def _age(self, path: Path) -> float:
        """Seconds since it was last written or renamed."""
        try:
            return self.clock.now() - path.lstat().st_ctime
        except FileNotFoundError:
            return 0.0

    def _named(self, content: bytes) -> Path:
        return Path(self.folder.at(f"{time.time_ns():020}-{_digest(content)}"))


def _changed(path: Path) -> tuple[bytes, int] | None:
    """What is in the file now and when it was written, if that is not what its name says."""
    read = regular_files.content(str(path), limit=LIMIT)
    is_same = read is None or _digest(read[0]) == path.name.partition("-")[2]
    return None if is_same else read


def _digest(content: bytes) -> str:
    import hashlib  # not on the way of a hook that has nothing to compare

    return hashlib.sha256(content).hexdigest()


def _is_open(path: Path) -> bool | None:
    """True if a process has the file open for writing, False if none has, None if nobody can tell."""
    if sys.platform != "linux":
        return None
    import fcntl

    try:
        descriptor = regular_files.opened(str(path))
    except OSError:
        return None
    try:
        # Who opens it while the lease is held sends a signal, by default one that ends the process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    else:
        return False
    finally:
        os.close(descriptor)
