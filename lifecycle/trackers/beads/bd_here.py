"""Whether this worktree's tasks are kept by bd, whether it may run here, and where its database is.

A repository with a `.beads` folder can decide what bd does with it: the programs that bd starts, the
servers that it talks to. So bd is run only if the user has said yes, and on a database in the repository,
or in a folder that the user's own file names.

Source: `bd init --help` and `bd where --help`, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from lifecycle.core.errors import BadConfig, Refused
from lifecycle.settings import config, user_folder
from lifecycle.storage import regular_files, store
from lifecycle.trackers import refusals

PROGRAM = "bd"
START = "/bd-start"
"""The client's command that begins a task."""

FOLDER = ".beads"
REDIRECT = "redirect"
"""A file in the folder that holds the path of another folder, relative to the parent of the folder."""

_MOST = 4096


def is_here(root: Path, environment: Mapping[str, str], folder: str) -> bool:
    """True if bd is installed, may run, and has a database here: a `.beads` folder, or the configured one.

    A linked worktree uses the main worktree's, as bd does, even if it has a folder of its own.

    Raises:
        BadConfig: the user's files cannot be read, so the answer is unknown.
    """
    return is_present(root, environment, folder) and not _hindrance(root, environment, folder)[0]


def is_present(root: Path, environment: Mapping[str, str], folder: str) -> bool:
    """True if there are a database and a program for it, whether the program may run or not."""
    return bool(program(environment)) and wanted(root, folder)


def wanted(root: Path, folder: str) -> bool:
    """True if there is a database here, or a folder for one is configured."""
    return bool(folder or _places(root, folder))


def lacking(root: Path, environment: Mapping[str, str], folder: str) -> tuple[str, str]:
    """Why a database here cannot be used, as half a sentence, and the way out; ("", "") otherwise.

    Raises:
        BadConfig: the user's files cannot be read, so the answer is unknown.
    """
    if not wanted(root, folder):
        return "", ""
    sign = "tracker.folder is set" if folder else f"{FOLDER} is here"
    if not program(environment):
        way = f"install it, or set tracker.use in {config.CONFIG_FILE} to the tracker that you mean"
        return f"{sign}, and {PROGRAM} is not on PATH", way
    why, way = _hindrance(root, environment, folder)
    return (f"{sign}, and {why}", way) if why else ("", "")


def refuse(root: Path, environment: Mapping[str, str], folder: str) -> None:
    """Refuse to run bd if the user has not allowed it, or on a database outside of the repository.

    Raises:
        Refused: the sentence says which, and how to allow it.
        BadConfig: the user's files cannot be read, so the answer is unknown.
    """
    why, way = _hindrance(root, environment, folder)
    if why:
        raise Refused(f"{why[0].upper()}{why[1:]}, so no task was read or changed; {way}.")


def _hindrance(root: Path, environment: Mapping[str, str], folder: str) -> tuple[str, str]:
    """Why bd may not run here, as half a sentence, and the way out; ("", "") if it may."""
    near = [inside.resolve() for inside in (root, _main(root)) if inside is not None]
    for led in (led for place in _places(root, folder) for led in (place, *_redirected(place))):
        outside = Path(os.path.realpath(led))
        if any(outside.is_relative_to(inside) for inside in near):
            continue
        if not any(map(outside.is_relative_to, config.tracker_folders(environment))):
            named = "tracker.folder" if folder else FOLDER
            own = config.own_path(config.CONFIG, environment)
            way = f"if it is yours, add it to tracker.folders in {own}"
            return f"{named} leads out of this repository, to {outside}", way
    if PROGRAM not in user_folder.allowed(environment, store.clone_of(root), "programs"):
        way = "a person can allow it with: lifecycle trust"
        return f"nobody has allowed {PROGRAM} to run in this repository", way
    return "", ""


def _places(root: Path, folder: str) -> list[Path]:
    """The configured database, else what is called `.beads` in the worktree and in the main worktree.

    A file, or a link to a disk that is not there, does not mean that the tasks are kept elsewhere; beside
    a folder, bd passes it over. Of two folders, bd uses the main worktree's, or the one to which a redirect
    there leads.
    """
    if folder:
        return [Path(database(root, folder))]
    own = [place / FOLDER for place in (root, _main(root)) if place]
    return [*filter(os.path.isdir, own)] or [*filter(os.path.lexists, own)]


def _redirected(place: Path) -> list[Path]:
    """Where bd may be led from this folder: its file names that in the first line that is no comment.

    A comment before it counts, too: bd trims other characters than we do, so it may be none to bd.

    Raises:
        BadConfig: the file cannot be read, or is so long that the line may be further down.
    """
    try:
        read = regular_files.content(str(place / REDIRECT), limit=_MOST)
        why = f"has more than {_MOST} bytes" if read is not None and len(read[0]) > _MOST else ""
    except OSError as error:
        read, why = None, error.strerror or str(error)
    if why:
        raise BadConfig(refusals.sentence("bd-redirect-unread", place=place / REDIRECT, why=why))
    text = read[0].decode("utf-8", "surrogateescape").replace("\0", "") if read is not None else ""
    lines = [line.strip() for line in text.split("\n")]
    last = next((at for at, line in enumerate(lines) if line and line[0] != "#"), len(lines))
    return [place.parent / line for line in lines[: last + 1] if line]


def _main(root: Path) -> Path | None:
    """The main worktree; or a bare repository, which is in none: bd looks there from 1.0 on."""
    shared = store.common_folder(root)
    return shared.parent if shared is not None and shared.name == ".git" else shared


def program(environment: Mapping[str, str]) -> str:
    """The path of bd's program on the environment's PATH; "" if there is none."""
    return shutil.which(PROGRAM, path=environment.get("PATH")) or ""


def database(root: Path, folder: str) -> str:
    """The value of BEADS_DIR for the configured folder, which may be next to or above `.beads`.

    Args:
        root: what a relative folder is relative to.
        folder: as configured; "" leaves the search to bd.
    """
    if not folder:
        return ""
    named = os.path.expanduser(folder)  # noqa: PTH111 -- Path raises for an unknown user
    place = Path(os.path.realpath(root / named))
    return str(next(filter(os.path.isdir, [place / FOLDER]), place))
