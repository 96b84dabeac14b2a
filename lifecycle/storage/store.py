"""Files that two parties write.

Two rules hold here. What only the product writes (`.lifecycle/`) is replaced by an atomic rename
under a lock. What an agent writes too, without any lock (the claim file), is *exchanged* with the new
content, so that what was really there comes out and can be compared: a rename alone is not
compare-and-set, and an edit made between the read and the rename would be gone.

Whatever is opened here is opened by `regular_files.py`: a regular file, of a bounded size, never waited
for.
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
"""The folder of packets and logs in `.lifecycle/`; it goes with the claim."""

_ENDS = {signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
"""What a deadline, the client or a person ends a process with."""

_SETTLE_READS = 8
"""How often what came out of an exchange is read before it counts as what was there."""

_LOCK_PAUSE = 0.02
"""Seconds between two looks whether a lock is free."""

_LINE = 100_000
"""Bytes that are read of a file with one path in it."""

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
    try:
        folder = regular_files.git_folder(root)
        if not folder:
            return None
        git = Path(folder)
        shared = git / "commondir"
        if shared.is_file():
            line = regular_files.content(str(shared), follow=True, limit=_LINE)
            git /= os.fsdecode(line[0] if line is not None else b"").strip()
        return git.resolve() if (git / "HEAD").is_file() and (git / "objects").is_dir() else None
    except (OSError, ValueError):  # unreadable, or a path that cannot be one
        return None


def places_of(root: Path, branch: str) -> list[Path]:
    """The worktrees of this clone that have the branch checked out, found without starting git.

    Source: https://git-scm.com/docs/gitrepository-layout (`worktrees`, `gitdir`)
    """
    common, places = common_folder(root), []
    try:
        for git in (common, *(common / "worktrees").glob("*")) if common is not None else ():
            head = regular_files.content(str(git / "HEAD"), limit=_LINE)
            if head is None or os.fsdecode(head[0]).strip() != f"ref: refs/heads/{branch}":
                continue
            link = regular_files.content(str(git / "gitdir"), limit=_LINE)
            # What a linked worktree's folder names may be relative to itself (worktree.useRelativePaths).
            linked = git / os.fsdecode(link[0]).strip() if link is not None else git
            places.append(linked.resolve().parent)
    except (OSError, ValueError):
        return []  # one that cannot be read, or a path that cannot be one
    return places


def clone_of(root: Path) -> Path:
    """A path that all worktrees of a clone share: its git folder; outside of git the folder itself."""
    return common_folder(root) or root.resolve()


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as one read found it; `mtime_ns` is from the open descriptor, before the read."""

    content: bytes
    mtime_ns: int


def read(path: Path, *, follow: bool = True) -> FileContent | None:
    """The file's content, or None if there is none (a folder in its place counts as none).

    Args:
        path: of the file.
        follow: a link is fine, since it is a person's own file; one of ours is never a link.

    Raises:
        StrangeFileError: it is no regular file, a link that is not followed, or much too large.
        OSError: it cannot be read.
    """
    file = regular_files.content(str(path), follow=follow)
    if file is not None and len(file[0]) > regular_files.LIMIT:
        raise regular_files.StrangeFileError(
            str(path), f"is larger than {regular_files.LIMIT // 1_000_000} MB"
        )
    return FileContent(*file) if file is not None else None


