"""Find the platforms of a worktree: the places of the search, and the platforms in them.

The order of the search, in which the first of two with one name counts: `Workflows/platforms/*/` of the
worktree, `../Workflows/platforms/*/` beside it, the user's own folder, and the shipped ones. The first two
come with a repository, or with something that was unpacked beside it: none of their commands is run before
the user has said yes. The code contains no platform's name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import as_data, short
from lifecycle.platforms import platform_file
from lifecycle.platforms.command_argv import Argv
from lifecycle.settings import config
from lifecycle.storage import regular_files

FILE = "platform.json"
_PLATFORMS = ("Workflows", "platforms")
_SHIPPED = Path(__file__).with_name("shipped")

_MOST = 200
"""The most folders of one place that are searched."""

_LONGEST = 500
"""The most characters of a note."""


class Place(StrEnum):
    """Where a platform comes from, the nearest first."""

    PROJECT = "project"
    NEIGHBOUR = "neighbour"
    USER = "user"
    SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform as one file describes it.

    Attributes:
        about: the content of the file.
        commands: its commands by name, each one or several, in order.
        place: where it comes from.
        path: the file.
    """

    about: platform_file.PlatformFile
    commands: Mapping[str, tuple[Argv, ...]]
    place: Place
    path: Path

    @property
    def needs_trust(self) -> bool:
        """True if its commands may run only after the user has said yes to exactly these commands."""
        return self.place in (Place.PROJECT, Place.NEIGHBOUR)


@dataclass(frozen=True, slots=True)
class Discovered:
    """The platforms that `discover` found, and notes on files.

    Attributes:
        platforms: the usable ones, the nearest first, each name once.
        notes: sentences about skipped files, and about unused parts of a file.
    """

    platforms: tuple[Platform, ...]
    notes: tuple[str, ...]


def discover(root: Path, environment: Mapping[str, str]) -> Discovered:
    """Every platform that exists for a worktree; no process is started.

    Args:
        root: the worktree's root.
        environment: names the user's home.
    """
    platforms: dict[str, Platform] = {}
    notes: list[str] = []
    own = config.own_folder(environment)
    places = [(Place.PROJECT, root), (Place.NEIGHBOUR, root.parent)]
    places += [(Place.USER, own / "platforms")] if own is not None else []
    for place, folder in (*places, (Place.SHIPPED, _SHIPPED)):
        for path in _files(folder, place, notes):
            try:
                platform = _read(path, place, notes)
            except ValueError as error:
                notes.append(f"{path} was skipped: {error}.")
                continue
            before = platforms.setdefault(platform.about.name, platform)
            if before is not platform and before.place is place:
                same = f"{before.path} beside it already has the name {before.about.name}"
                notes.append(f"{path} was skipped: {same}.")
    # Names of folders and keys of files may be anybody's words.
    remarks = tuple(short(as_data(note), _LONGEST) for note in notes)
    return Discovered(tuple(platforms.values()), remarks)


def _files(folder: Path, place: Place, notes: list[str]) -> Iterator[Path]:
    """The files of one place, in the order of their folders' names."""
    is_own = place in (Place.USER, Place.SHIPPED)
    for name in () if is_own else _PLATFORMS:
        folder /= name
        wrong = _wrong_folder(folder, place)
        if wrong:
            notes.append(f"{folder} was skipped: it {wrong}.")
            return
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return  # the place does not exist
    if len(names) > _MOST:
        notes.append(f"{folder} has more than {_MOST} entries; the first {_MOST} were looked at.")
    yield from filter(os.path.lexists, (folder / name / FILE for name in names[:_MOST]))


def _wrong_folder(folder: Path, place: Place) -> str:
    """Why no file of this folder may be used, as "is a link"; "" if they may."""
    wrong = regular_files.strange_folder(str(folder))
    return wrong or (_open_to_others(folder) if place is Place.NEIGHBOUR else "")


def _open_to_others(path: Path) -> str:
    """Why a path beside the worktree is not trusted: others own it, or may write to it; "" if neither."""
    try:
        is_open = path.lstat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    except OSError:
        return ""
    return regular_files.strange_owner(str(path)) or ("can be written by others" if is_open else "")


def _read(path: Path, place: Place, notes: list[str]) -> Platform:
    """The platform of one file; ValueError says why it cannot be used."""
    is_own = place in (Place.USER, Place.SHIPPED)
    if not is_own and (wrong := _wrong_folder(path.parent, place)):
        raise ValueError(f"its folder {wrong}")
    if place is Place.NEIGHBOUR and (wrong := _open_to_others(path)):
        raise ValueError(wrong)
    try:
        file = regular_files.content(str(path), follow=is_own, limit=platform_file.LARGEST)
    except regular_files.StrangeFileError as error:
        raise ValueError(f"it {error.strerror}") from None
    except OSError as error:
        raise ValueError(f"it cannot be read ({error.strerror})") from None
    about, remarks = platform_file.read(file[0] if file is not None else b"")
    notes += [f"{path}: {remark}" for remark in remarks]
    return Platform(about, about.argvs(), place, path)
