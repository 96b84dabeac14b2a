"""Which clones of this user lifecycle works in: for the views of all of them, and to find a main worktree.

git itself does not say where that of a clone with `--separate-git-dir` is; nothing else depends on this.

`clones/` in the user's own folder has one small file for each clone, so that processes which write at the
same time do not disturb each other. Only this user can read it (0600), and it never leaves the machine. A
file is written when work begins in an unknown clone, and deleted once the clone's git folder is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from lifecycle.core.light_dataclass import dataclass, object_in
from lifecycle.settings import config, user_folder
from lifecycle.storage import regular_files, store

FOLDER = "clones"

MOST = 1_000
"""How many clones are read."""

_NAME = re.compile(r"[0-9a-f]{32}")
_VERSION = 1


@dataclass(frozen=True, slots=True)
class KnownClone:
    """A clone: its git folder, which all of its worktrees share, and its main worktree, if it has one."""

    git: Path
    main: Path | None


def note(root: Path, environment: Mapping[str, str]) -> None:
    """Note the clone of this worktree. Best effort: never raises, and writes only if it is new."""
    with contextlib.suppress(OSError):
        place, git = config.own_folder(environment), store.common_folder(root)
        if place is None or git is None:
            return
        path = place / FOLDER / _name(git)
        if os.path.lexists(path) or regular_files.strange_folder(str(path.parent)):
            return
        main = "" if root.resolve() in store.linked_worktrees(git).values() else str(root.resolve())
        data = {"version": _VERSION, "git": str(git), "main": main}
        user_folder.write(path, json.dumps(data).encode("ascii") + b"\n")


def known(environment: Mapping[str, str]) -> tuple[KnownClone, ...]:
    """The known clones that still exist, by their paths; the files of others are deleted.

    Raises:
        StrangeFileError: the folder of the files is not a folder of this user.
        OSError: it cannot be read.
    """
    place = config.own_folder(environment)
    if place is None or not (place / FOLDER).exists():
        return ()
    folder = Path(regular_files.below(str(place), FOLDER, ""))
    paths = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    clones = {path: _read(path) for path in paths[:MOST]}
    for path in (path for path, clone in clones.items() if clone is None):
        path.unlink(missing_ok=True)
    present = (clone for clone in clones.values() if clone is not None)
    return tuple(sorted(present, key=lambda clone: str(clone.git)))


def worktrees_of(clone: KnownClone) -> tuple[Path, ...]:
    """The top folders of a clone's worktrees, the main one first; found without starting git."""
    above = clone.git.parent if clone.git.name == ".git" else None
    tops = [clone.main or above, *store.linked_worktrees(clone.git).values()]
    # A folder that belongs to another clone by now is left out.
    return tuple(top for top in tops if top is not None and store.common_folder(top) == clone.git)


def _read(path: Path) -> KnownClone | None:
    """The clone in a file; None if the file is not ours or has another form, or the clone is gone."""
    with contextlib.suppress(OSError, ValueError):
        file = store.read(path, follow=False)
        data = object_in(file.content, _VERSION) if file is not None else {}
        git, main = (Path(str(data.get(name) or "")) for name in ("git", "main"))
        if git.is_absolute() and _name(git) == path.name and git.is_dir():
            return KnownClone(git, main if main.is_absolute() else None)
    return None


def _name(git: Path) -> str:
    import hashlib  # not needed on the quiet path

    return hashlib.sha256(os.fsencode(git)).hexdigest()[:32]
