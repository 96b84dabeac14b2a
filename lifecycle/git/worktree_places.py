"""Whether a command line stays in one worktree: the folders it changes to, and the paths it names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lifecycle.storage.store import worktree_root

RESET = "Shell cwd was reset to"
"""The client's remark in the output of a command that left the project's folder."""


def is_here(root: Path, folder: str, steps: Sequence[tuple[str, bool]], remark: str = "") -> bool:
    """True if a command line stays in this worktree: all its paths are there, none in a worktree inside it.

    Args:
        root: the worktree's top folder.
        folder: the event's `cwd`; "" counts as the top folder.
        steps: the paths in the line, in order, each with whether the commands after it run there.
        remark: the client's remark about the command, beside its output.
    """
    try:
        top = root.resolve()
        current = Path(folder).resolve() if folder else top
        if not _belongs(current, top):
            return False
        if RESET in remark and not any(moves for _, moves in steps):
            return False  # it left in a way that the line does not show
        for path, moves in steps:
            if not path or path.startswith("$"):
                return False  # where that leads is unknown
            target = (current / Path(path).expanduser()).resolve()
            if not _belongs(target, top):
                return False
            current = target if moves else current
    except (OSError, RuntimeError, ValueError):
        return False  # a loop of links, no home, an impossible name
    return True


def _belongs(path: Path, top: Path) -> bool:
    """True if the nearest worktree upwards is this one; without git, if the path is in the folder."""
    return path.is_relative_to(top) and worktree_root(path) in (top, None)
