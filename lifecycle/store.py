"""Files that two parties write.

Two rules hold here. What only the product writes (`.lifecycle/`) is replaced by an atomic rename
under a lock. What an agent writes too, without any lock (the claim file), is *exchanged* with the new
content, so that what was really there comes out and can be compared: a rename alone is not
compare-and-set, and an edit made between the read and the rename would be gone.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lifecycle.errors import LockBusy

FOLDER = ".lifecycle"
LOCK = "lock"
STATE = "state.json"
STATE_VERSION = 1

_ENDS = {signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
"""What a deadline, the client or a person ends a process with."""

_SETTLE_READS = 8
"""How often what came out of an exchange is read before it counts as what was there."""

OURS = ".lifecycle.tmp"
"""How our temporary files end: an editor's must not be taken for one."""

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
    git = root / ".git"
    try:
        if not git.is_dir():
            word, _, path = git.read_text("utf-8", "surrogateescape").partition(":")
            if word != "gitdir" or not path.strip():
                return None
            git = root / path.strip()
        shared = git / "commondir"
        if shared.is_file():
            git /= shared.read_text("utf-8", "surrogateescape").strip()
        return git.resolve() if (git / "HEAD").is_file() and (git / "objects").is_dir() else None
    except (OSError, ValueError):  # unreadable, or a path that cannot be one
        return None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file as one read found it; `mtime_ns` is from the open descriptor, before the read."""

    content: bytes
    mtime_ns: int


def read(path: Path) -> Snapshot | None:
    """The file's content, or None if there is none (a folder in its place counts as none)."""
    try:
        with path.open("rb") as file:
            mtime_ns = os.fstat(file.fileno()).st_mtime_ns
            return Snapshot(file.read(), mtime_ns)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def write(path: Path, content: bytes) -> None:
    """Replace the file by one rename; readers see the old content or the new, never a part."""
    temporary = _written_beside(path, content)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace_if(path: Path, expected: bytes, content: bytes) -> bytes | None:
    """Put `content` into the file, provided that it still holds `expected`.

    Returns:
        None if it did. Otherwise what was found: the file is left holding that, and nothing of it
        was lost.

    The two files change places in one system call (renameat2 RENAME_EXCHANGE, renameatx_np
    RENAME_SWAP), and what came out is compared. Where the file system cannot do that, the bytes are
    compared right before a plain rename.
    """
    temporary = _written_beside(path, content)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        if not exchange(temporary, path):
            current = read(path)
            if current is None or current.content != expected:
                return current.content if current else b""
            temporary.replace(path)
            return None
        found = _settled(temporary, expected)
        if found == expected:
            return None
        # Somebody wrote in between: put theirs back, unless they have written yet again.
        _put_back(temporary, path, ours=content)
        return found
    finally:
        temporary.unlink(missing_ok=True)
        # An end between exchange and compare would have deleted what came out.
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _settled(theirs: Path, expected: bytes) -> bytes:
    """What came out, once somebody who had opened it before the exchange could empty or write it.

    An open that truncates looks the name up first: the exchange may fall in between.
    """
    for _ in range(_SETTLE_READS):
        found = theirs.read_bytes()
        if found != expected:
            break
        os.sched_yield()
    return found


def _put_back(theirs: Path, path: Path, *, ours: bytes) -> None:
    exchange(theirs, path)
    late = theirs.read_bytes()
    if late != ours:
        # A second edit hit the file that held ours for a moment; it is the newest: it goes back.
        theirs.replace(path)


def left_beside(path: Path) -> list[Path]:
    """What processes that were killed left of `write` and `replace_if`; the caller holds the lock."""
    return sorted(path.parent.glob(f"{glob.escape(path.name)}.*{OURS}"))


def _written_beside(path: Path, content: bytes) -> Path:
    import tempfile

    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=OURS, dir=path.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
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
        function.argtypes = (
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_uint,
        )
    return function


def exchange(one: Path, other: Path) -> bool:
    """Let two files change places; False where that cannot be done."""
    function = _exchanger()
    if function is None:
        return False
    here = _AT_FDCWD[sys.platform]
    # Anything but 0: not on this file system, not with this kernel, not allowed, or no such file.
    return bool(function(here, os.fsencode(one), here, os.fsencode(other), _SWAP) == 0)


def set_aside(path: Path, label: str) -> Path:
    """Rename the file to a free name beside it, `NAME.LABEL` or `NAME.LABEL-2` and so on."""
    for number in range(1, 1000):
        target = path.with_name(f"{path.name}.{label}" + (f"-{number}" if number > 1 else ""))
        if not target.exists():
            return path.rename(target)
    raise FileExistsError(f"too many set-aside copies of {path.name}")


_SHAPE = {"said": dict, "queue": list, "cache": dict, "archive": dict}
"""What state.json holds, if it holds it; the record has readers of its own."""


def _is_state(state: Any) -> bool:
    if not isinstance(state, dict) or state.get("version") != STATE_VERSION:
        return False
    return all(isinstance(state.get(key, kind()), kind) for key, kind in _SHAPE.items())


@contextlib.contextmanager
def locked(path: Path, seconds: float, sentence: str) -> Iterator[None]:
    """Hold the lock on a file that is there for nothing else.

    Raises:
        LockBusy: another process held it for all of `seconds`; it says `sentence`.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=max(seconds, 0), poll_interval=0.02)
    try:
        lock.acquire()
    except Timeout:
        raise LockBusy(sentence) from None
    try:
        yield
    finally:
        lock.release()


class Folder:
    """`.lifecycle/` in a worktree root: state.json, stamps, lock, log. Git never sees it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / FOLDER

    def make(self) -> None:
        """Create the folder with a `.gitignore` of its own, if it is not there."""
        self.path.mkdir(exist_ok=True)
        ignore = self.path / ".gitignore"
        if not ignore.exists():
            write(ignore, b"*\n")

    @contextlib.contextmanager
    def locked(self, seconds: float, name: str = LOCK) -> Iterator[None]:
        """Hold a lock of this worktree: the one on its files, unless another is named.

        Raises:
            LockBusy: another process held it for all of `seconds`.
        """
        self.make()
        with locked(
            self.path / name,
            seconds,
            "Another lifecycle process is at work on this claim; try again in a moment.",
        ):
            yield

    def load_state(self, *, repair: bool = True) -> dict[str, Any]:
        """state.json, or an empty dict; an unreadable one begins anew, set aside if `repair`.

        Everything in it can be learned again from the claim file and from GitHub.
        """
        path = self.path / STATE
        snapshot = read(path)
        if snapshot is None:
            return {}
        try:
            state = json.loads(snapshot.content)
        except (ValueError, RecursionError):
            state = None
        if _is_state(state):
            return dict(state)
        if repair:
            set_aside(path, "unreadable")
        return {}

    def save_state(self, state: dict[str, Any]) -> None:
        """Replace state.json."""
        self.make()
        text = json.dumps({"version": STATE_VERSION, **state}, indent=1)
        write(self.path / STATE, text.encode("ascii") + b"\n")
