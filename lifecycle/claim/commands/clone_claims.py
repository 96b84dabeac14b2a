"""The worktrees of this clone, and which claim each holds."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import ClaimRefused
from lifecycle.core.ports import Git


@dataclass(frozen=True, slots=True)
class ListedWorktree:
    """One worktree, as git lists it; `branch` is empty if HEAD is on none, `lock` says why."""

    path: Path
    branch: str = ""
    lock: str | None = None


def list_places(git: Git) -> list[ListedWorktree]:
    """Every worktree of this repository, the main one first."""
    places = []
    for block in git.run("worktree", "list", "--porcelain").split("\n\n"):
        fields = dict(line.partition(" ")[::2] for line in block.splitlines())
        branch = fields.get("branch", "").removeprefix("refs/heads/")
        places.append(ListedWorktree(Path(fields["worktree"]), branch, fields.get("locked")))
    return places


def record_in(root: Path) -> Record | None:
    """The claim of a worktree, or None if it has none that can be read."""
    from lifecycle.core.timing import SystemClock

    try:
        return ClaimStore(root, SystemClock()).load(repair=False).record
    except (ClaimRefused, OSError):
        return None  # whose it is cannot be told; its own commands say what is wrong with it


def claimed(root: Path) -> int | None:
    """The issue that a worktree's claim is for, or None."""
    record = record_in(root)
    return record.claim.issue_number if record is not None else None


def quoted(path: Path) -> str:
    """The path for a shell, always in quotes: a line that somebody copies."""
    text = shlex.quote(str(path))
    return text if text.startswith("'") else f"'{text}'"
