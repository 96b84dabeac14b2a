"""Whether this worktree's tasks are kept by bd, and where its program and its database are.

Source: `bd init --help` and `bd where --help`, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from lifecycle import store

PROGRAM = "bd"
FOLDER = ".beads"


def is_here(root: Path, environment: Mapping[str, str], folder: str) -> bool:
    """True if bd can be run and has a database here: a `.beads` folder, or the configured one.

    A linked worktree without a folder of its own has that of the main worktree, as bd finds it.
    """
    return bool(program(environment)) and (bool(folder) or _has_folder(root))


def lacking(root: Path, environment: Mapping[str, str], folder: str) -> str:
    """Half a sentence if there is a database here and no bd to ask it; "" otherwise."""
    if program(environment) or not (folder or _has_folder(root)):
        return ""
    return f"{'tracker.folder is set' if folder else f'{FOLDER} is here'}, and {PROGRAM} is not on PATH"


def _has_folder(root: Path) -> bool:
    if (root / FOLDER).is_dir():
        return True
    shared = store.common_folder(root)
    # Only a clone's own `.git` lies in a worktree; a bare repository lies in none.
    return shared is not None and shared.name == ".git" and (shared.parent / FOLDER).is_dir()


def program(environment: Mapping[str, str]) -> str:
    """The path of bd's program, as the environment's PATH has it; "" if there is none."""
    return shutil.which(PROGRAM, path=environment.get("PATH")) or ""


def database(root: Path, folder: str) -> str:
    """What BEADS_DIR has to say for the configured folder, which may be beside or above `.beads`.

    Args:
        root: what a relative folder is relative to.
        folder: as configured; "" leaves the search to bd.
    """
    if not folder:
        return ""
    place = (root / Path(folder).expanduser()).resolve()
    inner = place / FOLDER
    return str(inner if inner.is_dir() else place)
