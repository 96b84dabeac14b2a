"""The composition root: which repository is which, and what is built when."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lifecycle.clock import SystemClock
from lifecycle.deadline import Deadline
from lifecycle.errors import BadConfig, NoToken
from lifecycle.wiring import World


def world(root: Path, **environment: str) -> World:
    """A world in a repository of its own."""
    return World(root, environment, SystemClock(), Deadline(SystemClock(), None), {})


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    """A clone of a fork: origin is the contributor's, upstream the project's."""
    for command in (
        ["init", "--quiet"],
        ["remote", "add", "origin", "git@github.com:contributor/hello.git"],
        ["remote", "add", "upstream", "https://github.com/octo-org/hello"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_base_repository_and_head_remote_are_separate(fork: Path) -> None:
    """Issues and PRs belong to the configured repository; heads are the fork owner's branches."""
    (fork / ".lifecycle.toml").write_text('repository = "octo-org/hello"\n')
    made = world(fork)
    assert str(made.base) == "octo-org/hello"
    assert made.head.owner == "contributor"


def test_without_configuration_both_are_the_remote(fork: Path) -> None:
    """origin is where branches go and where the issues are."""
    made = world(fork)
    assert str(made.base) == str(made.head) == "contributor/hello"


def test_the_branch_starts_from_the_base_repositorys_remote(fork: Path) -> None:
    """In a fork the fresh default branch is upstream's, not the fork's stale copy."""
    from lifecycle.claim.taking import _base_remote

    (fork / ".lifecycle.toml").write_text('repository = "octo-org/hello"\n')
    assert _base_remote(world(fork)) == "upstream"
    (fork / ".lifecycle.toml").unlink()
    assert _base_remote(world(fork)) == "origin"


def test_pushurl_decides_where_heads_are(fork: Path) -> None:
    """Fetch from upstream, push to the fork, in one remote."""
    subprocess.run(
        ["git", "remote", "set-url", "origin", "https://github.com/octo-org/hello"],
        cwd=fork,
        check=True,
    )
    subprocess.run(
        ["git", "remote", "set-url", "--push", "origin", "git@github.com:contributor/hello"],
        cwd=fork,
        check=True,
    )
    assert world(fork).head.owner == "contributor"


def test_no_token_is_refused_when_github_is_touched_and_not_before(fork: Path) -> None:
    """Building a world costs nothing; the sentence names both variables."""
    made = world(fork)
    with pytest.raises(NoToken, match="GH_TOKEN nor GITHUB_TOKEN"):
        made.forge.viewer()


def test_no_usable_remote_needs_a_configured_repository(fork: Path) -> None:
    """With repository set, a local path as origin still lets the API work."""
    subprocess.run(["git", "remote", "set-url", "origin", "/srv/hello.git"], cwd=fork, check=True)
    with pytest.raises(BadConfig):
        _ = world(fork).head
    (fork / ".lifecycle.toml").write_text('repository = "octo-org/hello"\n')
    assert str(world(fork).head) == "octo-org/hello"


def test_one_world_keeps_one_connection_of_each_kind(fork: Path) -> None:
    """Forge and board share the GraphQL client; closing what was never opened is nothing."""
    made = world(fork, GH_TOKEN="made-up-token", LIFECYCLE_PROJECT_NUMBER="1")
    assert made.board is made.board
    assert made.forge is made.forge
    made.close()
