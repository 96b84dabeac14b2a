"""Keeps the product's own files out of git, without touching the project's `.gitignore`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lifecycle.claim.file import CLAIM_FILE
from lifecycle.ports import Git
from lifecycle.store import FOLDER

OWN_LINES = (f"/{CLAIM_FILE}*", f"/{FOLDER}/")
"""The patterns of the product's own files, from the worktree's root."""


def exclude_own_files(git: Git, root: Path, lines: Sequence[str] = OWN_LINES) -> None:
    """Add the claim file and `.lifecycle/`, or these patterns, to the repository's `info/exclude`, once."""
    path = root / git.run("rev-parse", "--git-path", "info/exclude")
    text = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else ""
    missing = [line for line in lines if line not in text.splitlines()]
    if not missing:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    joint = "" if not text or text.endswith("\n") else "\n"
    addition = joint + "\n".join(missing) + "\n"
    with path.open("a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(addition)
