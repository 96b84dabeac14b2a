"""The bare repository: its own git, nobody's configuration, refs that move by comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lifecycle.sandbox.base.errors import ActionRefused, SandboxError
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.git.store.importing import commit_files
from lifecycle.sandbox.git.store.merges import Merge, merge
from lifecycle.sandbox.git.store.repository import BareRepository, Signature

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repo(tmp_path: Path) -> BareRepository:
    """A repository with one commit on main."""
    made = BareRepository(tmp_path / "world" / "r.git", default_branch="main")
    commit_files(made, "main", {"a.txt": "1"}, "First", ada(), parent=None)
    return made


def ada() -> Signature:
    """Who commits here."""
    return Signature("Ada", "ada@example.com", now())


def test_old_git_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git without `merge-tree --write-tree` is named with what is needed."""
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho git version 2.37.9\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent))
    with pytest.raises(SandboxError, match=r"git 2\.38 or later and found 2\.37\.9"):
        BareRepository(tmp_path / "r.git", default_branch="main")


def test_the_users_git_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repo: BareRepository
) -> None:
    """Neither a global configuration nor GIT_* variables reach the sandbox's git."""
    (tmp_path / "config").write_text("[user]\n\tname = Eve\n[commit]\n\tgpgSign = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Eve")
    sha = commit_files(repo, "main", {"b": "2"}, "Second", ada(), parent=repo.resolve("main"))
    assert repo.text("show", "--no-patch", "--format=%an", sha) == "Ada"
    assert repo.run("config", "user.name").returncode == 1


def test_refs_move_by_comparison(repo: BareRepository) -> None:
    """A ref that is no longer what one thought stays where it is."""
    first = repo.refs()["refs/heads/main"]
    second = commit_files(repo, "main", {"b": "2"}, "Second", ada(), parent=first)
    with pytest.raises(ActionRefused, match="update-ref"):
        repo.update("refs/heads/main", first, first)
    with pytest.raises(ActionRefused, match="update-ref"):
        repo.update("refs/heads/main", first, None)
    assert repo.refs()["refs/heads/main"] == second


def test_a_merge_into_a_base_that_moved_is_refused(repo: BareRepository) -> None:
    """What was pushed in between is not lost."""
    first = repo.refs()["refs/heads/main"]
    head = commit_files(repo, "work", {"w": "w"}, "Work", ada(), parent=first)
    moved = commit_files(repo, "main", {"b": "2"}, "Second", ada(), parent=first)
    stale = Merge("main", first, head, "Merge", "", ada(), ada())
    for method in ("merge", "squash", "rebase"):
        with pytest.raises(ActionRefused):
            merge(repo, stale, method)
    assert repo.refs()["refs/heads/main"] == moved


def test_names_of_commits(repo: BareRepository) -> None:
    """A branch, a sha and nothing else are names; an option is not one."""
    sha = repo.refs()["refs/heads/main"]
    assert {repo.resolve("main"), repo.resolve(sha), repo.resolve(sha[:8])} == {sha}
    assert repo.resolve("nowhere") is None
    assert repo.resolve("--all") is None
