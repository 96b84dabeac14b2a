"""Which platform a worktree has: the one of the highest priority whose markers exist.

Markers are files, or patterns of files. Nothing outside of the worktree is read.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from lifecycle.core.light_dataclass import dataclass
from lifecycle.platforms.command_argv import Argv
from lifecycle.platforms.discovery import Place, Platform, discover
from lifecycle.platforms.platform_file import Condition
from lifecycle.storage import regular_files


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
        commands: the commands of the selected platform that apply to this worktree.
        notes: sentences on files that were skipped.
    """

    matches: tuple[Match, ...]
    selected: Platform | None
    reason: str
    commands: Mapping[str, tuple[Argv, ...]]
    notes: tuple[str, ...]


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
    commands: dict[str, tuple[Argv, ...]] = {}
    if selected is not None:
        needs = selected.about.needs
        unmet = {name for name in needs if not holds(root, needs[name])}
        commands = {name: argvs for name, argvs in selected.commands.items() if name not in unmet}
    return Detection(held, selected, _reason(candidates), commands, discovered.notes)


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


_MOST = 10_000
"""The most entries that are read for one marker, even in a folder with a million files."""

_LARGEST = 1_000_000
"""The most bytes of a file that are read for a condition."""

_LINE = 400
"""Characters of a line on which its pattern, which may be a stranger's, is tried."""

_SECONDS = 1.0
"""Seconds that a file is searched; text that was not found by then counts as missing."""


def matches(root: Path, marker: str, most: int = _MOST) -> Iterator[Path]:
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


def holds(root: Path, conditions: Sequence[Condition]) -> bool:
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
