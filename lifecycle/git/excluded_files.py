"""Keeps the product's own files out of git, without touching the project's `.gitignore`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lifecycle.storage.store import CLAIM_FILE, FOLDER, common_folder

OWN_LINES = (f"/{CLAIM_FILE}*", f"/{FOLDER}/")
"""The patterns of the product's own files, from the worktree's root."""


def exclude_own_files(root: Path, lines: Sequence[str] = OWN_LINES) -> None:
    """Add the claim file and `.lifecycle/`, or these patterns, to the repository's `info/exclude`, once.

    All worktrees of a clone share that file (https://git-scm.com/docs/gitrepository-layout). Outside of
    git there is nothing to keep them out of.

    Raises:
        OSError: it cannot be read or written.
    """
    common = common_folder(root)
    if common is None:
        return
    path = common / "info" / "exclude"
    text = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else ""
    missing = [line for line in lines if line not in text.splitlines()]
    if not missing:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    joint = "" if not text or text.endswith("\n") else "\n"
    addition = joint + "\n".join(missing) + "\n"
    with path.open("a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(addition)
