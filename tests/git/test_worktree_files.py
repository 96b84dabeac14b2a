"""What is not committed, and what is left alone."""

from __future__ import annotations

import pytest

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.evidence.tree_hash import is_own
from lifecycle.git.process import GitRepository
from lifecycle.git.worktree_files import (
    Uncommitted,
    is_secret,
    opened,
    uncommitted,
)
from tests.run.run_ground import RunGround


def left(ground: RunGround, outputs: dict[str, str] | None = None) -> Uncommitted:
    """What is not committed there."""
    deadline = Deadline.after(SystemClock(), 30)
    return uncommitted(
        opened(GitRepository(ground.root, deadline, ground.environment)), is_own, outputs or {}
    )


def write(ground: RunGround, path: str, text: str = "x\n") -> None:
    """Write a file of the worktree."""
    file = ground.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        (".env", True),
        ("deploy/.env.production", True),
        (".env.example", False),
        ("prod.env", True),
        ("certs/server.PEM", True),
        ("id_ed25519", True),
        ("id_ed25519.pub", False),
        ("src/environment.py", False),
        ("docs/keys.md", False),
    ],
)
def test_files_with_secrets_are_known_by_their_names(path: str, answer: bool) -> None:
    """A sample of the form, and what only speaks of secrets, is none."""
    assert is_secret(path) is answer


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        (".agent-claim.json", True),
        (".lifecycle/state.json", True),
        (".claude/workflow-state.json", True),
        (".claude/settings.json", False),
        ("src/.lifecycle/x", False),
    ],
)
def test_our_own_files_are_known(path: str, answer: bool) -> None:
    """Where they lie at the worktree's top, and nowhere else."""
    assert is_own(path) is answer


def test_what_differs_from_the_last_commit_is_named(ground: RunGround) -> None:
    """Changed, staged, deleted and new files; spaces and non-ASCII letters are no obstacle."""
    for path in ("a.py", "gone.py", "same.py"):
        write(ground, path)
    ground.git("add", ".")
    ground.git("commit", "-qm", "Begin")
    write(ground, "a.py", "y\n")
    (ground.root / "gone.py").unlink()
    write(ground, "new \N{GREEK SMALL LETTER ALPHA} file.py")
    write(ground, "staged.py")
    ground.git("add", "staged.py")
    found = left(ground)
    assert found.paths == (
        "a.py",
        "gone.py",
        "new \N{GREEK SMALL LETTER ALPHA} file.py",
        "staged.py",
    )
    assert found.staged == ("staged.py",)


def test_a_repository_without_a_commit_has_all_uncommitted(ground: RunGround) -> None:
    """There is no commit to compare with."""
    write(ground, "a.py")
    assert left(ground).paths == ("a.py",)


def test_what_is_left_alone_does_not_count(ground: RunGround) -> None:
    """Ours, the client's new files, a whole repository inside, and secrets, which are named apart."""
    ground.begun()
    write(ground, ".claude/agents/analyst.md")
    write(ground, ".env")
    write(ground, ".lifecycle/other")
    ground.git("init", "--quiet", "inner")
    found = left(ground)
    assert found.paths == ()
    assert found.secrets == (".env",)
    assert found.strange == ()
    ground.git("add", "-f", ".env", ".lifecycle/other")
    assert set(left(ground).strange) == {".env", ".lifecycle/other"}


def test_what_a_check_left_counts_once_somebody_edits_it(ground: RunGround) -> None:
    """A report that a test run wrote is no work; the same file with other content is."""
    write(ground, "report.xml", "<a/>\n")
    name = ground.git("hash-object", "report.xml")
    assert left(ground, {"report.xml": name}).paths == ()
    write(ground, "report.xml", "<b/>\n")
    assert left(ground, {"report.xml": name}).paths == ("report.xml",)


def test_what_a_submodule_holds_inside_is_its_own_matter(ground: RunGround) -> None:
    """Another commit of it counts; a file inside does not, since no commit here could take it."""
    write(ground, "a.py")
    ground.git("add", ".")
    ground.git("commit", "-qm", "Begin")
    other = ground.root.parent / "other"
    ground.git("init", "-q", str(other))
    ground.git("-C", str(other), "commit", "-qm", "One", "--allow-empty")
    ground.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "lib")
    ground.git("commit", "-qm", "A module")
    write(ground, "lib/inside.py")
    assert left(ground).paths == ()
    ground.git("-C", "lib", "commit", "-qm", "Two", "--allow-empty")
    assert left(ground).paths == ("lib",)
