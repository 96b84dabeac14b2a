"""git as a process, and where a remote points."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.clock import SystemClock
from lifecycle.deadline import Deadline
from lifecycle.errors import BadConfig, GitFailed, Transient
from lifecycle.git import GitRepository, head_repository, parse_remote
from tests.conftest import Place


@pytest.mark.parametrize(
    ("url", "host", "name"),
    [
        ("https://github.com/octo-org/hello.git", "github.com", "octo-org/hello"),
        ("https://github.com/octo-org/hello", "github.com", "octo-org/hello"),
        ("https://github.com/octo-org/hello/", "github.com", "octo-org/hello"),
        (
            "https://x-access-token:tok@github.com/octo-org/hello.git",
            "github.com",
            "octo-org/hello",
        ),
        ("git@github.com:octo-org/hello.git", "github.com", "octo-org/hello"),
        ("github-work:octo-org/hello", "github-work", "octo-org/hello"),
        ("ssh://git@ssh.github.com:443/octo-org/hello.git", "ssh.github.com", "octo-org/hello"),
        ("http://127.0.0.1:8080/octo-org/hello.git", "127.0.0.1:8080", "octo-org/hello"),
        ("https://GitHub.com/Octo/hello.js.git", "github.com", "Octo/hello.js"),
    ],
)
def test_fault_8_every_form_of_a_remote_is_understood(url: str, host: str, name: str) -> None:
    """With or without .git, slash, credentials, port or scheme, the repository is the same."""
    remote = parse_remote(url)
    assert remote is not None
    assert (remote.host, str(remote.repository)) == (host, name)


@pytest.mark.parametrize(
    "url", ["/srv/git/hello.git", "../hello", "https://github.com/hello", "file:///x/y", "", "x"]
)
def test_fault_8_what_is_no_repository_on_a_host_is_none(url: str) -> None:
    """Never somebody else's repository as a fallback."""
    assert parse_remote(url) is None


@pytest.fixture
def git(tmp_path: Path) -> GitRepository:
    """An empty repository."""
    made = GitRepository(tmp_path, Deadline(SystemClock(), None))
    made.run("init", "--quiet")
    return made


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("https://gitlab.com/octo-org/hello", "https://api.github.com"),
        ("https://github.com/octo-org/hello", "https://ghes.example/api/v3"),
        ("http://127.0.0.1:1/octo-org/hello", "http://127.0.0.1:2"),
        ("/srv/git/hello.git", "https://api.github.com"),
    ],
)
def test_a_remote_on_another_host_is_refused(git: GitRepository, url: str, api: str) -> None:
    """owner/name on another host is another repository."""
    git.run("remote", "add", "origin", url)
    with pytest.raises(BadConfig):
        head_repository(git, "origin", api)


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("git@github-work:octo-org/hello.git", "https://api.github.com"),
        ("ssh://git@ssh.github.com:443/octo-org/hello.git", "https://api.github.com"),
        ("git@ghes.example:octo-org/hello.git", "https://ghes.example/api/v3"),
        ("https://octo.ghe.com/octo-org/hello.git", "https://api.octo.ghe.com"),
    ],
)
def test_aliases_and_enterprise_hosts_are_known(git: GitRepository, url: str, api: str) -> None:
    """An alias of ssh's config, GitHub's ssh host, an Enterprise server: all are the GitHub asked."""
    git.run("remote", "add", "origin", url)
    assert str(head_repository(git, "origin", api)) == "octo-org/hello"


def test_a_failure_is_gits_own_sentence_without_credentials(git: GitRepository) -> None:
    """The evidence is what git said last, and no password in a URL survives."""
    with pytest.raises(GitFailed) as failure:
        git.run("rev-parse", "--verify", "nothing-here")
    assert "fatal" in failure.value.evidence
    git.run("remote", "add", "origin", "http://user:hunter2secret@127.0.0.1:9/a/b.git")
    with pytest.raises(Transient) as lost:
        git.run("fetch", "origin")
    assert "hunter2secret" not in str(lost.value)


def test_a_hanging_remote_ends_with_the_deadline(place: Place) -> None:
    """git and what it started are ended; the answer is "nobody knows"."""
    from lifecycle.sandbox.faults import Fault

    place.control.add_fault(Fault("hang", path=r"info/refs$"))
    git = GitRepository(place.root, Deadline.after(SystemClock(), 0.7))
    with pytest.raises(Transient) as late:
        git.run("ls-remote", "origin")
    assert late.value.is_ambiguous


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"])
def test_a_git_hooks_environment_does_not_lead_elsewhere(
    place: Place, tmp_path: Path, name: str
) -> None:
    """Run from a hook of git's own, or `rebase --exec`: ours serves our worktree all the same."""
    other = tmp_path / "other"
    GitRepository(tmp_path, Deadline(SystemClock(), None)).run("init", "--quiet", str(other))
    world = place.tree(**{name: str(other / ".git")}).world
    assert world.git.current_branch() == "main"
    assert world.head.name == "hello-service"


@pytest.mark.parametrize(
    "words",
    [
        "ssh: connect to host github.com port 22: Network is unreachable",
        "ssh: connect to host github.com port 22: No route to host",
        "kex_exchange_identification: Connection closed by remote host",
        "fatal: unable to access 'https://github.com/a/hello-403/': Could not resolve host",
        "fatal: unable to access 'x': Failed to connect to github.com port 443 after 403 ms",
    ],
)
def test_what_cannot_be_reached_is_transient(words: str) -> None:
    """However the number 403 gets into the words: nobody answered, so nobody said no."""
    from lifecycle.git import _refuse

    with pytest.raises(Transient) as lost:
        _refuse(("-c", "user.name=x", "push"), f"{words}\nfatal: Could not read from remote\n")
    assert "git push could not reach the remote" in lost.value.sentence
    assert words.split(":", maxsplit=1)[0] in lost.value.sentence


def test_a_403_is_an_answer() -> None:
    """The server knows us, and says no."""
    from lifecycle.git import _refuse

    words = (
        "fatal: unable to access 'https://github.com/a/b/': The requested URL returned error: 403"
    )
    with pytest.raises(GitFailed):
        _refuse(("push",), words)


def test_branches_and_heads(place: Place) -> None:
    """Reading refs needs no network, and a detached HEAD is on no branch."""
    git = GitRepository(place.root, Deadline(SystemClock(), None))
    assert git.current_branch() == "main"
    assert git.head_of("main") == git.remote_head_of("main")
    assert git.head_of("nothing") is None
    git.run("switch", "--quiet", "--detach")
    assert git.current_branch() is None
