"""Does a command line's test run belong to this worktree? By the folders that it names.

The client's event has the folder in which the shell stands after the command line. A line that goes
elsewhere in between, or whose folders cannot be told, belongs to nobody's files here.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks (`cwd`).
"""

from __future__ import annotations

from pathlib import Path

from lifecycle.evidence.test_runs import TOP, FolderStep
from lifecycle.storage.store import worktree_root

RESET = "Shell cwd was reset to"
"""What the client adds to the output of a command that left the project's folder."""


def is_here(root: Path, folder: str, steps: tuple[FolderStep, ...], said: str = "") -> bool:
    """True if all that a line's runs are about lies in this worktree, and in none inside it.

    Args:
        root: the worktree's top folder.
        folder: the event's `cwd`; "" counts as the top folder.
        steps: what the line names, in order.
        said: what the client says of the command beside its output.
    """
    try:
        top = root.resolve()
        here = Path(folder).resolve() if folder else top
        if not _belongs(here, top):
            return False
        if RESET in said and not any(step.moves for step in steps):
            return False  # it left in a way that cannot be seen
        for step in steps:
            there = _at(step.path, here, top)
            if there is None or not _belongs(there, top):
                return False
            here = there if step.moves else here
    except (
        OSError,
        RuntimeError,
        ValueError,
    ):  # a loop of links, no home, a name that cannot be one
        return False
    return True


def _at(path: str, here: Path, top: Path) -> Path | None:
    """The folder or file that a path means; None if that cannot be told."""
    if path == TOP:
        return top
    if not path or path.startswith("$"):
        return None
    return (here / Path(path).expanduser()).resolve()


def _belongs(path: Path, top: Path) -> bool:
    """True if the nearest worktree upwards is this one; without git, if it lies in the folder."""
    if not path.is_relative_to(top):
        return False
    return worktree_root(path) in (top, None)
