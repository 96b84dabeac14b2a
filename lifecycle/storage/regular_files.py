"""How our files are opened, and where those of a worktree are.

Only regular files are opened: no links, nothing too large, nothing that blocks. The path of one of our
files may hold anything: a repository can contain links to devices, a program can leave a named pipe, and
another user of the machine can write into an open folder. So the path is checked before it is opened,
and the open descriptor once more.

A worktree's settings, a person's own file, are in `.lifecycle.toml` at its top, else in that of the main
worktree: git copies a person's own file to no linked worktree. The guards in `hooks/common` follow the
same rule.

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
"""Bytes that are read of a file with one path."""

_GIT_SECONDS = 5.0

REFTABLE = "reftable/tables.list"
"""The file in a git folder that changes with its refs, where they are kept in a reftable."""

_NEVER_WAIT = os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_NO_LINK = {errno.ELOOP, errno.EMLINK}
_NO_FILE = {errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP}
"""The system's errors for a link (EMLINK: FreeBSD), for a pipe without a reader, and for a socket."""


def worktree() -> str | None:
    """The worktree that contains the client's project folder, found as the guards find it.

    None outside of git, and in a current folder that no longer exists.
    """
    try:
        folder = os.path.abspath(os.environ.get("CLAUDE_PROJECT_DIR") or ".")
    except FileNotFoundError:
        return None
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def settings_path(root: str) -> str:
    """The file with the settings for the worktree `root`: its own, else its main worktree's.

    If neither exists: the path of its own file.
    """
    own = os.path.join(root, CONFIG_FILE)
    if os.path.lexists(own):
        return own
    main = main_worktree(root)
    above = os.path.join(main, CONFIG_FILE)
    return above if main and os.path.isfile(above) else own


def git_folder(root: str | os.PathLike[str]) -> str:
    """The worktree's own git folder: `.git`, or the path in the file `.git`; "" outside of git.

    Source: https://git-scm.com/docs/gitrepository-layout (`gitdir`)

    Raises:
        OSError: the file cannot be read.
    """
    git = os.path.join(root, ".git")
    if os.path.isdir(git):
        return git
    word, _, path = line_of(git, follow=True).partition(":")
    return os.path.join(root, path.strip()) if word == "gitdir" and path.strip() else ""


def head_of(git: str) -> str:
    """What HEAD in a worktree's own git folder says: `ref: refs/heads/main`, or a commit; "" without it.

    Where refs are kept in a reftable, the file HEAD names a branch that nobody can have, and git is asked.
    Source: https://git-scm.com/docs/reftable

    Raises:
        OSError: the file cannot be read, or git does not answer.
    """
    line = line_of(os.path.join(git, "HEAD"))
    if line != "ref: refs/heads/.invalid":
        return line
    import subprocess  # for these repositories alone

    words = ("git", f"--git-dir={git}", "symbolic-ref", "--quiet", "HEAD")
    try:
        asked = subprocess.run(words, capture_output=True, timeout=_GIT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise OSError(str(error)) from None
    return f"ref: {os.fsdecode(asked.stdout).strip()}" if asked.returncode == 0 else ""


def main_worktree(root: str) -> str:
    """The top folder of the main worktree, if `root` is a linked worktree; else ""."""
    try:
        folder = git_folder(root)
    except (OSError, ValueError):
        return ""
    main, _, name = folder.rpartition("/.git/worktrees/")
    return main if name and "/" not in name else ""


class StrangeFileError(OSError):
    """The path of one of our files or folders holds something else, which was left as it was.

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


def version_of(path: str) -> list[int]:
    """Date, size and number of a file or folder, which change with it; -1 for each if it does not exist."""
    about = _about(path)
    return [about.st_mtime_ns, about.st_size, about.st_ino] if about is not None else [-1, -1, -1]


def strange(path: str, *, follow: bool = False) -> str:
    """What is wrong with one of our files at this path ("is a link"); "" if nothing is, or no file exists.

    Args:
        path: the file's path.
        follow: a link is allowed and its target is checked: for a person's own file.
    """
    about = _about(path, follow=follow)
    return "" if about is None or stat.S_ISREG(about.st_mode) else _kind(about.st_mode)


def refuse_strange(path: str) -> None:
    """Raise StrangeFileError if the path holds anything but a regular file; a folder counts, too."""
    if problem := strange(path):
        raise StrangeFileError(path, problem)


def strange_owner(path: str) -> str:
    """What is wrong with a file's owner ("belongs to another user"); "" if it is ours or does not exist."""
    about = _about(path)
    if about is None or about.st_uid == os.geteuid():
        return ""
    return f"belongs to another user ({about.st_uid})"


def strange_folder(path: str, *, is_shared: bool = False) -> str:
    """What is wrong with one of our folders ("is a link"); "" if nothing is, or it does not exist.

    Another user's folder is not ours: its owner could put a link into it at any moment.

    Args:
        path: the folder's path.
        is_shared: another user's folder is allowed: it is in git's folder, whose owner git checks.
    """
    about = _about(path)
    if about is not None and not stat.S_ISDIR(about.st_mode):
        return "is a link" if stat.S_ISLNK(about.st_mode) else "is no folder"
    return "" if is_shared else strange_owner(path)


def below(root: str, *names: str) -> str:
    """The path below `root`, through folders of ours that are each usable or do not exist yet.

    Raises:
        StrangeFileError: a folder on the way is a link, not a folder, or another user's.
    """
    path = root
    for name in names[:-1]:
        path = os.path.join(path, name)
        if problem := strange_folder(path):
            raise StrangeFileError(path, problem)
    return os.path.join(path, names[-1])


def opened(path: str, flags: int = os.O_RDONLY, *, follow: bool = False) -> int:
    """A descriptor of the regular file; the caller closes it.

    Text is written only into a file with a single name: a file that has another name somewhere (a hard
    link, as in copies of whole trees) keeps its content under that name, and a new file is begun.

    Args:
        path: the file's path, in folders that were checked.
        flags: as for `os.open`; O_TRUNC empties a file only after it was seen to be regular.
        follow: a link is allowed: for a person's own file.

    Raises:
        StrangeFileError: the path is a link, or not a regular file.
        OSError: as for `os.open`; for a folder, IsADirectoryError.
    """
    problem = strange(path, follow=follow)
    if problem == _FOLDER:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if problem:
        raise StrangeFileError(path, problem)
    kept = flags & ~os.O_TRUNC | _NEVER_WAIT | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, kept, 0o644)
    except OSError as error:  # another file was at the path a moment ago
        if error.errno in _NO_LINK | _NO_FILE:
            raise StrangeFileError(path, strange(path, follow=follow) or "is no file") from None
        raise
    about = os.fstat(descriptor)
    is_ours = stat.S_ISREG(about.st_mode)
    # Without a name: another process of ours has replaced or removed it since.
    if is_ours and (flags & os.O_ACCMODE == os.O_RDONLY or about.st_nlink <= 1):
        if flags & os.O_TRUNC:
            os.ftruncate(descriptor, 0)
        return descriptor
    os.close(descriptor)
    if not is_ours:
        raise StrangeFileError(path, _kind(about.st_mode))
    os.unlink(path)
    return os.open(path, kept | os.O_CREAT | os.O_EXCL, 0o644)


