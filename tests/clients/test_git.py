"""git itself, as people and tools use it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox
from tests.clients.git import Git, quiet

Clones = Callable[..., Git]


def test_a_clone_by_the_proxy_at_the_name_that_gh_gives_it(github: Sandbox, folder: Path) -> None:
    """`github.localhost` by way of the proxy is the same repository, with or without `.git`."""
    environment = quiet(folder) | {"http_proxy": github.info.api_url}
    for number, suffix in enumerate(("", ".git")):
        url = f"http://github.localhost/{github.info.repository}{suffix}"
        Git(folder, environment).run("clone", "-q", url, f"proxied-{number}")
        clone = Git(folder / f"proxied-{number}", environment)
        assert "def greet" in (clone.folder / "greeting.py").read_text()
        sha = clone.commit("proxied.txt", suffix or "none")
        url = url.replace("://", f"://x-access-token:{github.info.token}@")
        clone.run("push", "-q", url, f"HEAD:refs/heads/proxied-{number}")
        assert clone.remote()[f"refs/heads/proxied-{number}"] == sha


def test_a_shallow_clone_and_its_deepening(control: Control, clones: Clones) -> None:
    """`--depth 1` brings one commit; `--unshallow` the rest."""
    control.push_commit("main", {"deeper.txt": "one"}, "One more")
    shallow = clones("shallow", "--depth", "1", "--no-single-branch")
    assert shallow.run("rev-list", "--count", "HEAD") == "1"
    shallow.run("fetch", "-q", "--unshallow")
    assert int(shallow.run("rev-list", "--count", "HEAD")) > 1


def test_a_partial_clone_fetches_the_rest_when_it_is_needed(clones: Clones) -> None:
    """`--filter=blob:none` is taken, and a blob comes when somebody looks at it."""
    partial = clones("partial", "--filter=blob:none", "--no-checkout")
    absent = partial.run("rev-list", "--objects", "--missing=print", "HEAD")
    assert any(line.startswith("?") for line in absent.splitlines())
    assert "def greet" in partial.run("show", "HEAD:greeting.py")


def test_a_commit_can_be_fetched_by_its_sha(control: Control, clones: Clones) -> None:
    """Any commit that a ref reaches can be asked for by name, as CI does."""
    clone = clones("by-sha", "--depth", "1")
    sha = control.push_commit("by-sha", {"sha.txt": "1"}, "First")
    control.push_commit("by-sha", {"sha.txt": "2"}, "Second")
    clone.run("fetch", "-q", "--depth", "1", "origin", sha)
    assert clone.run("rev-parse", "FETCH_HEAD") == sha


def test_force_with_lease_is_taken_once_and_refused_when_stale(clones: Clones) -> None:
    """A rewritten branch replaces the one that its writer saw; not one that moved meanwhile."""
    mine, theirs = clones("mine"), clones("theirs")
    mine.run("switch", "-q", "-c", "leased")
    first = mine.commit("lease.txt", "1")
    mine.run("push", "-q", "-u", "origin", "leased")
    theirs.run("fetch", "-q", "origin", "leased")
    mine.run("commit", "-q", "--amend", "-m", "Rewritten")
    assert "rejected" in mine.refused("push", "origin", "leased")
    mine.run("push", "-q", "--force-with-lease=leased:" + first, "origin", "leased")
    rewritten = mine.run("rev-parse", "HEAD")
    assert mine.remote()["refs/heads/leased"] == rewritten
    theirs.run("switch", "-q", "-c", "leased", first)
    theirs.commit("lease.txt", "2")
    said = theirs.refused("push", "--force-with-lease=leased:" + first, "origin", "leased")
    assert "stale info" in said
    assert mine.remote()["refs/heads/leased"] == rewritten


def test_an_atomic_push_is_all_or_nothing(clones: Clones) -> None:
    """`--atomic` moves two refs, or none if one of them is refused."""
    clone, other = clones("atomic"), clones("atomic-other")
    sha = clone.commit("atomic.txt")
    clone.run("push", "-q", "--atomic", "origin", "HEAD:refs/heads/one", "HEAD:refs/heads/two")
    assert {clone.remote()[f"refs/heads/{name}"] for name in ("one", "two")} == {sha}
    other.commit("other.txt")
    said = other.refused("push", "--atomic", "origin", "HEAD:refs/heads/one", "HEAD:refs/heads/new")
    assert "rejected" in said
    assert "refs/heads/new" not in clone.remote()
    assert clone.remote()["refs/heads/one"] == sha


def test_the_head_of_a_pull_request_can_be_fetched_after_its_branch_is_gone(
    control: Control, clones: Clones
) -> None:
    """refs/pull/N/head follows the branch, outlives it, and cannot be pushed to."""
    clone = clones("pulls")
    clone.run("switch", "-q", "-c", "proposal")
    clone.commit("proposal.txt", "1")
    clone.run("push", "-q", "origin", "proposal")
    ref = f"refs/pull/{control.open_pull('proposal', 'Proposal')}/head"
    sha = clone.commit("proposal.txt", "2")
    clone.run("push", "-q", "origin", "proposal")
    clone.run("push", "-q", "origin", "--delete", "proposal")
    assert "refs/heads/proposal" not in clone.remote()
    clone.run("fetch", "-q", "origin", ref)
    assert clone.run("rev-parse", "FETCH_HEAD") == sha
    assert "hidden ref" in clone.refused("push", "--force", "origin", f"main:{ref}")


def test_a_custom_ref_is_created_once_moved_with_a_lease_and_deleted(clones: Clones) -> None:
    """refs/agent-claims/* : whoever expects no ref and finds one is refused."""
    clone, ref = clones("claims"), "refs/agent-claims/42"
    sha = clone.commit("claim.txt")
    clone.run("push", "-q", f"--force-with-lease={ref}:", "origin", f"HEAD:{ref}")
    rival = clones("rival")
    rival.commit("claim.txt", "mine")
    said = rival.refused("push", f"--force-with-lease={ref}:", "origin", f"HEAD:{ref}")
    assert "stale info" in said
    assert clone.remote()[ref] == sha
    clone.run("push", "-q", f"--force-with-lease={ref}:{sha}", "origin", f":{ref}")
    assert ref not in clone.remote()


def test_branches_and_tags_come_and_go(clones: Clones) -> None:
    """Annotated and light tags arrive, keep their place without force, and can be deleted."""
    clone = clones("tags")
    sha = clone.commit("tagged.txt")
    clone.run("tag", "light")
    clone.run("tag", "-a", "v1.0", "-m", "The first")
    clone.run("push", "-q", "origin", "HEAD:refs/heads/release", "light", "v1.0")
    assert clone.remote()["refs/tags/light"] == sha
    assert clone.remote()["refs/tags/v1.0^{}"] == sha
    clone.commit("tagged.txt", "again")
    clone.run("tag", "-f", "light")
    assert "already exists" in clone.refused("push", "origin", "light")
    clone.run("push", "-q", "origin", "--delete", "light", "release")
    assert not {"refs/tags/light", "refs/heads/release"} & clone.remote().keys()


def test_who_may_not_push_is_told_so(github: Sandbox, clones: Clones) -> None:
    """Without a token, and with a wrong one, git ends without asking a person."""
    clone = clones("stranger")
    clone.commit("stranger.txt")
    for secret in ("", "x-access-token:wrong@"):
        url = github.info.git_url.replace(f"x-access-token:{github.info.token}@", secret)
        said = clone.refused("push", url, "HEAD:refs/heads/stranger")
        assert "Authentication failed" in said or "could not read Username" in said
    assert "refs/heads/stranger" not in clone.remote()
