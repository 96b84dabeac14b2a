"""Markers: what has to lie in a worktree for a platform to be its own.

Nothing outside of the worktree is looked at.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from lifecycle.platforms.platform_file import Condition
from lifecycle.storage import regular_files

_MOST = 10_000
"""Entries that one marker looks at, at most: no more of a folder with a million files."""

_LARGEST = 1_000_000
"""Bytes of a file that a condition looks into."""

_LINE = 400
"""Characters of a line that its pattern, which may be a stranger's, is tried on."""

_SECONDS = 1.0
"""How long a file is looked into; what was not found by then is not there."""


def matches(root: Path, marker: str, most: int = _MOST) -> Iterator[Path]:
    """What a file or a glob pattern names below a root, sorted in each folder.

    As in a shell, a pattern means no name that begins with a dot unless it does so itself. A link that
    leads out of the root, or in a circle, counts as not there, as does what cannot be read.
    """
    parts = marker.removesuffix("/").split("/")
    real = root.resolve()
    places: list[Path] = [root]
    for depth, part in enumerate(parts):
        is_last = depth == len(parts) - 1
        needs_folder = not is_last or marker.endswith("/")
        places = [
            below
            for place in places
            for below in _below(place, part, most)
            if _is_inside(below, real) and (not needs_folder or below.is_dir())
        ][:most]
    yield from places


def holds(root: Path, conditions: Sequence[Condition]) -> bool:
    """True if any of the conditions holds below the root."""
    return any(
        _has(path, condition.pattern)
        for condition in conditions
        for file in condition.files
        for path in matches(root, file)
    )


def _has(path: Path, pattern: str) -> bool:
    if not pattern:
        return True
    try:
        # `_is_inside` has seen where a link leads.
        file = regular_files.content(str(path), follow=True, limit=_LARGEST)
    except OSError:
        return False
    text = file[0].decode("utf-8", "replace") if file is not None else ""
    until, compiled = time.monotonic() + _SECONDS, re.compile(pattern)
    return any(
        compiled.search(line[:_LINE]) is not None
        for line in text.splitlines()
        if time.monotonic() < until
    )


def _below(place: Path, part: str, most: int) -> list[Path]:
    if not re.search(r"[*?\[]", part):
        return [place / part] if os.path.lexists(place / part) else []
    try:
        with os.scandir(place) as entries:
            names = [entry.name for entry, _ in zip(entries, range(most), strict=False)]
    except OSError:
        return []
    return [
        place / name
        for name in sorted(names)
        if fnmatchcase(name, part) and (part.startswith(".") or not name.startswith("."))
    ]


def _is_inside(path: Path, root: Path) -> bool:
    if not path.is_symlink():
        return True
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):  # Python 3.12 and before: a loop of links is a RuntimeError
        return False
