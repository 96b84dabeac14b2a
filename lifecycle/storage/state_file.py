"""`.lifecycle/state.json`: what one worktree remembers, by section, as one wake reads and writes it.

The file is the product's alone. It is read at the start of a wake and replaced as a whole under the lock.
Everything in it can be learned again from the claim file and from GitHub, so an unreadable one is set
aside and begun anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, TypedDict

from lifecycle.storage import regular_files
from lifecycle.storage.store import STATE, Folder, set_aside

STATE_VERSION = 2
"""Version 1 had a claim's record without sections; `claim/record/state.py` reads it still."""

_READABLE = (1, STATE_VERSION)

ACCESS: Final = "access"
CLAIMING: Final = "claiming"
LINKING: Final = "linking"
NOTED: Final = "noted"
PENDING: Final = "linked_undone"


class QueuedNotice(TypedDict):
    """A notice that waits: its key, its text, and its audience (by the name that the file has for it)."""

    key: str
    text: str
    tone: str


class SaidNotice(TypedDict, total=False):
    """When a notice was queued and first offered, where, and to which session."""

    at: float
    stands: bool
    offered: float
    channel: str
    session: str


class StateSections(TypedDict, total=False):
    """The sections of state.json. Records of the claim system are kept as JSON; their owners read them.

    Attributes:
        record: the claim's record (`claim/record/state.py`).
        archive: records of earlier claims of this worktree, by issue and branch.
        cache: ids that GitHub's adapters look up once (`ports.Cache`).
        said, queue: the ledger of notices (`storage/ledger.py`).
        access: with which token something was refused, as `World.access` tells tokens apart.
        claiming: the claim that was begun and is neither made nor given back.
        linking: the linked task that was begun to be claimed.
        linked_undone: writes to linked tasks that are still to be made.
        noted: the phase that the journal has, and how many moves.
        started: the last start of a session that was answered.
    """

    version: int
    record: dict[str, Any]
    archive: dict[str, dict[str, Any]]
    cache: dict[str, object]
    said: dict[str, SaidNotice]
    queue: list[QueuedNotice]
    access: str
    claiming: dict[str, Any]
    linking: dict[str, Any]
    linked_undone: list[dict[str, Any]]
    noted: dict[str, Any]
    started: dict[str, Any]


_SHAPE: dict[str, type] = {"said": dict, "queue": list, "cache": dict, "archive": dict}
"""What the sections are that everybody reads; those of the claim system have readers of their own."""


class MemoryCache:
    """Fits `ports.Cache` where nothing is kept: ids are looked up once for each process."""

    def __init__(self) -> None:
        self._values: dict[str, object] = {}

    def get(self, key: str) -> object | None:
        """What was put there, or None."""
        return self._values.get(key)

    def put(self, key: str, value: object) -> None:
        """Remember a JSON value; None forgets it."""
        self._values[key] = value


class StateFile:
    """state.json as it was read last; fits `ports.Cache` as well.

    One object serves a whole wake: the claim store, the ledger and GitHub's adapters hold it, so that
    each sees what the last `reload` read.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.content: StateSections = {}
        self._saved: bytes | None = None
        self._read_as: bytes | None = None

    def reload(self, *, repair: bool = True) -> StateSections:
        """Read the file anew; empty if there is none, or if it is unreadable (set aside if `repair`).

        Raises:
            StrangeFileError: something else than a regular file lies there.
        """
        self._saved, self._read_as = None, self._bytes()
        state = _parsed(self._read_as) if self._read_as is not None else {}
        if state is None and repair:
            set_aside(Path(self.folder.at(STATE)), "unreadable")
        self.content = state or {}
        return self.content

    @property
    def is_current(self) -> bool:
        """True if the file holds what the last `reload` read; raises StrangeFileError."""
        return self._bytes() == self._read_as

    @property
    def has_linked_work(self) -> bool:
        """True if a claim or a taking that is over left something to do for a linked task."""
        return bool(self.content.get(LINKING) or self.content.get(PENDING))

    def save(self) -> None:
        """Replace the file by what is in memory; nothing is written if that is what was saved last."""
        text = json.dumps({**self.content, "version": STATE_VERSION}, indent=1)
        content = text.encode("ascii") + b"\n"
        if content != self._saved:
            self.folder.make()
            self.folder.write(STATE, content)
        self._saved = content

    def get(self, key: str) -> object | None:
        """What was put into the cache, or None."""
        return self.content.get("cache", {}).get(key)

    def put(self, key: str, value: object) -> None:
        """Remember a JSON value in the cache, durable at the next `save`; None forgets it."""
        self.content.setdefault("cache", {})[key] = value

    def _bytes(self) -> bytes | None:
        path = self.folder.at(STATE)
        what = regular_files.strange(path)
        if what:  # a folder too: what is learned could not be kept
            raise regular_files.StrangeFileError(path, what)
        found = regular_files.content(path)
        return found[0] if found is not None else None


def _parsed(content: bytes) -> StateSections | None:
    """The sections, or None for what is no state of this version."""
    if len(content) > regular_files.LIMIT:
        return None
    try:
        state = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(state, dict) or state.get("version") not in _READABLE:
        return None
    is_whole = all(isinstance(state.get(key, kind()), kind) for key, kind in _SHAPE.items())
    sections: StateSections = state  # type: ignore[assignment] # JSON; each section's owner checks its own
    return sections if is_whole else None
