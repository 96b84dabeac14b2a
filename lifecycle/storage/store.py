"""Files that two parties write.

Two rules hold here. A file that only the product writes (`.lifecycle/`) is replaced by an atomic rename
under a lock. A file that an agent writes too, without any lock (the claim file), is *exchanged* with the
new content, so that the old file comes out and can be compared: a rename alone is not compare-and-set,
and would lose an edit made between the read and the rename.

All files are opened by `regular_files.py`: only a regular file, of a bounded size, never blocking.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from lifecycle.core.errors import LockBusy
from lifecycle.core.light_dataclass import dataclass
from lifecycle.storage import regular_files

CLAIM_FILE = ".agent-claim.json"
FOLDER = ".lifecycle"
LOCK = "lock"
STATE = "state.json"
FEEDBACK = "feedback"
"""The folder of packets and logs in `.lifecycle/`; it is deleted with the claim."""

_ENDS = {signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
"""The signals with which a deadline, the client or a person ends a process."""

_LOCK_PAUSE = 0.02
"""Seconds between two checks whether a lock is free."""

OURS = ".lifecycle.tmp"
"""The end of our temporary files' names: an editor's must not be taken for ours."""

_AT_FDCWD = {"linux": -100, "darwin": -2}
_SWAP = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS: the same bit


def worktree_root(start: Path) -> Path | None:
    """The nearest folder upwards that has a `.git`, or None."""
    return next((f for f in (start, *start.parents) if (f / ".git").exists()), None)


def common_folder(root: Path) -> Path | None:
    """The git folder that all worktrees of a clone share, found without starting git, or None.

    Source: https://git-scm.com/docs/gitrepository-layout (a `.git` that is a file says `gitdir: PATH`; a
    linked worktree's folder says in `commondir` where the shared one is, relative to itself).
    """
    with contextlib.suppress(OSError, ValueError):  # unreadable, or an impossible path
        folder = regular_files.git_folder(root)
        if not folder:
            return None
        git = Path(folder)
        shared = git / "commondir"
        if shared.is_file():
            git /= regular_files.line_of(str(shared), follow=True)
        return git.resolve() if (git / "HEAD").is_file() and (git / "objects").is_dir() else None
    return None


def places_of(root: Path, branch: str) -> list[Path]:
    """The worktrees of this clone that have the branch checked out, by the files of git's folder."""
    common = common_folder(root)
    tops = {common: common.parent, **linked_worktrees(common)} if common is not None else {}
    head = f"ref: refs/heads/{branch}"
    with contextlib.suppress(OSError, ValueError):  # an unreadable file, or an impossible path
        return [top for git, top in tops.items() if regular_files.head_of(str(git)) == head]
    return []


def linked_worktrees(common: Path) -> dict[Path, Path]:
    """The top folders of a clone's linked worktrees, by their git folders, found without starting git.

    Source: https://git-scm.com/docs/gitrepository-layout (`worktrees/<id>/gitdir`)
    """
    tops = {}
    for path in sorted(common.glob("worktrees/*/gitdir")):
        with contextlib.suppress(OSError):
            line = regular_files.line_of(str(path))
            # It may be relative to that folder (worktree.useRelativePaths).
            if line and "\0" not in line:
                tops[path.parent] = Path(os.path.realpath((path.parent / line).parent))
    return tops


def clone_of(root: Path) -> Path:
    """A path that all worktrees of a clone share: its git folder; outside of git, the folder itself."""
    return common_folder(root) or root.resolve()


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file's content from one read; `mtime_ns` is from the open descriptor, before the read."""

    content: bytes
    mtime_ns: int


def read(path: Path, *, follow: bool = True) -> FileContent | None:
    """The file's content, or None if there is none (a folder in its place counts as none).

    Args:
        path: the file's path.
        follow: a link is allowed, for a person's own file; one of our files is never a link.

    Raises:
        StrangeFileError: not a regular file, or a link that is not followed.
        OSError: the file cannot be read.
    """
    file = regular_files.content(str(path), follow=follow)
    return FileContent(*file) if file is not None else None


