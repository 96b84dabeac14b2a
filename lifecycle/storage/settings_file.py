"""Where the settings of a worktree lie: in `.lifecycle.toml` at its top, else in the main worktree's.

A file that is one person's own is not carried by git to linked worktrees, so these read that of their
main one. The guards in `hooks/common` keep the same rule. Imported by the quick path: nothing but `os`.

Source: how a linked worktree names its main one, https://git-scm.com/docs/gitrepository-layout (`gitdir`).
"""

# pathlib alone would cost as much as the rest of the quick path.
# ruff: noqa: PTH113, PTH118, PTH123

from __future__ import annotations

import os

CONFIG_FILE = ".lifecycle.toml"

_LONG = 4096


def path_of(root: str) -> str:
    """The file whose settings count in the worktree `root`: its own, else its main worktree's.

    Its own path if neither is there: that is where it would be.
    """
    own = os.path.join(root, CONFIG_FILE)
    if os.path.lexists(own):
        return own
    main = main_of(root)
    above = os.path.join(main, CONFIG_FILE)
    return above if main and os.path.isfile(above) else own


def main_of(root: str) -> str:
    """The top folder of the main worktree, if `root` is linked to one; else ""."""
    path = os.path.join(root, ".git")
    if not os.path.isfile(path):
        return ""  # a main worktree has a folder there
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            line = file.readline(_LONG).rstrip("\r\n")
    except (OSError, ValueError):
        return ""
    mark, _, folder = line.partition(" ")
    main, found, name = folder.rpartition("/.git/worktrees/")
    is_linked = mark == "gitdir:" and found and name and "/" not in name
    return os.path.join(root, main) if is_linked else ""
