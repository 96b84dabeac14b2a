"""Whether this worktree's tasks are kept by bd, whether it may run here, and where its database is.

A repository that comes with a `.beads` folder comes with whatever that makes bd do: programs that bd
starts, servers that it speaks to. So bd is run only where the user has said yes, and on a database in the
repository, or in a folder that the user's own file names.

Source: `bd init --help` and `bd where --help`, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from lifecycle.core.errors import BadConfig, Refused
from lifecycle.settings import config, user_folder
from lifecycle.storage import regular_files, store
from lifecycle.trackers import refusals

PROGRAM = "bd"
START = "/bd-start"
"""The client's command that begins with a task."""

FOLDER = ".beads"
REDIRECT = "redirect"
"""A file in the folder that holds the path of another one, relative to where the folder lies."""

_MOST = 4096


def is_here(root: Path, environment: Mapping[str, str], folder: str) -> bool:
    """True if bd can be run, may be, and has a database here: a `.beads` folder, or the configured one.

    A linked worktree without a folder of its own has that of the main worktree, as bd finds it.

    Raises:
        BadConfig: the user's files cannot be read, so nobody knows.
    """
    return is_present(root, environment, folder) and not _hindrance(root, environment, folder)[0]


def is_present(root: Path, environment: Mapping[str, str], folder: str) -> bool:
    """True if there is a database and a program for it, whether it may run or not."""
    return bool(program(environment)) and wanted(root, folder)


def wanted(root: Path, folder: str) -> bool:
    """True if there is a database here, or a folder for one is configured."""
    return bool(folder or _own_folder(root))


def lacking(root: Path, environment: Mapping[str, str], folder: str) -> tuple[str, str]:
    """Why a database here cannot be asked, as half a sentence, and the way out; "" twice otherwise.

    Raises:
        BadConfig: the user's files cannot be read, so nobody knows.
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
    """Refuse to run bd where nobody has allowed it, or on a database of somewhere else.

    Raises:
        Refused: the sentence says which, and how it is allowed.
        BadConfig: the user's files cannot be read, so nobody knows.
    """
    why, way = _hindrance(root, environment, folder)
    if why:
        raise Refused(f"{why[0].upper()}{why[1:]}, so no task was read or changed; {way}.")


def _hindrance(root: Path, environment: Mapping[str, str], folder: str) -> tuple[str, str]:
    outside = _outside(root, environment, folder)
    if outside is not None:
        named = "tracker.folder" if folder else FOLDER
        return f"{named} leads out of this repository, to {outside}", _naming(outside, environment)
    if not user_folder.allows(environment, store.clone_of(root), PROGRAM):
        way = "a person can allow it with: lifecycle trust"
        return f"nobody has allowed {PROGRAM} to run in this repository", way
    return "", ""


def _outside(root: Path, environment: Mapping[str, str], folder: str) -> Path | None:
    """Where the database is, if that is neither in the repository nor where the user lets it be."""
    place = Path(database(root, folder)) if folder else _own_folder(root)
    if place is None:
        return None
    main = _main(root)
    near = [inside.resolve() for inside in (root, main) if inside is not None]
    for led in (place, _redirected(place)):
        target = led.resolve()
        if any(target.is_relative_to(inside) for inside in near):
            continue
        if not any(target.is_relative_to(inside) for inside in config.tracker_folders(environment)):
            return target
    return None


def _redirected(place: Path) -> Path:
    try:
        read = regular_files.content(str(place / REDIRECT), limit=_MOST)
    except OSError as error:
        words = {"place": place / REDIRECT, "why": error.strerror}
        raise BadConfig(refusals.sentence("bd-redirect-unread", **words)) from None
    if read is None:
        return place
    target = read[0].decode("utf-8", "surrogateescape").strip()
    return place.parent / target.replace("\0", "")


def _naming(folder: Path, environment: Mapping[str, str]) -> str:
    """How the user lets tasks be kept in a folder outside."""
    own = config.own_path(config.CONFIG, environment)
    if config.tracker_folders(environment):
        return f"if it is yours, add it to tracker.folders in {own}"
    lines = ("[tracker]", f"folders = [{json.dumps(str(folder), ensure_ascii=False)}]")
    words = " ".join(shlex.quote(line) for line in lines)
    parent = own.rpartition("/")[0]
    return f"if it is yours: mkdir -p {parent} && printf '%s\\n' {words} >> {own}"


def _own_folder(root: Path) -> Path | None:
    """The repository's own database: of the worktree, else of the main one."""
    folders = (place / FOLDER for place in (root, _main(root)) if place)
    return next((folder for folder in folders if folder.is_dir()), None)


def _main(root: Path) -> Path | None:
    shared = store.common_folder(root)
    # Only a clone's own `.git` lies in a worktree; a bare repository lies in none.
    return shared.parent if shared is not None and shared.name == ".git" else None


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
    below = place / FOLDER
    return str(below if below.is_dir() else place)
