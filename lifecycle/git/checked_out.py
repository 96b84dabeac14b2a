"""What is checked out in a worktree, read from git's files: git is started for a reftable alone.

A hook's quick path imports this module, so it imports no `pathlib`.
"""

# pathlib alone would cost as much as the rest of the quick path.
# ruff: noqa: PTH118

from __future__ import annotations

import os

from lifecycle.storage import regular_files

_LINE = 4096
"""Characters that are read of a file with one line."""


def branch_of(root: str | os.PathLike[str]) -> str:
    """The branch that is checked out; "" if there is none, or outside of git."""
    try:
        git = regular_files.git_folder(root)
        words = regular_files.head_of(git).split() if git else []
    except (OSError, ValueError):
        return ""
    return words[1].removeprefix("refs/heads/") if words[:1] == ["ref:"] and len(words) > 1 else ""


def pushed_at(folder: str | os.PathLike[str], remote: str, branch: str) -> tuple[str, float]:
    """The commit of a branch's remote-tracking ref below git's common folder, and when it was set.

    ("", 0.0) unless git keeps the ref as a file, as it does after a push or a fetch of something new.
    """
    path = os.path.join(folder, "refs/remotes", remote, branch)
    try:
        read = regular_files.content(path, limit=_LINE)
    except (OSError, ValueError):
        return "", 0.0
    return (read[0].decode("utf-8", "replace").strip(), read[1] / 1e9) if read else ("", 0.0)
