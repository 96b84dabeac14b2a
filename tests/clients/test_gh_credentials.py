"""gh's credential helper, which reads the token of our environment on git's behalf."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.core.errors import GitFailed
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git.process import GitRepository
from tests.clients.gh import Gh

HELPER = """!as_https() {
    sed 's/^protocol=http$/protocol=https/' | gh auth git-credential "$1" | grep -v '^protocol='
}; as_https"""
"""gh answers for https alone, and the embedded GitHub is http."""


@pytest.fixture
def git(gh: Gh) -> GitRepository:
    """A clone whose remote has no credentials in its URL, and whose git asks gh for them."""
    made = GitRepository(gh.folder, Deadline.after(SystemClock(), 30.0), gh.environment)
    made.run("config", "--replace-all", "credential.helper", HELPER)
    return made


def test_a_push_to_a_server_finds_the_token_by_gh(git: GitRepository, gh: Gh) -> None:
    """`gh auth git-credential` sees GH_TOKEN, though other children of ours do not."""
    ref = "refs/heads/by-the-helper"
    git.run("push", "origin", f"HEAD:{ref}", remote="origin")
    assert ref in git.run("ls-remote", "origin", ref, remote="origin")
    assert (gh.environment["GH_TOKEN"]) not in git.run("config", "--list")


def test_without_the_token_nothing_is_pushed(git: GitRepository) -> None:
    """The helper has nothing else to give, so it was the token of the environment that counted."""
    with pytest.raises(GitFailed):
        git.run("push", "origin", "HEAD:refs/heads/not-by-the-helper")


def test_a_path_gets_no_token_by_gh(git: GitRepository, gh: Gh, tmp_path: Path) -> None:
    """To a remote on this machine git goes without: its hook finds none."""
    seen, there = tmp_path / "seen", tmp_path / "there.git"
    git.run("init", "--quiet", "--bare", str(there))
    hook = there / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nenv > '{seen}'\n")
    hook.chmod(0o755)
    git.run("remote", "add", "here", str(there))
    git.run("push", "here", "HEAD:refs/heads/main", remote="here")
    assert "GH_HOST=" in seen.read_text()
    assert gh.environment["GH_TOKEN"] not in seen.read_text()