def write(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace the file by one rename; readers see the old content or the new, never a part.

    The file keeps its mode; a new one gets `mode`, as far as the umask permits.
    """
    temporary = _written_beside(path, content, mode)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


Keep = Callable[[Path, bytes], None]
"""Takes a file that was taken out of its place, and its content: renames the file, or leaves it."""


def replace_if(
    path: Path, expected: bytes, content: bytes, keep: Keep | None = None
) -> bytes | None:
    """Put `content` into the file, provided that it still holds `expected`.

    Args:
        path: the file's path.
        expected: the content that the file should have now.
        content: the new content.
        keep: receives the file that was taken out, since a process that has it open may write into it
            later; without `keep` it is deleted.

    Returns:
        None on success. Otherwise the content that was found: the file still has it, and nothing of it
        was lost.

    The two files are exchanged by one system call (renameat2 RENAME_EXCHANGE, renameatx_np
    RENAME_SWAP), and the old file is compared. If the file system cannot do that, the bytes are
    compared just before a plain rename, and the replaced file is kept under a second name.
    """
    temporary = _written_beside(path, content, 0o600)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        if not exchange(temporary, path):
            return _renamed(temporary, path, expected, keep)
        strange = regular_files.strange(str(temporary))
        if strange:  # somebody put it there a moment ago: it is put back, and not opened
            exchange(temporary, path)
            raise regular_files.StrangeFileError(str(path), strange)
        replaced = temporary.read_bytes()
        is_expected = replaced == expected
        # If somebody wrote in between: restore their file, unless they have written yet again.
        out = replaced if is_expected else _put_back(temporary, path, theirs=replaced, ours=content)
        if keep is not None:
            keep(temporary, out)
        return None if is_expected else replaced
    finally:
        temporary.unlink(missing_ok=True)
        # A signal between exchange and compare would have deleted the old file.
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _put_back(temporary: Path, path: Path, *, theirs: bytes, ours: bytes) -> bytes:
    """Exchange the agent's edit with our file again; returns the content of `temporary` afterwards."""
    exchange(temporary, path)
    if temporary.read_bytes() == ours:
        return ours
    # A second edit hit the file that held ours for a moment; it is the newest, so it is restored.
    exchange(temporary, path)
    return theirs


def _renamed(temporary: Path, path: Path, expected: bytes, keep: Keep | None) -> bytes | None:
    """`replace_if` if two files cannot be exchanged: compare, then rename."""
    current = read(path, follow=False)
    if current is None or current.content != expected:
        return current.content if current else b""
    replaced = temporary.with_name(f"{temporary.name.removesuffix(OURS)}.old{OURS}")
    if keep is not None:
        with contextlib.suppress(OSError):  # a file system without hard links
            replaced.hardlink_to(path)
    temporary.replace(path)
    if keep is not None and replaced.exists():
        keep(replaced, expected)
    return None


def left_beside(path: Path) -> list[Path]:
    """Temporary files of killed calls of `write` and `replace_if`; the caller holds the lock."""
    import glob

    return sorted(path.parent.glob(f"{glob.escape(path.name)}.*{OURS}"))


def _written_beside(path: Path, content: bytes, mode: int) -> Path:
    # Like `tempfile.mkstemp`, whose imports take longer than the rest of a hook's work.
    name = f"{path}.{os.urandom(8).hex()}{OURS}"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, mode)
    except OSError as error:
        # A folder that the user knows: nobody knows the temporary name.
        error.filename = str(path.parent)
        raise
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except BaseException:
        Path(name).unlink(missing_ok=True)  # on a full disk, half a file would take the last space
        raise
    with contextlib.suppress(FileNotFoundError):
        Path(name).chmod(path.stat().st_mode & 0o777)
    return Path(name)


@cache
def _exchanger() -> Any:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    name = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform, "")
    function = getattr(library, name, None) if name else None
    if function is not None:
        function.argtypes = (*(ctypes.c_int, ctypes.c_char_p) * 2, ctypes.c_uint)
    return function


def exchange(first: Path, second: Path) -> bool:
    """Exchange two files; False if that is impossible."""
    function = _exchanger()
    if function is None:
        return False
    folder = _AT_FDCWD[sys.platform]
    # Not 0: not on this file system, not with this kernel, not allowed, or no such file.
    return bool(function(folder, os.fsencode(first), folder, os.fsencode(second), _SWAP) == 0)


def as_json(content: object) -> bytes:
    """The JSON of one of our files: an object has a line for each key, so that a person finds it.

    Python's own `indent` takes twenty times as long, since it is not written in C.
    """
    if not isinstance(content, dict):
        return json.dumps(content).encode("ascii") + b"\n"
    lines = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii")


def set_aside(path: Path, label: str, *, beside: Path | None = None) -> Path:
    """Rename the file to a free name beside it or `beside`: `NAME.LABEL`, `NAME.LABEL-2` and so on."""
    near = beside or path
    for number in range(1, 1000):
        target = near.with_name(f"{near.name}.{label}" + (f"-{number}" if number > 1 else ""))
        if not os.path.lexists(target):
            return path.rename(target)
    raise FileExistsError(f"too many set-aside copies of {path.name}")


