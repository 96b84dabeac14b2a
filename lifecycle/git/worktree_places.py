"""Whether what a command line names lies in one worktree: where it goes, and the paths that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lifecycle.storage.store import worktree_root

RESET = "Shell cwd was reset to"
"""What the client adds to the output of a command that left the project's folder."""


def is_here(root: Path, folder: str, steps: Sequence[tuple[str, bool]], remark: str = "") -> bool:
    """True if a command line stays in this worktree: all its paths lie there, and in none inside it.

    Args:
        root: the worktree's top folder.
        folder: the event's `cwd`; "" counts as the top folder.
        steps: the paths that the line names, in order, each with whether what follows runs there.
        remark: what the client says of the command beside its output.
    """
    try:
        top = root.resolve()
        current = Path(folder).resolve() if folder else top
        if not _belongs(current, top):
            return False
        if RESET in remark and not any(moves for _, moves in steps):
            return False  # it left in a way that cannot be seen
        for path, moves in steps:
            target = _at(path, current)
            if target is None or not _belongs(target, top):
                return False
            current = target if moves else current
    except (OSError, RuntimeError, ValueError):
        return False  # a loop of links, no home, a name that cannot be one
    return True


def _at(path: str, current: Path) -> Path | None:
    """The folder or file that a path means; None if that cannot be told."""
    if not path or path.startswith("$"):
        return None
    return (current / Path(path).expanduser()).resolve()


def _belongs(path: Path, top: Path) -> bool:
    """True if the nearest worktree upwards is this one; without git, if it lies in the folder."""
    return path.is_relative_to(top) and worktree_root(path) in (top, None)
