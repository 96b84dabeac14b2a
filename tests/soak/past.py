"""Time passes: all that was written down moves into the past, and no clock is touched.

A clock that is set ahead in the product's processes would disagree with the dates that the kernel gives
to files, which the hooks' guards in sh compare. So the present stays, and every moment that anybody noted
becomes as much older: in the files of the worktree, in their dates, and in the embedded GitHub. Dates
in git's commits and in the journal, by which nothing is decided, stay as they are.
"""

from __future__ import annotations

import os
import re
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lifecycle.sandbox.repositories.state import World
from lifecycle.storage.store import CLAIM_FILE, FOLDER
from tests.soak.staged import OLD

_MOMENT = re.compile(r"(?<![\w.-])1[6-9]\d{8}(?=(\d{9})?(?!\d))")
"""Seconds since the epoch, of nanoseconds too; behind a hyphen they are a part of an agent's name."""
_STAMP = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?=Z|\+00:00)")
_FORM = "%Y-%m-%dT%H:%M:%S"


def aged(text: str, seconds: int) -> str:
    """The text with every moment in it so many seconds earlier."""

    def earlier(found: re.Match[str]) -> str:
        then = datetime.strptime(found[0], _FORM).replace(tzinfo=UTC) - timedelta(seconds=seconds)
        return then.strftime(_FORM)

    return _STAMP.sub(earlier, _MOMENT.sub(lambda found: str(int(found[0]) - seconds), text))


def age_worktree(root: Path, seconds: int) -> None:
    """Let the files of ours in a worktree become so much older, and what is in them."""
    claims = root.glob(f"{CLAIM_FILE}*")
    for path in (root / ".lifecycle.toml", *claims, *(root / FOLDER).rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        if path.suffix == ".json" or path.name.startswith(CLAIM_FILE):
            content = path.read_bytes()
            try:
                text = aged(content.decode(), seconds).encode()
            except UnicodeDecodeError:
                text = content
            if text != content:
                written = path.stat().st_mtime_ns
                path.write_bytes(text)
                os.utime(path, ns=(written, written))
        _set_back(path, seconds)


def age_machine(folder: Path, seconds: int) -> None:
    """A machine's clock was set on by so much (`staged.CLOCK`): its files' dates stay what they were."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            _set_back(path, seconds)


def _set_back(path: Path, seconds: int) -> None:
    found = path.stat()
    if found.st_mtime > OLD:
        moved = found.st_mtime_ns - seconds * 1_000_000_000
        os.utime(path, ns=(moved, moved))


def age_world(world: World, seconds: int) -> None:
    """Let all that the embedded GitHub knows become so much older."""
    by = timedelta(seconds=seconds)
    with world.lock:
        left: list[Any] = list(vars_of(world).values())
        met: set[int] = set()
        while left:
            thing = left.pop()
            if id(thing) in met:
                continue
            met.add(id(thing))
            if isinstance(thing, dict):
                left += thing.values()
                for key, value in thing.items():
                    if isinstance(value, datetime):
                        thing[key] = value - by
            elif isinstance(thing, list | tuple | set | frozenset):
                left += thing
            elif is_dataclass(thing) and not isinstance(thing, type):
                left += _aged_object(thing, by, seconds)


def _aged_object(thing: Any, by: timedelta, seconds: int) -> list[Any]:
    parts = vars_of(thing)
    for name, value in parts.items():
        if isinstance(value, datetime):
            object.__setattr__(thing, name, value - by)
        elif isinstance(value, str) and "<!-- lifecycle:" in value:
            object.__setattr__(thing, name, aged(value, seconds))
    return list(parts.values())


def vars_of(thing: Any) -> dict[str, Any]:
    """The fields of a dataclass's object, with or without slots."""
    return {f.name: getattr(thing, f.name) for f in fields(thing) if hasattr(thing, f.name)}
