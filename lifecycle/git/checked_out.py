"""What is checked out in a worktree, read from git's files without starting git."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lifecycle.storage import regular_files

_LINE: Final = 4096
"""Characters that are read of a file with one line in it."""


def git_folder(root: Path) -> Path | None:
    """The worktree's own git folder: `.git`, or what it says as a file; None outside of git.

    Source: https://git-scm.com/docs/gitrepository-layout (`gitdir`)

    Raises:
        OSError: it cannot be read.
    """
    git = root / ".git"
    if git.is_dir():
        return git
    word, _, path = _line(git).partition(":")
    return root / path.strip() if word == "gitdir" and path.strip() else None


def branch_of(root: Path) -> str:
    """The branch that is checked out; "" for none, and outside of git."""
    try:
        git = git_folder(root)
        words = _line(git / "HEAD").split() if git is not None else []
    except (OSError, ValueError):
        return ""
    return words[1].removeprefix("refs/heads/") if words[:1] == ["ref:"] and len(words) > 1 else ""


def _line(path: Path) -> str:
    found = regular_files.content(str(path), limit=_LINE)
    return found[0].decode("utf-8", "replace").strip() if found is not None else ""