def content(
    path: str, *, follow: bool = False, limit: int = LIMIT, is_own: bool = False
) -> tuple[bytes, int] | None:
    """The file's bytes and its mtime in nanoseconds before the read; None if there is no file.

    Of a larger file, the first `limit` bytes and one more are returned: so callers notice it.
    With `is_own`, another user's file is refused.

    Raises:
        StrangeFileError: the path is a link, or not a regular file; a folder counts as no file.
        OSError: the file cannot be read.
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


def line_of(path: str, *, follow: bool = False) -> str:
    """What a file of one line says; "" if it is empty or does not exist; raises as `content`."""
    read = content(path, follow=follow, limit=_LONG)
    return os.fsdecode(read[0] if read is not None else b"").strip()


def whole(path: str, limit: int) -> bytes | None:
    """The file's bytes; None if there are more than `limit`, or it cannot be read, or does not exist."""
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
    """Append to a log in one write, so that lines of two processes do not mix; raises as `fill`.

    A log of `most` bytes is renamed first, to `path.1`, and the one before that to `path.2`.
    """
    with os.fdopen(opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab", 0) as file:
        size = os.fstat(file.fileno()).st_size
        if not size or size + len(text) <= most:
            file.write(text)
            return
    if os.path.lexists(f"{path}.1"):
        os.replace(f"{path}.1", f"{path}.2")
    os.replace(path, f"{path}.1")
    append(path, text, most=most)


def mark(path: str, mtime_ns: int | None = None) -> None:
    """Give a file this mtime (default: now); it is made if it does not exist; raises as `fill`."""
    with os.fdopen(opened(path, os.O_WRONLY | os.O_CREAT), "wb", 0) as file:
        if mtime_ns is None:
            os.utime(file.fileno())
        else:
            os.utime(file.fileno(), ns=(mtime_ns, mtime_ns))


def mtime_ns(path: str, *, follow: bool = False) -> int:
    """When the regular file was last written, or -1 if there is none; a link counts as none.

    With `follow` it is a person's own file: a link is followed, and its target's time is returned.
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


def end_of(path: str, limit: int, *, follow: bool = False) -> tuple[str, bool]:
    """The last `limit` bytes of a file's text, and whether text before them is missing.

    For a link that is not to be followed, something else than a regular file, or an unreadable one: "" and
    True.
    """
    try:
        with os.fdopen(opened(path, follow=follow), "rb", 0) as file:
            size = os.fstat(file.fileno()).st_size
            begin = file.seek(max(0, size - limit))
            content = file.read(limit)
    except (OSError, ValueError):
        return "", True
    return content.decode("utf-8", "replace"), begin > 0 or len(content) < size
