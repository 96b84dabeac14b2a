"""How two commits differ: with git itself."""

from __future__ import annotations

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git.commits import (
    added_lines,
    commit_at,
    head_of,
)
from lifecycle.git.process import GitRepository
from tests.run.run_ground import RunGround


def git_of(ground: RunGround) -> GitRepository:
    """Git in the worktree."""
    return GitRepository(ground.root, Deadline.after(SystemClock(), 30), ground.environment)


def commit(ground: RunGround, path: str, content: bytes) -> str:
    """Commit a file; returns the commit."""
    (ground.root / path).write_bytes(content)
    ground.git("add", "-A")
    ground.git("commit", "-qm", f"Write {path}")
    return ground.git("rev-parse", "HEAD")


def test_a_commit_is_known_by_any_name_of_it(ground: RunGround) -> None:
    """There is none before the first one, and none under a name that leads nowhere."""
    git = git_of(ground)
    assert head_of(git) == ""
    made = commit(ground, "a.py", b"one\n")
    assert (head_of(git), commit_at(git, made[:10])) == (made, made)
    assert commit_at(git, "f" * 40) == ""


def test_lines_that_came_are_told_with_their_file(ground: RunGround) -> None:
    """What went is not among them, what looks like a file's header is, what a carriage return parts is."""
    git = git_of(ground)
    first = commit(ground, "a.py", b"gone\n")
    last = commit(ground, "a.py", b"++ b/other.py\nleft\rright\n")
    assert list(added_lines(git, first, last)) == [
        ("a.py", ">++ b/other.py"),
        ("a.py", ">left"),
        ("a.py", "right"),
    ]
