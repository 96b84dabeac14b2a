"""Working from a fork: the issue is upstream's, the branch and the lease are the fork's."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from lifecycle.api import Wake
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed import default_seed
from lifecycle.sandbox.seed.form import SeedRepository, SeedToken, SeedUser
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from tests.cli.outcome import ok
from tests.clones import clone
from tests.conftest import Place, environment_of

BASE = "octo-org/hello-service"
FORK = "octocat/hello-service"


READER = "owner-of-the-fork-0123456789"


@pytest.fixture
def fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A clone of octocat's fork, whose issues and pull requests are upstream's."""
    seed = default_seed()
    seed = replace(seed, repositories=[*seed.repositories, SeedRepository(name=FORK, fork_of=BASE)])
    with Sandbox(seed) as sandbox:
        yield _cloned(sandbox.info, FORK, tmp_path / "clone", monkeypatch)


@pytest.fixture
def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A clone of the fork of bob, who may only read upstream."""
    seed, name = default_seed(), "bob/hello-service"
    seed = replace(
        seed,
        users=[*seed.users, SeedUser("bob", role="read")],
        tokens=[*seed.tokens, SeedToken(READER, "bob", ["repo", "project"])],
        repositories=[*seed.repositories, SeedRepository(name=name, fork_of=BASE)],
    )
    with Sandbox(seed) as sandbox:
        info = sandbox.info
        url = info.git_url.replace(info.token, READER)
        info = dataclasses.replace(info, token=READER, git_url=url)
        yield _cloned(info, name, tmp_path / "clone", monkeypatch)


def _cloned(info: SandboxInfo, whose: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A clone of a fork, with upstream's issues and pull requests."""
    environment = {**environment_of(info, root), "LIFECYCLE_REPOSITORY": BASE}
    for name, value in environment.items():
        if name.startswith("GIT_"):
            monkeypatch.setenv(name, value)
    url = info.git_url.replace(BASE, whose)
    clone(url, root, environment)
    return Place(info, Control(info.control_url), root, environment)


@pytest.mark.soak("cli/test_fork.py::test_a_pull_request_from_a_fork_is_opened_and_found_upstream")
def test_a_claim_from_a_fork_says_whom_its_lease_binds(fork: Place) -> None:
    """The lease is pushed to the fork, where nobody else looks: the claim stands, and says so."""
    said = ok(fork.cli("claim", "42"))
    assert f"The lease is in the fork {FORK}" in said
    assert f"others that work on {BASE}" in said
    assert "refs/agent-claims/42" in fork.control.at(FORK).world()["refs"]
    assert "refs/agent-claims/42" not in fork.control.world()["refs"]


def test_a_pull_request_from_a_fork_is_opened_and_found_upstream(fork: Place) -> None:
    """Head owner and base owner differ from the claim to the merge."""
    ok(fork.cli("claim", "42"))
    fork.work(fork.claim()["branch"], push=False)
    ok(fork.cli("handoff", "--summary", "Fix race condition"))
    fork.tree().tick(Wake.STOP)
    number = fork.claim()["pr_number"]
    branch = fork.claim()["branch"]
    assert fork.pulls()[number]["head"] == branch
    assert f"refs/heads/{branch}" not in fork.control.world()["refs"], "it is the fork's branch"
    fork.control.merge_pull(number)
    fork.clock.sleep(130)
    fork.tree().tick(Wake.IDLE)
    assert fork.claim()["phase"] == "merged_detected"


@pytest.mark.soak("cli/test_fork.py::test_a_pull_request_from_a_fork_is_opened_and_found_upstream")
def test_a_branch_of_that_name_upstream_is_somebody_elses(fork: Place) -> None:
    """Another pull request whose head has the same name, and another owner, is not adopted."""
    ok(fork.cli("claim", "42"))
    branch = fork.claim()["branch"]
    fork.control.push_commit(branch, {"theirs.txt": "x"}, "Theirs")
    theirs = fork.control.open_pull(branch, "Theirs")
    fork.work(branch, push=False)
    ok(fork.cli("handoff", "--summary", "Fix race condition"))
    fork.tree().tick(Wake.STOP)
    assert fork.claim()["pr_number"] not in (None, theirs)
    assert len(fork.pulls()) == 2


def test_who_may_not_close_the_issue_ends_the_claim_and_says_nothing_of_completion(
    readers: Place,
) -> None:
    """A contributor's yes after the merge: the issue is left open and without a comment for who may."""
    ok(readers.cli("claim", "42"))
    readers.work(readers.claim()["branch"], push=False)
    ok(readers.cli("handoff", "--summary", "Fix race condition"))
    readers.tree().tick(Wake.STOP)
    readers.control.merge_pull(readers.claim()["pr_number"])
    closed = ok(readers.cli("close"))
    assert "Issue #42 stays open, since this account may not close it" in closed
    assert not (readers.root / ".agent-claim.json").exists()
    issue = readers.issue()
    assert (issue["state"], issue["comments"]) == ("open", [])


@pytest.mark.soak(
    "cli/test_fork.py::test_who_may_not_close_the_issue_ends_the_claim_and_says_nothing_of_completion",
    "claim/test_consent.py::test_auto_takes_no_closing_upon_itself_that_was_githubs",
)
def test_settings_that_close_say_nothing_of_a_closing_that_is_not_ours(readers: Place) -> None:
    """A contributor's close = "auto": one truth at the merge, no word upstream, and the claim ends."""
    (readers.root / ".lifecycle.toml").write_text('close = "auto"\n')
    ok(readers.cli("claim", "42"))
    readers.work(readers.claim()["branch"], push=False)
    ok(readers.cli("handoff", "--summary", "Fix race condition"))
    readers.tree().tick(Wake.STOP)
    readers.control.merge_pull(readers.claim()["pr_number"])
    said = ok(readers.cli("tick"))
    assert "is closed now" not in said
    assert "Issue #42 stays open, since this account may not close it" in said
    issue = readers.issue()
    assert (issue["state"], issue["comments"]) == ("open", [])
