"""The prepared recovery: what a session would be told, and the fingerprint of every file it comes from.

Whoever changes a workflow prepares it (`preparing.py`), the hooks' quick path prints it if no file is other
than it was. It counts only beside the very HEAD that it was prepared beside: nothing that comes with a
repository can know when that was written here.

It is imported by the quick path, so it imports neither `pathlib` nor `typing` nor `dataclasses`.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH113, PTH116, PTH118

from __future__ import annotations

import json
import os
import stat

from lifecycle.storage import regular_files, workflow_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

NAME = "recovery.json"
"""The file in `.lifecycle/`."""

LIMIT = 2_000_000
"""Bytes of it."""

FORM = 1

CURRENT = ".claude/state/workflow.json"
VIEW = ".claude/workflow_state_system.md"
LOCAL = "CLAUDE.local.md"
FOLDERS = (".claude/state/workflows", "untracked/workflow-state", "CLAUDE/Plan")
"""Where further files of workflows lie, each folder with folders of its own."""

TICK_NS, WHOLE_NS, SECOND_NS = 50_000_000, 2_000_000_000, 1_000_000_000
"""A file that is younger may change again without a new date: its content is compared, too. The second
number is for file systems that keep dates in whole seconds."""

_NOTHING = [-1, -1, -1, None]


def has_documents(root: str) -> bool:
    """True if there is a workflow here, or a file that may be one's, by hand or by another program."""
    mark = os.path.join(root, workflow_marks.FOLDER, workflow_marks.WORKFLOW)
    if os.path.lexists(mark) or os.path.lexists(os.path.join(root, CURRENT)):
        return True
    names = (path.rpartition("/")[2] for path in _below(root, FOLDERS[1], 1))
    return any(name.startswith("state-") and name.endswith(".json") for name in names)


def head_of(root: str) -> list[int]:
    """What tells this worktree's HEAD from any other one; empty outside of git."""
    folder = os.path.join(root, ".git")
    try:
        if os.path.isfile(folder):
            found = regular_files.content(folder, limit=4096)
            line = os.fsdecode(found[0]) if found is not None else ""
            folder = os.path.join(root, line.partition("gitdir:")[2].strip())
        about = os.stat(os.path.join(folder, "HEAD"))
    except (OSError, ValueError):
        return []
    return [about.st_ino, about.st_mtime_ns, about.st_ctime_ns]


def watched(root: str) -> list[str]:
    """Every path whose change would change what is told, from the worktree's root."""
    return [
        CURRENT,
        VIEW,
        LOCAL,
        *(path for folder in FOLDERS for path in _below(root, folder, 1)),
    ]


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
    """Date, size and number of a file or folder, and a sum of a file's content if it is young."""
    whole = os.path.join(root, path)
    try:
        about = os.lstat(whole)
    except (OSError, ValueError):
        return list(_NOTHING)
    racy = TICK_NS if about.st_mtime_ns % SECOND_NS else WHOLE_NS
    is_young = stat.S_ISREG(about.st_mode) and now_ns - about.st_mtime_ns < racy
    return [about.st_mtime_ns, about.st_size, about.st_ino, _sum(whole) if is_young else None]


def _sum(path: str) -> int:
    try:
        found = regular_files.content(path)
    except OSError:
        return -1
    import binascii  # of a young file alone

    return -1 if found is None else binascii.crc32(found[0])


def is_as_it_was(root: str, files: dict[str, list[int | None]]) -> bool:
    """True if each of these files is what it was when the fingerprints were taken."""
    for path, (mtime_ns, size, number, crc) in files.items():
        try:
            about = os.lstat(f"{root}/{path}")
        except (OSError, ValueError):
            if mtime_ns != -1:
                return False
            continue
        if about.st_mtime_ns != mtime_ns or about.st_size != size or about.st_ino != number:
            return False
        if crc is not None and _sum(f"{root}/{path}") != crc:
            return False
    return True


def load(root: str, version: str) -> dict[str, Any] | None:
    """What was prepared, if this release prepared it here and no file changed since; else None."""
    try:
        found = regular_files.content(
            regular_files.below(root, workflow_marks.FOLDER, NAME), limit=LIMIT
        )
        data = json.loads(found[0]) if found is not None else None
        if not isinstance(data, dict) or data["form"] != [FORM, version]:
            return None
        head = head_of(root)
        is_ours = bool(head) and data["head"] == head
        return data if is_ours and is_as_it_was(root, data["files"]) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
