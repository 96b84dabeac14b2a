"""How files of ours are opened, and where those of a worktree lie.

A regular file, no link, not too large, never waited for. What lies where a file of ours belongs may be
anybody's: a repository can bring links to devices, a program can leave a named pipe, and another user of
the machine can write into a folder that is open to all. So what is there is looked at before it is opened,
and once more on the open descriptor.

A worktree's settings, a person's own file, lie in `.lifecycle.toml` at its top, else in that of the main
worktree: git carries a file that is one person's own to no linked one. The guards in `hooks/common` keep
the same rule.

Imported at every stop that the staged workflow sees, so it imports next to nothing.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH100, PTH105, PTH108, PTH112, PTH113, PTH116, PTH118, PTH120

from __future__ import annotations

import errno
import os
import stat

LIMIT = 64_000_000
"""Bytes of the largest file that is read; ours have a few thousand."""

CONFIG_FILE = ".lifecycle.toml"

_LONG = 4096
"""Characters that are read of a `.git` that is a file."""

_NEVER_WAIT = os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_NO_LINK = {errno.ELOOP, errno.EMLINK}
_NO_FILE = {errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP}
"""What the system says of a link (EMLINK: FreeBSD), of a pipe without a reader, and of a socket."""


def worktree() -> str | None:
    """The worktree that the client's project folder lies in, as the guards find it."""
    folder = os.path.abspath(os.environ.get("CLAUDE_PROJECT_DIR") or ".")
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def settings_path(root: str) -> str:
    """The file whose settings count in the worktree `root`: its own, else its main worktree's.

    Its own path if neither is there: that is where it would be.
    """
    own = os.path.join(root, CONFIG_FILE)
    if os.path.lexists(own):
        return own
    main = main_worktree(root)
    above = os.path.join(main, CONFIG_FILE)
    return above if main and os.path.isfile(above) else own


def git_folder(root: str | os.PathLike[str]) -> str:
    """The worktree's own git folder: `.git`, or what it says as a file; "" outside of git.

    Source: https://git-scm.com/docs/gitrepository-layout (`gitdir`)

    Raises:
        OSError: it cannot be read.
    """
    git = os.path.join(root, ".git")
    if os.path.isdir(git):
        return git
    read = content(git, follow=True, limit=_LONG)
    word, _, path = os.fsdecode(read[0] if read is not None else b"").strip().partition(":")
    return os.path.join(root, path.strip()) if word == "gitdir" and path.strip() else ""


def main_worktree(root: str) -> str:
    """The top folder of the main worktree, if `root` is linked to one; else ""."""
    try:
        folder = git_folder(root)
    except (OSError, ValueError):
        return ""
    main, _, name = folder.rpartition("/.git/worktrees/")
    return main if name and "/" not in name else ""


