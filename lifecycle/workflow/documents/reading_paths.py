"""Paths of required reading: with an @ before them, and inside of the project."""

from __future__ import annotations

import re
from typing import Final

from lifecycle.core.errors import Refused
from lifecycle.core.redact import visible

_OUTSIDE: Final = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|[A-Za-z][\w+.-]*://")
_LONG: Final = 500


def reading_path(text: str) -> str:
    """The path as it is kept, from the worktree's root with an @: `docs/a.md` becomes `@docs/a.md`.

    Raises:
        Refused: it is empty, leads out of the project, or is no path.
    """
    path = text.strip().removeprefix("@").strip()
    parts = re.split(r"[/\\]", path)
    is_inside = path and ".." not in parts and not _OUTSIDE.match(path)
    if is_inside and path.isprintable() and len(path) <= _LONG:
        return f"@{path}"
    why = "is no path" if not path or not path.isprintable() else "leads out of the project"
    why = f"has more than {_LONG} characters" if len(path) > _LONG else why
    raise Refused(
        f'The required reading "{visible(text[:100])}" {why}, so it was not taken; name a file of the '
        "project from its top folder, as @docs/guide.md."
    )
