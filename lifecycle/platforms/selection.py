"""The platforms of a worktree: where they are searched for, what is found, and which one it has.

The order of the search, in which the first of two with one name counts: `Workflows/platforms/*/` of the
worktree, `../Workflows/platforms/*/` beside it, the user's own folder, and the shipped ones. The first two
come with a repository, or with something that was unpacked beside it: none of their commands is run before
the user has said yes. The code contains no platform's name.

The one of the highest priority whose markers exist is selected. Markers are files, or patterns of files.
Apart from the four places nothing outside of the worktree is read.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from lifecycle.core.light_dataclass import dataclass, replace
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

    @property
    def needs_trust(self) -> bool:
        """True if commands from there run only after the user has said yes to exactly these commands."""
        return self in (Place.PROJECT, Place.NEIGHBOUR)


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform as one file describes it.

    Attributes:
        about: the content of the file.
        commands: its commands by name, each one or several, in order; of the selected platform only those
            that apply to the worktree.
        place: where it comes from.
        path: the file.
    """

    about: platform_file.PlatformFile
    commands: Mapping[str, tuple[Argv, ...]]
    place: Place
    path: Path


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
    for name in _PLATFORMS if place.needs_trust else ():
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
    is_own = not place.needs_trust
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


@dataclass(frozen=True, slots=True)
class Match:
    """One platform compared with a worktree; `found`: each marker, in order, and whether it exists."""

    platform: Platform
    found: tuple[tuple[str, bool], ...]

    @property
    def is_match(self) -> bool:
        """True if enough of the markers exist."""
        is_enough = any if self.platform.about.match_mode == "any" else all
        return is_enough(is_there for _, is_there in self.found)


@dataclass(frozen=True, slots=True)
class Detection:
    """Which platform a worktree has, and why.

    Attributes:
        matches: all platforms, the nearest first.
        selected: the selected platform; None if none matches.
        reason: why this one, or why none, as a sentence.
        notes: sentences on files that were skipped.
    """

    matches: tuple[Match, ...]
    selected: Platform | None
    reason: str
    notes: tuple[str, ...]

    @property
    def commands(self) -> Mapping[str, tuple[Argv, ...]]:
        """The commands of the selected platform; none without one."""
        return self.selected.commands if self.selected is not None else {}


def detect(root: Path, environment: Mapping[str, str]) -> Detection:
    """Compare every existing platform with a worktree, and select one; no process is started.

    Of those that match the highest priority wins; then the nearest place, then the first name.
    """
    discovered = discover(root, environment)
    held = tuple(
        Match(platform, tuple((each, any(matches(root, each))) for each in platform.about.markers))
        for platform in discovered.platforms
    )
    candidates = sorted((match.platform for match in held if match.is_match), key=_rank)
    selected = candidates[0] if candidates else None
    if selected is not None:
        unmet = {name for name, needs in selected.about.needs.items() if not holds(root, needs)}
        commands = {name: argvs for name, argvs in selected.commands.items() if name not in unmet}
        selected = replace(selected, commands=commands)
    return Detection(held, selected, _reason(candidates), discovered.notes)


def _rank(platform: Platform) -> tuple[int, int, str]:
    """Sorts platforms: by priority, the highest first, then the nearest, then by name."""
    return -platform.about.priority, list(Place).index(platform.place), platform.about.name


def _reason(candidates: list[Platform]) -> str:
    if not candidates:
        return "No markers of any platform were found here."
    best = candidates[0]
    rivals = [rival for rival in candidates[1:] if rival.about.priority == best.about.priority]
    if len(candidates) == 1:
        return "It is the only one whose markers were found here."
    if not rivals:
        return f"It has the highest priority of {len(candidates)} that match."
    names = ", ".join(rival.about.name for rival in rivals)
    if all(rival.place is not best.place for rival in rivals):
        return f"{names} has the same priority, but {best.about.name} is nearer ({best.place})."
    return f"{names} has the same priority and is as near; the first name counts."


_ENTRIES = 10_000
"""The most entries that are read for one marker, even in a folder with a million files."""

_LARGEST = 1_000_000
"""The most bytes of a file that are read for a condition."""

_LINE = 400
"""Characters of a line on which its pattern, which may be a stranger's, is tried."""

_SECONDS = 1.0
"""Seconds that a file is searched; text that was not found by then counts as missing."""


def matches(root: Path, marker: str, most: int = _ENTRIES) -> Iterator[Path]:
    """The paths that a file name or glob pattern matches below a root, sorted in each folder.

    As in a shell, a pattern matches a name that begins with a dot only if it begins so itself. A link that
    leads out of the root, or in a circle, counts as missing, and so does an unreadable path.
    """
    parts = marker.removesuffix("/").split("/")
    real = root.resolve()
    places: list[Path] = [root]
    for depth, part in enumerate(parts):
        is_last = depth == len(parts) - 1
        needs_folder = not is_last or marker.endswith("/")
        below = (path for place in places for path in _below(place, part, most))
        inside = (path for path in below if _is_inside(path, real))
        places = [path for path in inside if not needs_folder or path.is_dir()][:most]
    yield from places


def holds(root: Path, conditions: Sequence[platform_file.Condition]) -> bool:
    """True if any of the conditions holds below the root."""
    pairs = ((file, condition.pattern) for condition in conditions for file in condition.files)
    return any(_has(path, pattern) for file, pattern in pairs for path in matches(root, file))


def _has(path: Path, pattern: str) -> bool:
    if not pattern:
        return True
    try:
        # `_is_inside` has checked where a link leads.
        file = regular_files.content(str(path), follow=True, limit=_LARGEST)
    except OSError:
        return False
    text = file[0].decode("utf-8", "replace") if file is not None else ""
    until = time.monotonic() + _SECONDS
    lines = (line[:_LINE] for line in text.splitlines() if time.monotonic() < until)
    return any(map(re.compile(pattern).search, lines))


def _below(place: Path, part: str, most: int) -> list[Path]:
    if not re.search(r"[*?\[]", part):
        return [place / part] if os.path.lexists(place / part) else []
    try:
        with os.scandir(place) as entries:
            names = [entry.name for entry, _ in zip(entries, range(most), strict=False)]
    except OSError:
        return []
    fitting = (name for name in sorted(names) if fnmatchcase(name, part))
    return [place / name for name in fitting if part.startswith(".") or not name.startswith(".")]


def _is_inside(path: Path, root: Path) -> bool:
    if not path.is_symlink():
        return True
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):  # Python 3.12 and before: a loop of links is a RuntimeError
        return False
