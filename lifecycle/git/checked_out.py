"""What is checked out in a worktree, read from git's files without starting git.

A hook's quick path imports it, so it imports no `pathlib`.
"""

# pathlib alone would cost as much as the rest of the quick path.
# ruff: noqa: PTH112, PTH118

from __future__ import annotations

import os

from lifecycle.storage import regular_files

_LINE = 4096
"""Characters that are read of a file with one line in it."""


def git_folder(root: str | os.PathLike[str]) -> str:
    """The worktree's own git folder: `.git`, or what it says as a file; "" outside of git.

    Source: https://git-scm.com/docs/gitrepository-layout (`gitdir`)

    Raises:
        OSError: it cannot be read.
    """
    git = os.path.join(root, ".git")
    if os.path.isdir(git):
        return git
    word, _, path = _line(git).partition(":")
    return os.path.join(root, path.strip()) if word == "gitdir" and path.strip() else ""


def branch_of(root: str | os.PathLike[str]) -> str:
    """The branch that is checked out; "" for none, and outside of git."""
    try:
        git = git_folder(root)
        words = _line(os.path.join(git, "HEAD")).split() if git else []
    except (OSError, ValueError):
        return ""
    return words[1].removeprefix("refs/heads/") if words[:1] == ["ref:"] and len(words) > 1 else ""


def _line(path: str) -> str:
    read = regular_files.content(path, limit=_LINE)
    return read[0].decode("utf-8", "replace").strip() if read is not None else ""
