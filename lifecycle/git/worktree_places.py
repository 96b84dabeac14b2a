"""Whether what a command line names lies in one worktree: where it goes, and the paths that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lifecycle.storage.store import worktree_root

RESET = "Shell cwd was reset to"
"""What the client adds to the output of a command that left the project's folder."""


def is_here(root: Path, folder: str, steps: Sequence[tuple[str, bool]], told: str = "") -> bool:
    """True if all that a line's runs are about lies in this worktree, and in none inside it.

    Args:
        root: the worktree's top folder.
        folder: the event's `cwd`; "" counts as the top folder.
        steps: the paths that the line names, in order, each with whether what follows runs there.
        told: what the client says of the command beside its output.
    """
    try:
        top = root.resolve()
        here = Path(folder).resolve() if folder else top
        if not _belongs(here, top):
            return False
        if RESET in told and not any(moves for _, moves in steps):
            return False  # it left in a way that cannot be seen
        for path, moves in steps:
            there = _at(path, here)
            if there is None or not _belongs(there, top):
                return False
            here = there if moves else here
    except (OSError, RuntimeError, ValueError):
        return False  # a loop of links, no home, a name that cannot be one
    return True


def _at(path: str, here: Path) -> Path | None:
    """The folder or file that a path means; None if that cannot be told."""
    if not path or path.startswith("$"):
        return None
    return (here / Path(path).expanduser()).resolve()


def _belongs(path: Path, top: Path) -> bool:
    """True if the nearest worktree upwards is this one; without git, if it lies in the folder."""
    return path.is_relative_to(top) and worktree_root(path) in (top, None)