def write(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace the file by one rename; readers see the old content or the new, never a part.

    It keeps its mode; a new one gets `mode`, as far as the umask leaves it.
    """
    temporary = _written_beside(path, content, mode)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


Keep = Callable[[Path, bytes], None]
"""Takes over a file that was taken out of its place, with its content: renames it, or leaves it."""


def replace_if(
    path: Path, expected: bytes, content: bytes, keep: Keep | None = None
) -> bytes | None:
    """Put `content` into the file, provided that it still holds `expected`.

    Args:
        path: of the file.
        expected: what it holds as far as is known.
        content: what it should hold.
        keep: is given the file that was taken out, since somebody who has opened it may write into it
            later; it is deleted unless given.

    Returns:
        None if it did. Otherwise what was found: the file is left holding that, and nothing of it
        was lost.

    The two files change places in one system call (renameat2 RENAME_EXCHANGE, renameatx_np
    RENAME_SWAP), and what came out is compared. Where the file system cannot do that, the bytes are
    compared right before a plain rename, and the file that is replaced is kept by a second name.
    """
    temporary = _written_beside(path, content, 0o600)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        if not exchange(temporary, path):
            return _renamed(temporary, path, expected, keep)
        strange = regular_files.strange(str(temporary))
        if strange:  # somebody put it there a moment ago: it goes back, and is not opened
            exchange(temporary, path)
            raise regular_files.StrangeFileError(str(path), strange)
        replaced = _settled(temporary, expected)
        is_expected = replaced == expected
        # If somebody wrote in between: put theirs back, unless they have written yet again.
        out = replaced if is_expected else _put_back(temporary, path, theirs=replaced, ours=content)
        if keep is not None:
            keep(temporary, out)
        return None if is_expected else replaced
    finally:
        temporary.unlink(missing_ok=True)
        # An end between exchange and compare would have deleted what came out.
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _settled(theirs: Path, expected: bytes) -> bytes:
    """The content that came out, once somebody who had opened it before could empty or write it.

    An open that truncates looks the name up first: the exchange may fall in between.
    """
    for _ in range(_SETTLE_READS):
        content = theirs.read_bytes()
        if content != expected:
            break
        os.sched_yield()
    return content


def _put_back(temporary: Path, path: Path, *, theirs: bytes, ours: bytes) -> bytes:
    """Exchange the edit that came out with ours again; returns what `temporary` holds then."""
    exchange(temporary, path)
    late = temporary.read_bytes()
    if late == ours:
        return ours
    # A second edit hit the file that held ours for a moment; it is the newest: it goes back.
    exchange(temporary, path)
    return theirs


def _renamed(temporary: Path, path: Path, expected: bytes, keep: Keep | None) -> bytes | None:
    """`replace_if` where two files cannot change places: compare, then rename."""
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
    """Temporary files that killed processes left of `write` and `replace_if`; the caller holds the lock."""
    import glob

    return sorted(path.parent.glob(f"{glob.escape(path.name)}.*{OURS}"))


def _written_beside(path: Path, content: bytes, mode: int) -> Path:
    # As `tempfile.mkstemp`, which with all that it imports takes longer than a hook's other work.
    name = f"{path}.{os.urandom(8).hex()}{OURS}"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, mode)
    except OSError as error:
        error.filename = str(path.parent)  # what can be mended: nobody has the other name
        raise
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except BaseException:
        Path(name).unlink(missing_ok=True)  # on a full disk a part of it would take the last room
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
    """Let two files change places; False where that cannot be done."""
    function = _exchanger()
    if function is None:
        return False
    folder = _AT_FDCWD[sys.platform]
    # Anything but 0: not on this file system, not with this kernel, not allowed, or no such file.
    return bool(function(folder, os.fsencode(first), folder, os.fsencode(second), _SWAP) == 0)


def as_json(content: object) -> bytes:
    """The JSON of a file of ours: an object has a line for each of its keys, by which a person finds it.

    `indent` of Python's own takes twenty times as long: what writes it is not written in C.
    """
    if not isinstance(content, dict):
        return json.dumps(content).encode("ascii") + b"\n"
    lines = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii")


def set_aside(path: Path, label: str, *, beside: Path | None = None) -> Path:
    """Rename the file to a free name beside it, or another: `NAME.LABEL` or `NAME.LABEL-2` and so on."""
    near = beside or path
    for number in range(1, 1000):
        target = near.with_name(f"{near.name}.{label}" + (f"-{number}" if number > 1 else ""))
        if not os.path.lexists(target):
            return path.rename(target)
    raise FileExistsError(f"too many set-aside copies of {path.name}")


@contextlib.contextmanager
def locked(path: Path, seconds: float, sentence: str) -> Iterator[None]:
    """Hold the lock on a file that is there for nothing else.

    Raises:
        LockBusy: another process held it for all of `seconds`; it says `sentence`.
        StrangeFileError: something else lies there.
    """
    end, held = time.monotonic() + seconds, None
    while held is None:
        regular_files.refuse_strange(str(path))
        held = _held(path)
        if held is None:
            if time.monotonic() >= end:
                raise LockBusy(sentence)
            time.sleep(_LOCK_PAUSE)
    with held:  # which lets go of the lock at its end
        yield


def _held(path: Path) -> BinaryIO | None:
    """The open file with the lock on it; None where another process has that, or took the file away."""
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644), "rb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file.fileno()).st_nlink:
            return file
    except BlockingIOError:
        pass
    file.close()
    return None


class Folder:
    """`.lifecycle/` in a worktree root, or a folder in it: state.json, marks, locks. Git never sees it.

    Every method raises StrangeFileError, and touches nothing, where the folder is a link or another
    user's, or where something that is no regular file lies in the place of the file.
    """

    def __init__(self, root: Path, inner: str = "") -> None:
        self.root = root
        self._names = (FOLDER, inner) if inner else (FOLDER,)
        self.path = root.joinpath(*self._names)

    def at(self, name: str) -> str:
        """The path of a file in here, once the folders on the way were seen to be ours."""
        return regular_files.below(str(self.root), *self._names, name)

    def make(self) -> None:
        """Create the folder, the user's alone, with a `.gitignore` of its own, if it is not there."""
        ignore = regular_files.below(str(self.root), FOLDER, ".gitignore")
        top = self.root / FOLDER
        top.mkdir(mode=0o700, exist_ok=True)
        if not os.path.lexists(ignore):
            write(Path(ignore), b"*\n")
        if self.path != top:
            self.at("")
            self.path.mkdir(mode=0o700, exist_ok=True)

    def read(self, name: str) -> FileContent | None:
        """A file's content, or None if it is not there."""
        return read(Path(self.at(name)), follow=False)

    def write(self, name: str, content: bytes) -> None:
        """Replace a file by one rename; the folder is there."""
        path = self.at(name)
        regular_files.refuse_strange(path)
        write(Path(path), content)

    def renew(self, name: str, content: bytes) -> None:
        """Replace a file under the lock, and delete what killed processes left of doing the same."""
        for remains in left_beside(Path(self.at(name))):
            remains.unlink(missing_ok=True)
        self.write(name, content)

    def mark(self, name: str, mtime_ns: int | None = None) -> None:
        """Make a mark with this mtime (the present unless given), and the folder if it is not there."""
        self.make()
        regular_files.mark(self.at(name), mtime_ns)

    def mtime_ns(self, name: str) -> int:
        """When a file was last written, or -1 if it is not there."""
        return regular_files.mtime_ns(self.at(name))

    def remove(self, name: str) -> None:
        """Delete a file, if it is there; of a link only the link goes."""
        Path(self.at(name)).unlink(missing_ok=True)

    def names(self) -> list[str]:
        """The names of what lies here, the newest first."""
        self.at("")
        if not self.path.is_dir():
            return []
        return sorted(
            (entry.name for entry in os.scandir(self.path)), key=self.mtime_ns, reverse=True
        )

    def clear(self) -> None:
        """Remove every file in the folder."""
        for name in self.names():
            self.remove(name)

    @contextlib.contextmanager
    def locked(self, seconds: float, name: str = LOCK) -> Iterator[None]:
        """Hold a lock of this worktree: the one on its files, unless another is named.

        Raises:
            LockBusy: another process held it for all of `seconds`.
        """
        self.make()
        with locked(
            Path(self.at(name)),
            seconds,
            "Another lifecycle process is at work on this claim; try again in a moment.",
        ):
            yield