@contextlib.contextmanager
def locked(path: Path, seconds: float, sentence: str) -> Iterator[None]:
    """Hold the lock on a file that exists only for that.

    Raises:
        LockBusy: another process held it for all of `seconds`; the error says `sentence`.
        StrangeFileError: the path is not a regular file.
    """
    end, held = time.monotonic() + seconds, None
    while held is None:
        regular_files.refuse_strange(str(path))
        held = _held(path)
        if held is None:
            if time.monotonic() >= end:
                raise LockBusy(sentence)
            time.sleep(_LOCK_PAUSE)
    with held:  # releases the lock at its end
        yield


def _held(path: Path) -> BinaryIO | None:
    """The open file with the lock on it; None if another process has the lock, or removed the file."""
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644), "rb")
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file.fileno()).st_nlink:
            return file
    file.close()
    return None


class Folder:
    """`.lifecycle/` in a worktree root, or a folder in it: state.json, marks, locks. Git never sees it.

    Every method raises StrangeFileError, and touches nothing, if the folder is a link or another user's,
    or if the file's path holds something else than a regular file.
    """

    def __init__(self, root: Path, inner: str = "") -> None:
        self.root = root
        self._names = (FOLDER, inner) if inner else (FOLDER,)
        self.path = root.joinpath(*self._names)

    def at(self, name: str) -> str:
        """The path of a file in this folder, after a check that the folders on the way are ours."""
        return regular_files.below(str(self.root), *self._names, name)

    def make(self) -> None:
        """Create the folder, for the user only, with a `.gitignore` of its own, if it does not exist."""
        ignore = regular_files.below(str(self.root), FOLDER, ".gitignore")
        top = self.root / FOLDER
        top.mkdir(mode=0o700, exist_ok=True)
        if not os.path.lexists(ignore):
            write(Path(ignore), b"*\n")
        if self.path != top:
            self.at("")
            self.path.mkdir(mode=0o700, exist_ok=True)

    def read(self, name: str) -> FileContent:
        """A file's content; of a file that does not exist it is empty, and the mtime is -1."""
        return read(Path(self.at(name)), follow=False) or FileContent(b"", -1)

    def write(self, name: str, content: bytes) -> None:
        """Replace a file by one rename; the folder must exist."""
        path = self.at(name)
        regular_files.refuse_strange(path)
        write(Path(path), content)

    def renew(self, name: str, content: bytes) -> None:
        """Replace a file under the lock, and delete what killed processes left of doing the same."""
        for remains in left_beside(Path(self.at(name))):
            remains.unlink(missing_ok=True)
        self.write(name, content)

    def mark(self, name: str, mtime_ns: int | None = None) -> None:
        """Make a mark with this mtime (default: now), and the folder if it does not exist."""
        self.make()
        regular_files.mark(self.at(name), mtime_ns)

    def set_due(self, name: str, moment: float | None) -> None:
        """Set the moment from which a guard lets wakes through; None removes the mark: never."""
        if moment is None:
            self.remove(name)
        elif self.mtime_ns(name) != int(moment * 1e9):
            self.mark(name, int(moment * 1e9))

    def mtime_ns(self, name: str) -> int:
        """When a file was last written, or -1 if it does not exist."""
        return regular_files.mtime_ns(self.at(name))

    def has(self, name: str) -> bool:
        """True if there is a regular file of this name."""
        return self.mtime_ns(name) >= 0

    def remove(self, name: str) -> None:
        """Delete a file, if it exists; of a link, only the link."""
        Path(self.at(name)).unlink(missing_ok=True)

    def names(self) -> list[str]:
        """The names of the folder's files, the newest first."""
        self.at("")
        if not self.path.is_dir():
            return []
        names = (entry.name for entry in os.scandir(self.path))
        return sorted(names, key=self.mtime_ns, reverse=True)

    def clear(self) -> None:
        """Remove every file in the folder."""
        for name in self.names():
            self.remove(name)

    def locked(self, seconds: float, name: str = LOCK) -> AbstractContextManager[None]:
        """Hold a lock of this worktree: the lock on its files, unless another is named.

        Raises:
            LockBusy: another process held it for all of `seconds`.
        """
        self.make()
        busy = "Another lifecycle process is at work on this claim; try again in a moment."
        return locked(Path(self.at(name)), seconds, busy)
