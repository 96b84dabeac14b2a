"""The prepared recovery: what sessions would be told, and the fingerprint of every file it comes from.

Each change of a workflow prepares it (`preparing.py`); the hooks' quick path prints it if no file changed
since. It is bound to the number and dates of a file in git's folder: nothing that comes with a repository
can know these.

An answer is prepared for each owner that workflows can have (session, client, branch): if an owner has
several, the message has the one that was changed last. `chosen` finds a session's answer.

It is imported by the quick path, so it imports neither `pathlib` nor `typing` nor `dataclasses`.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH116, PTH118

from __future__ import annotations

import json
import os

from lifecycle.storage import regular_files, workflow_marks
from lifecycle.workflow.nearest import rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

NAME = "recovery.json"
"""The file in `.lifecycle/`."""

LIMIT = 2_000_000
"""Bytes of it."""

FORM = 2

CURRENT = ".claude/state/workflow.json"
VIEW = ".claude/workflow_state_system.md"
LOCAL = "CLAUDE.local.md"
FOLDERS = (".claude/state/workflows", "untracked/workflow-state", "CLAUDE/Plan")
"""Folders in which further files of workflows lie, also in their subfolders."""

SOURCES = (LOCAL, FOLDERS[2])
"""Files that people keep, and that may tell of a workflow."""

_ANCHORS = ("commondir", "info/exclude", "config", "HEAD")
"""Files in a worktree's git folder; those that change least come first."""

_LONG = 1_000_000
"""How many bytes of a source are read; a larger source may say anything."""

TICK_NS, WHOLE_NS, SECOND_NS = 50_000_000, 2_000_000_000, 1_000_000_000
"""A file younger than this may change again without a new date: its content is compared, too. The second
number is for file systems that keep dates in whole seconds."""


def has_documents(root: str) -> bool:
    """True if there is a workflow here, or a file in which a person or another program may keep one."""
    mark = os.path.join(root, workflow_marks.FOLDER, workflow_marks.WORKFLOW)
    if os.path.lexists(mark) or os.path.lexists(os.path.join(root, CURRENT)):
        return True
    names = (path.rpartition("/")[2] for path in _below(root, FOLDERS[1], 1))
    return any(name.startswith("state-") and name.endswith(".json") for name in names)


def anchor_of(root: str) -> list[int]:
    """Number and dates of a file in git's folder, different in each worktree; [] outside of git."""
    try:
        folder = regular_files.git_folder(root)
    except OSError:
        return []
    for name in _ANCHORS if folder else ():
        try:
            about = os.stat(os.path.join(folder, name))
        except (OSError, ValueError):
            continue
        return [about.st_ino, about.st_mtime_ns, about.st_ctime_ns]
    return []


def watched(root: str) -> list[str]:
    """Every path whose change would change the message, from the worktree's root."""
    return [CURRENT, VIEW, LOCAL, *(path for folder in FOLDERS for path in _below(root, folder, 1))]


def _below(root: str, folder: str, deeper: int) -> Iterator[str]:
    """The folder, its entries, and those of the folders in it."""
    yield folder
    try:
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                path = f"{folder}/{entry.name}"
                if deeper and entry.is_dir(follow_symlinks=False):
                    yield from _below(root, path, deeper - 1)
                else:
                    yield path
    except OSError:
        return


def fingerprint(root: str, path: str, now_ns: int) -> list[int | None]:
    """Date, size and number of a file or folder, and a checksum of the content of a young file."""
    full_path = os.path.join(root, path)
    about = regular_files.version_of(full_path)
    racy = TICK_NS if about[0] % SECOND_NS else WHOLE_NS
    return [*about, _sum(full_path) if now_ns - about[0] < racy else None]


def _sum(path: str) -> int:
    """A checksum of a file's content; -1 for anything else."""
    try:
        file = regular_files.content(path)
    except OSError:
        return -1
    import binascii  # needed for young files only

    return -1 if file is None else binascii.crc32(file[0])


def changed(root: str, files: dict[str, list[int | None]]) -> Iterator[str]:
    """Those of these files that changed since their fingerprints were taken."""
    for path, (*about, crc) in files.items():
        full_path = f"{root}/{path}"
        is_same = regular_files.version_of(full_path) == about
        if not is_same or (crc is not None and _sum(full_path) != crc):
            yield path


def _is_as_it_was(root: str, data: dict[str, Any]) -> bool:
    """True if nothing relevant changed; people's notes that tell of no workflow are not relevant."""
    paths = [*changed(root, data["files"])]
    are_sources = not data["sources"] and all(path.startswith(SOURCES) for path in paths)
    return not paths or (are_sources and not _speaks(root))


def _speaks(root: str) -> bool:
    """True if a source may tell of a workflow; `sources` in `hooks/common` asks the same."""
    plans = (path for path in _below(root, SOURCES[1], 1) if path.endswith("/PLAN.md"))
    words = [(LOCAL, b"workflow state"), *((path, b"in progress") for path in plans)]
    return any(_has(os.path.join(root, path), word) for path, word in words)


def _has(path: str, word: bytes) -> bool:
    try:
        file = regular_files.content(path, limit=_LONG)
    except OSError:
        return True
    return file is not None and (len(file[0]) > _LONG or word in file[0].lower())


def load(root: str, version: str) -> dict[str, Any] | None:
    """What was prepared, if this release prepared it here and no file changed since; else None."""
    try:
        path = regular_files.below(root, workflow_marks.FOLDER, NAME)
        file = regular_files.content(path, limit=LIMIT)
        data = json.loads(file[0]) if file is not None else None
        if not isinstance(data, dict) or data["form"] != [FORM, version]:
            return None
        anchor = anchor_of(root)
        is_ours = bool(anchor) and data["anchor"] == anchor
        return data if is_ours and _is_as_it_was(root, data) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def chosen(
    data: dict[str, Any], notes: dict[str, workflow_marks.AdoptionNote], asker: workflow_marks.Whose
) -> dict[str, Any] | None:
    """The prepared answer for the asking session, or None if there is none.

    Args:
        data: what was prepared.
        notes: what was noted about workflows since then.
        asker: who asks.
    """
    ranked: list[tuple[int, int, dict[str, Any] | None]] = []
    for at, answer in enumerate(data["answers"]):
        note = notes.get(answer["id"])
        own = tuple(answer["whose"])
        ranked.append((rank(own if note is None else note[0], asker, _is_alive), at, answer))
        if note is not None:  # another workflow of the same owner may come next
            ranked.append((rank(own, asker, _is_alive), at, None))
    if notes.keys() - {entry["id"] for entry in data["answers"]}:
        return None
    near = [row for row in ranked if row[0]]
    if not near:
        return {"id": "", **data["none"]} if data["answers"] and data["none"] else None
    return min(near, key=lambda row: row[:2])[2]


def _is_alive(client: int) -> bool:
    # Imported only where it matters whether another session's client still lives.
    from lifecycle.storage import live_process

    return live_process.is_there(client)