class StrangeFileError(OSError):
    """Something else lies where a file or a folder of ours belongs; it was left as it is.

    `filename` is its path, `strerror` says what it is ("is a link").
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(errno.EINVAL, problem, path)

    @property
    def sentence(self) -> str:
        """What happened, what was kept and what to do, for a person."""
        return (
            f"{self.filename} {self.strerror}, so lifecycle did not make it: it was left as it is, and "
            "nothing was read from it or written to it. Move it away, and run this again."
        )


def _about(path: str, *, follow: bool = False) -> os.stat_result | None:
    try:
        return os.stat(path) if follow else os.lstat(path)
    except (OSError, ValueError):
        return None


def strange(path: str, *, follow: bool = False) -> str:
    """What is wrong with a file of ours that lies there ("is a link"); "" if nothing is, or none is there.

    Args:
        path: of the file.
        follow: a link is fine, and what it leads to is looked at: a person's own file.
    """
    about = _about(path, follow=follow)
    return "" if about is None or stat.S_ISREG(about.st_mode) else _kind(about.st_mode)


def refuse_strange(path: str) -> None:
    """Raise StrangeFileError where something else than a regular file lies, a folder too."""
    problem = strange(path)
    if problem:
        raise StrangeFileError(path, problem)


def strange_owner(path: str) -> str:
    """What is wrong with the owner of a file ("belongs to another user"); "" if it is ours or not there."""
    about = _about(path)
    if about is None or about.st_uid == os.geteuid():
        return ""
    return f"belongs to another user ({about.st_uid})"


def strange_folder(path: str, *, is_shared: bool = False) -> str:
    """What is wrong with a folder of ours ("is a link"); "" if nothing is, or none is there.

    Another user's folder is none of ours: its owner could put a link into it at any moment.

    Args:
        path: of the folder.
        is_shared: another user's is fine: it lies in git's folder, and git asks whose that is.
    """
    about = _about(path)
    if about is not None and not stat.S_ISDIR(about.st_mode):
        return "is a link" if stat.S_ISLNK(about.st_mode) else "is no folder"
    return "" if is_shared else strange_owner(path)


def below(root: str, *names: str) -> str:
    """The path of what lies below `root` in folders of ours, all of them fit to be used or not there yet.

    Raises:
        StrangeFileError: a folder on the way is a link, no folder, or another user's.
    """
    path = root
    for name in names[:-1]:
        path = os.path.join(path, name)
        problem = strange_folder(path)
        if problem:
            raise StrangeFileError(path, problem)
    return os.path.join(path, names[-1])


def opened(path: str, flags: int = os.O_RDONLY, *, follow: bool = False, mode: int = 0o644) -> int:
    """A descriptor of the regular file; the caller closes it.

    What is written goes into a file with one name only: a file that has another one somewhere (a hard
    link, as copies of whole trees are made of) keeps its content under that, and a new one is begun.

    Args:
        path: of the file, in folders that were looked at.
        flags: as for `os.open`; O_TRUNC only empties a file that was seen to be regular.
        follow: a link is fine: a person's own file.
        mode: of a file that is made.

    Raises:
        StrangeFileError: it is a link, or no regular file.
        OSError: as for `os.open`; a folder is an IsADirectoryError.
    """
    problem = strange(path, follow=follow)
    if problem == _FOLDER:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if problem:
        raise StrangeFileError(path, problem)
    kept = flags & ~os.O_TRUNC | _NEVER_WAIT | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, kept, mode)
    except OSError as error:  # it was another one a moment ago
        if error.errno in _NO_LINK | _NO_FILE:
            raise StrangeFileError(path, strange(path, follow=follow) or "is no file") from None
        raise
    about = os.fstat(descriptor)
    is_ours = stat.S_ISREG(about.st_mode)
    # Without a name: another process of ours has replaced it since, or taken it away.
    if is_ours and (flags & os.O_ACCMODE == os.O_RDONLY or about.st_nlink <= 1):
        if flags & os.O_TRUNC:
            os.ftruncate(descriptor, 0)
        return descriptor
    os.close(descriptor)
    if not is_ours:
        raise StrangeFileError(path, _kind(about.st_mode))
    os.unlink(path)
    return os.open(path, kept | os.O_CREAT | os.O_EXCL, mode)


def content(
    path: str, *, follow: bool = False, limit: int = LIMIT, is_own: bool = False
) -> tuple[bytes, int] | None:
    """The file's bytes and its mtime in nanoseconds before they were read; None if there is no file.

    Of a larger file the first `limit` bytes and one more come: so it can be told, and is not read whole.
    With `is_own` another user's file is refused.

    Raises:
        StrangeFileError: it is a link, or no regular file; a folder counts as none.
        OSError: it cannot be read.
    """
    try:
        descriptor = opened(path, follow=follow)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
    with os.fdopen(descriptor, "rb", 0) as file:
        about = os.fstat(descriptor)
        if is_own and about.st_uid != os.geteuid():
            raise StrangeFileError(path, f"belongs to another user ({about.st_uid})")
        parts: list[bytes] = []
        missing = limit + 1
        while missing > 0 and (part := file.read(min(missing, 1_000_000))):
            parts.append(part)
            missing -= len(part)
        return b"".join(parts), about.st_mtime_ns


def whole(path: str, limit: int) -> bytes | None:
    """The file's bytes; None if there are more than `limit`, it cannot be read, or it is not there."""
    try:
        read = content(path, limit=limit)
    except OSError:
        return None
    return read[0] if read is not None and len(read[0]) <= limit else None


def fill(path: str, text: bytes) -> None:
    """Write a small file in place; raises StrangeFileError, OSError."""
    with os.fdopen(opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb", 0) as file:
        file.write(text)


def append(path: str, text: bytes, *, most: int) -> None:
    """Append to a log in one write, so that the lines of two processes do not mix; as `fill`.

    One that has `most` bytes is put aside first, as `path.1`, and the one before that as `path.2`.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    with os.fdopen(opened(path, flags), "ab", 0) as file:
        if os.fstat(file.fileno()).st_size + len(text) <= most:
            file.write(text)
            return
    if os.path.lexists(f"{path}.1"):
        os.replace(f"{path}.1", f"{path}.2")
    os.replace(path, f"{path}.1")
    with os.fdopen(opened(path, flags), "ab", 0) as file:
        file.write(text)


def mark(path: str, mtime_ns: int | None = None) -> None:
    """Give a file this mtime, the present unless one is given; it is made if it is not there; as `fill`."""
    with os.fdopen(opened(path, os.O_WRONLY | os.O_CREAT), "wb", 0) as file:
        if mtime_ns is None:
            os.utime(file.fileno())
        else:
            os.utime(file.fileno(), ns=(mtime_ns, mtime_ns))


def mtime_ns(path: str, *, follow: bool = False) -> int:
    """When the regular file was last written, or -1 if there is none; a link counts as none.

    With `follow` it is a person's own: a link is followed, and whatever is there has its date.
    """
    about = _about(path, follow=follow)
    if about is None or not (follow or stat.S_ISREG(about.st_mode)):
        return -1
    return about.st_mtime_ns


_FOLDER = "is a folder"


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "is a link"
    if stat.S_ISDIR(mode):
        return _FOLDER
    return "is a named pipe" if stat.S_ISFIFO(mode) else "is no regular file"


def end_of(path: str, limit: int) -> tuple[str, bool]:
    """The last `limit` bytes of a file's text, and whether something is missing before them.

    What is no regular file, is a link, or cannot be read, is empty, and all of it is missing.
    """
    try:
        with os.fdopen(opened(path), "rb", 0) as file:
            size = os.fstat(file.fileno()).st_size
            begin = file.seek(max(0, size - limit))
            content = file.read(limit)
    except (OSError, ValueError):
        return "", True
    return content.decode("utf-8", "replace"), begin > 0 or len(content) < size
