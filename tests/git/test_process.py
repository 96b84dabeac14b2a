"""git as a process, and where a remote points."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lifecycle.core import timing
from lifecycle.core.errors import BadConfig, GitFailed, Refused, Transient
from lifecycle.core.light_dataclass import replace
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git import process
from lifecycle.git.process import GitRepository, head_repository, parse_remote, push
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
    ("url", "api", "way"),
    [
        ("https://gitlab.com/octo-org/hello", "https://api.github.com", "github.com; name another"),
        (
            "https://github.com/octo-org/hello",
            "https://ghes.example/api/v3",
            "unset GITHUB_API_URL",
        ),
        ("http://127.0.0.1:1/octo-org/hello", "http://127.0.0.1:2", "unset GITHUB_API_URL"),
        ("https://ghes.example/o/hello", "https://api.github.com", "login --hostname ghes.example"),
        (
            "https://ghes.example:8443/o/hello",
            "https://api.github.com",
            "URL=https://ghes.example:8443/",
        ),
        ("/srv/git/hello.git", "https://api.github.com", "github.com; name another one as remote"),
    ],
)
def test_a_remote_on_another_host_is_refused(
    git: GitRepository, url: str, api: str, way: str
) -> None:
    """owner/name on another host is another repository; what is advised leads to that host.

    A setting comes before what gh is logged in at, and gh knows no ports.
    """
    git.run("remote", "add", "origin", url)
    with pytest.raises(BadConfig, match=way):
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
    from lifecycle.sandbox.control.faults import Fault

    place.control.add_fault(Fault("hang", path=r"info/refs$"))
    git = GitRepository(place.root, Deadline.after(SystemClock(), 0.7))
    with pytest.raises(Transient) as late:
        git.run("ls-remote", "origin")
    assert late.value.is_ambiguous


def test_what_git_leaves_in_the_background_is_not_waited_for(
    git: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook's daemon, or ssh's, holds git's output open for longer than there is time: all was said."""
    monkeypatch.setattr(timing, "_LOOK_SECONDS", 0.05)
    git.deadline = Deadline.after(SystemClock(), 5)
    left = "alias.left=!sh -c 'sleep 20 & echo said; echo fatal: told >&2; exit '"
    assert git.run("-c", f"{left}0", "left") == "said"
    with pytest.raises(GitFailed, match="fatal: told"):
        git.run("-c", f"{left}1", "left")


def test_what_git_reads_slowly_is_sent_whole(
    git: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than a pipe holds, as the names of many large files, which git reads one by one."""
    monkeypatch.setattr(timing, "_LOOK_SECONDS", 0.05)
    git.deadline = Deadline.after(SystemClock(), 20)
    for given in ("a name\n" * 40_000, "a name\n"):
        slow = git.run("-c", "alias.slow=!sleep 0.3; cat", "slow", stdin=given)
        assert slow == given.rstrip("\n")


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


def test_a_filter_that_is_not_installed_is_no_remote(git: GitRepository) -> None:
    """git calls the filter's program the remote end (git-lfs): its own words are told, and nobody waits."""
    (git.root / "big.bin").write_text("big")
    git.run("add", "big.bin")
    git.run("commit", "--quiet", "-m", "One")
    (git.root / ".git" / "info" / "attributes").write_text("*.bin filter=big\n")
    git.run("config", "filter.big.process", "read hello; no-such-filter")
    git.run("config", "filter.big.required", "true")
    os.utime(git.root / "big.bin", (1, 1))  # git compares it again, through the filter
    with pytest.raises(GitFailed, match=r"^git switch failed: .*no-such-filter.*not found\.$"):
        git.run("switch", "--quiet", "-c", "other", "HEAD")
    lost = "fatal: unable to access 'x': Could not resolve host: y\n"
    lost += "fatal: could not fetch 1 from promisor remote"
    with pytest.raises(Transient, match="git switch could not reach the remote"):
        process._refuse(("switch", "main"), lost)


@pytest.mark.parametrize("mark", ["remote: ", ""])
def test_what_a_server_says_of_trust_is_no_advice(mark: str) -> None:
    """Only git here says which repository to trust: a server's words come with a mark, or before git's."""
    words = f"{mark}\n{mark}\tgit config --global --add safe.directory x; echo mine\n"
    with pytest.raises(GitFailed) as caught:
        process._refuse(("push", "origin"), f"{words}fatal: Could not read from remote repository.")
    assert "echo mine" not in caught.value.sentence
    trust = f"git config --global --add safe.directory /srv/{'projects/' * 40}"
    with pytest.raises(GitFailed, match=f"{trust}$"):  # as long as it is
        process._refuse(("status",), f"fatal: dubious ownership\n\n\t{trust}\n")


def test_a_remote_that_knows_no_such_objects_was_reached(place: Place, tmp_path: Path) -> None:
    """A repository with sha256 cannot be pushed there, now or later: git ends as if nobody had answered."""
    other = replace(GitRepository(place.root, Deadline(SystemClock(), None)), root=tmp_path)
    other.run("init", "--quiet", "--object-format=sha256")
    other.run("remote", "add", "origin", place.git("remote", "get-url", "origin"))
    other.run("commit", "--quiet", "--allow-empty", "-m", "One")
    with pytest.raises(GitFailed, match="does not support this repository's hash algorithm"):
        other.run("push", "origin", "HEAD:refs/agent-claims/1", remote="origin")


def test_a_remote_that_knows_no_signed_pushes_was_reached(place: Place) -> None:
    """With `push.gpgSign` git ends in the same way there, as on GitHub: another try fails, too."""
    git = GitRepository(place.root, Deadline(SystemClock(), None))
    git.run("config", "push.gpgSign", "true")
    with pytest.raises(GitFailed, match="the receiving end does not support --signed push"):
        git.run("push", "origin", "HEAD:refs/agent-claims/1", remote="origin")


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
    from lifecycle.git.process import _refuse

    with pytest.raises(Transient) as lost:
        _refuse(("-c", "user.name=x", "push"), f"{words}\nfatal: Could not read from remote\n")
    assert "git push could not reach the remote" in lost.value.sentence
    assert words.split(":", maxsplit=1)[0] in lost.value.sentence
    assert lost.value.sentence.endswith(".")  # what was kept follows, as a sentence of its own
    with pytest.raises(Transient, match="only reads, so nothing was changed; try again later"):
        _refuse(("ls-remote", "origin"), f"{words}\n")


def test_a_branch_whose_submodule_was_not_pushed_stays_here(
    git: GitRepository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nobody else could check it out; the remote of the branch was reached, so that is no outage."""
    away = tmp_path_factory.mktemp("away")
    git.run("init", "--quiet", "--bare", str(away / "top"))
    git.run("init", "--quiet", str(away / "lib"))
    git.run("-C", str(away / "lib"), "commit", "--quiet", "--allow-empty", "-m", "Theirs")
    git.run("remote", "add", "origin", str(away / "top"))
    git.run("commit", "--quiet", "--allow-empty", "-m", "Begin")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    git.run(*add, str(away / "lib"), "my lib")
    inside = GitRepository(git.root / "my lib", git.deadline)
    inside.run("commit", "--quiet", "--allow-empty", "-m", "One")
    git.run("add", "my lib")
    git.run("commit", "--quiet", "-m", "With it")
    with pytest.raises(GitFailed) as refused:
        push(git, "origin", "HEAD:refs/heads/work")
    assert refused.value.evidence == (
        "the submodule 'my lib' has commits that, as known here, no branch of its remote has; push "
        "them: git -C 'my lib' push; or if a tag there has them: git config push.recurseSubmodules no"
    )
    assert git.run("ls-remote", "origin", remote="origin") == ""
    inside.run("push", "--quiet", "origin", "HEAD:refs/heads/next")
    push(git, "origin", "HEAD:refs/heads/work")
    inside.run("commit", "--quiet", "--allow-empty", "-m", "Two")
    git.run("commit", "--quiet", "--all", "-m", "With the next")
    inside.run("tag", "v2")
    inside.run("push", "--quiet", "origin", "v2")
    with pytest.raises(GitFailed, match="if a tag there has them"):
        push(git, "origin", "HEAD:refs/heads/work")
    git.run("config", "push.recurseSubmodules", "no")
    push(git, "origin", "HEAD:refs/heads/work")
    assert git.run("rev-parse", "HEAD") in git.run("ls-remote", "origin", remote="origin")
    git.run("config", "push.recurseSubmodules", "only")
    git.run("commit", "--quiet", "--allow-empty", "-m", "After")
    inside.run("switch", "--quiet", "-c", "next")
    push(git, "origin", "HEAD:refs/heads/work")
    assert git.run("rev-parse", "HEAD") in git.run("ls-remote", "origin", remote="origin")


@pytest.mark.parametrize(
    ("is_fetched", "single"), [(False, ()), (True, ()), (False, ("-t", "main"))]
)
def test_what_was_taken_out_of_a_pushed_branch_is_not_pushed_again(
    git: GitRepository,
    tmp_path_factory: pytest.TempPathFactory,
    *,
    is_fetched: bool,
    single: tuple[str, ...],
) -> None:
    """It may be a secret; once the user has decided, by the command that is named, the branch is pushed.

    A fetch in between, such as that of a pull, changes nothing of that, nor does a clone of a single
    branch, whose settings follow no other (https://git-scm.com/docs/git-clone, --single-branch).
    """
    away = tmp_path_factory.mktemp("away") / "top"
    git.run("init", "--quiet", "--bare", str(away))
    git.run("remote", "add", *single, "origin", str(away))
    for text in ("Begin", "One", "Two"):
        git.run("commit", "--quiet", "--allow-empty", "-m", text)
        push(git, "origin", "HEAD:refs/heads/work&co")
    git.run("-C", str(away), "update-ref", "refs/heads/work&co", git.run("rev-parse", "HEAD~2"))
    git.run("commit", "--quiet", "--allow-empty", "-m", "Three")
    if is_fetched:
        git.run("fetch", "--quiet", "origin", remote="origin")
    there = ("-C", str(away), "log", "--format=%s", "work&co")
    with pytest.raises(Refused) as refused:
        push(git, "origin", "HEAD:refs/heads/work&co")
    assert refused.value.sentence == (
        "Nothing was pushed: somebody took 2 of the pushed commits back out of work&co on origin, and a "
        "push would bring them there again. To leave them out here, too, run: git pull --rebase origin "
        "'work&co'; to bring them back: git push origin 'work&co'. Then run the same command again."
    )
    assert git.run(*there) == "Begin"
    git.run("pull", "--quiet", "--rebase", "origin", "work&co", remote="origin")
    push(git, "origin", "HEAD:refs/heads/work&co")
    assert git.run(*there).split() == ["Three", "Begin"]


def test_a_branch_that_was_deleted_or_went_on_is_pushed_as_by_git(
    git: GitRepository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It is made again; what others added is not overwritten, nor what was amended here."""
    away = tmp_path_factory.mktemp("away") / "top"
    git.run("init", "--quiet", "--bare", str(away))
    git.run("remote", "add", "origin", str(away))
    git.run("commit", "--quiet", "--allow-empty", "-m", "One")
    push(git, "origin", "HEAD:refs/heads/work")
    git.run("-C", str(away), "update-ref", "-d", "refs/heads/work")
    git.run("commit", "--quiet", "--allow-empty", "-m", "Two")
    push(git, "origin", "HEAD:refs/heads/work")
    other = tmp_path_factory.mktemp("other")
    git.run("clone", "--quiet", "--branch=work", str(away), str(other))
    git.run("-C", str(other), "commit", "--quiet", "--allow-empty", "-m", "Theirs")
    git.run("-C", str(other), "push", "--quiet")
    git.run("commit", "--quiet", "--allow-empty", "-m", "Three")
    with pytest.raises(GitFailed, match="fetch first"):
        push(git, "origin", "HEAD:refs/heads/work")
    git.run("fetch", "--quiet", "origin", remote="origin")
    with pytest.raises(GitFailed, match="non-fast-forward"):
        push(git, "origin", "HEAD:refs/heads/work")
    assert git.run("-C", str(away), "log", "-1", "--format=%s", "work") == "Theirs"


def test_a_403_is_an_answer() -> None:
    """The server knows us, and says no."""
    from lifecycle.git.process import _refuse

    words = (
        "fatal: unable to access 'https://github.com/a/b/': The requested URL returned error: 403"
    )
    with pytest.raises(GitFailed):
        _refuse(("push",), words)


@pytest.mark.parametrize(
    ("output", "evidence"),
    [
        ("2 tests failed: see above", "2 tests failed: see above"),
        ("lint\nghp_" + "a" * 36, "***"),
        ("To x\n ! [rejected] pay -> pay (fetch first)", "! [rejected] pay -> pay (fetch first)"),
        ("", "error: failed to push some refs to 'https://h/a/b'"),
    ],
)
def test_a_refused_push_says_why(output: str, evidence: str) -> None:
    """A hook's own last words, on either output, without secrets, and not what git ends them with."""
    from lifecycle.git.process import _refuse

    end = "error: failed to push some refs to 'https://x@h/a/b'"
    for both in (f"{output}\n{end}\n", f"{end}\n{output}\n"):
        with pytest.raises(GitFailed) as failure:
            _refuse(("push",), both)
        assert failure.value.evidence == evidence


def test_a_commit_that_cannot_be_signed_says_why(git: GitRepository) -> None:
    """That an object could not be written, with which git ends, sounds like a broken disk."""
    signing = ("-c", "gpg.program=git", "commit", "--quiet", "--gpg-sign", "--allow-empty")
    with pytest.raises(GitFailed) as failure:
        git.run(*signing, "-m", "Signed")
    assert "failed to sign" in failure.value.evidence


def test_branches_and_heads(place: Place) -> None:
    """Reading refs needs no network, a tag of its name hides no branch, and a detached HEAD is on none."""
    git = GitRepository(place.root, Deadline(SystemClock(), None))
    git.run("tag", "main")
    assert git.current_branch() == "main"
    assert git.head_of("main") == git.remote_head_of("main")
    assert git.head_of("nothing") is None
    git.run("switch", "--quiet", "--detach")
    assert git.current_branch() is None


@pytest.mark.parametrize(
    ("url", "is_seen"),
    [
        ("https://github.com/octo-org/hello", True),
        ("git@github.com:octo-org/hello.git", True),
        ("ssh://git@github.com/octo-org/hello.git", True),
        ("../hello.git", False),
        ("/srv/git/hello.git", False),
        ("./odd:name.git", False),
        ("file:///srv/git/hello.git", False),
        ("ext::sh -c env", False),
        ("fd::17", False),
    ],
)
def test_git_sees_the_tokens_only_on_its_way_to_a_server(
    git: GitRepository, monkeypatch: pytest.MonkeyPatch, url: str, is_seen: bool
) -> None:
    """What runs programs on this machine (a path, a helper) gets none, nor does a local command."""
    monkeypatch.setenv("GITHUB_TOKEN", "of-the-process")
    git.environment = {"GH_TOKEN": "of-the-world", "HOME": "/nowhere"}
    git.for_servers = {"FOR_SERVERS": "a header"}
    git.run("remote", "add", "origin", url)
    git.run("config", "alias.seen", "!env")
    words = ("GH_TOKEN=of-the-world", "GITHUB_TOKEN=of-the-process", "FOR_SERVERS=a header")
    there, here = git.run("seen", remote="origin"), git.run("seen")
    assert [word in there for word in words] == [is_seen] * 3
    assert not any(word in here for word in words)


def test_one_place_on_this_machine_is_enough(git: GitRepository) -> None:
    """A push goes to every URL of a remote: with a path among them, git sees no token."""
    git.environment = {"GH_TOKEN": "of-the-world", "HOME": "/nowhere"}
    git.run("remote", "add", "origin", "https://github.com/octo-org/hello")
    git.run("remote", "set-url", "--add", "--push", "origin", "/srv/git/hello.git")
    git.run("config", "alias.seen", "!env")
    assert "of-the-world" not in git.run("seen", remote="origin")


@pytest.mark.parametrize("name", ["./origin", "up", "https://github.com/octo-org/hello", "-x", ""])
def test_git_talks_to_what_the_user_has_set_up(git: GitRepository, name: str) -> None:
    """Any other word is refused before git is run, and what is set up is named."""
    git.run("remote", "add", "origin", "https://github.com/octo-org/hello")
    with pytest.raises(BadConfig) as refused:
        git.demand_remote(name)
    assert "(origin)" in refused.value.sentence


def test_that_git_cannot_name_the_remotes_says_why(
    git: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken configuration, a worktree whose clone is gone, no git: none is to be added."""
    git.run("remote", "add", "origin", "https://github.com/octo-org/hello")
    config = git.root / ".git" / "config"
    config.write_text(config.read_text() + "[half\n")
    with pytest.raises(GitFailed, match="bad config line"):
        git.demand_remote("origin")
    moved = git.root / "moved"
    moved.mkdir()
    (moved / ".git").write_text("gitdir: /nowhere/.git/worktrees/moved\n")
    with pytest.raises(GitFailed, match="not a git repository: /nowhere"):
        head_repository(replace(git, root=moved), "origin", "https://api.github.com")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(GitFailed, match=r"^git is not installed"):
        replace(git).demand_remote("origin")


@pytest.fixture
def tree(git: GitRepository, tmp_path: Path) -> GitRepository:
    """A commit with files, links and something big."""
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "inner.md").write_text("outside")
    (tmp_path / "plain.md").write_text("Plain\n\u2026\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner.md").write_text("Inner")
    (tmp_path / "big.md").write_text("x" * (1024 * 1024 + 1))
    (tmp_path / "link.md").symlink_to(outside / "inner.md")
    (tmp_path / "within.md").symlink_to("plain.md")
    (tmp_path / "linked").symlink_to(outside)
    git.run("add", ".")
    git.run("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "Files")
    return git


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["plain.md"], "Plain\n\u2026"),
        (["nothing.md", "folder/inner.md", "plain.md"], "Inner"),
        (["link.md"], ""),
        (["within.md"], ""),
        (["linked/inner.md"], ""),
        (["folder"], ""),
        (["big.md"], ""),
        (["../plain.md"], ""),
        ([":(glob)*.md", "*.md"], ""),
    ],
)
def test_a_file_is_read_as_the_commit_has_it(
    tree: GitRepository, names: list[str], text: str
) -> None:
    """The first regular file of these; never what a link leads to, and no pattern."""
    assert tree.committed("HEAD", names) == text


def test_what_is_not_committed_is_not_read(tree: GitRepository) -> None:
    """Neither a change in the worktree nor a commit that is not here."""
    (tree.root / "plain.md").write_text("Changed")
    assert tree.committed("HEAD", ["plain.md"]).startswith("Plain")
    assert tree.committed("a" * 40, ["plain.md"]) == ""
    assert tree.committed("--help", ["plain.md"]) == ""


def test_what_a_pushed_branch_lacks_is_read_with_its_head(
    tree: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is not there costs no process; one that is there is read as ever, a link never."""
    git = GitRepository(tree.root, tree.deadline, files=["no.md", "plain.md", "link.md"])
    git.run("update-ref", "refs/remotes/origin/work", "HEAD")
    run, asked = git.run, list[str]()

    def counted(*args: str, **more: Any) -> str:
        asked.append(args[0])
        return run(*args, **more)

    monkeypatch.setattr(git, "run", counted)
    head = git.remote_head_of("work") or ""
    assert head == run("rev-parse", "HEAD")
    assert git.committed(head, ["no.md"]) == ""
    assert asked == ["cat-file"]
    assert git.committed(head, ["no.md", "plain.md"]).startswith("Plain")
    assert git.committed(head, ["link.md"]) == ""
    assert asked == ["cat-file", "ls-tree", "cat-file", "ls-tree"]
    assert git.committed("HEAD", ["no.md", "folder/inner.md"]) == "Inner", (
        "nothing is known of that"
    )


@pytest.mark.parametrize(
    "branch", ["nothing", "", "work\nHEAD", "work\rHEAD", "wo rk", "..", "work^{tree}"]
)
def test_what_is_no_pushed_branch_has_no_head(tree: GitRepository, branch: str) -> None:
    """Whatever the claim file calls its branch is one question, and is answered for that name alone."""
    git = GitRepository(tree.root, tree.deadline, files=["plain.md"])
    git.run("update-ref", "refs/remotes/origin/work", "HEAD")
    assert git.remote_head_of(branch) is None
    assert git.committed("HEAD", ["plain.md"]).startswith("Plain")


def test_a_folder_that_is_not_there_is_said_not_to_be(tmp_path: Path) -> None:
    """Starting git there fails as where no git is: which of the two it is, is looked at."""
    gone = tmp_path / "gone"
    with pytest.raises(GitFailed, match=f"There is no folder {gone}, so git did nothing"):
        GitRepository(gone, Deadline(SystemClock(), None)).run("status")


def test_outside_of_a_repository_no_branch_is_pushed(tmp_path: Path) -> None:
    """git fails there, and that is no head."""
    git = GitRepository(tmp_path, Deadline.after(SystemClock(), 30), files=["plain.md"])
    assert git.remote_head_of("main") is None


def test_a_fetch_in_between_is_no_word_about_either_commit(
    tree: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was missing may have been missing in the other one, so it is looked for."""
    git = GitRepository(tree.root, tree.deadline, files=["plain.md"])
    head, run = git.run("rev-parse", "HEAD"), git.run
    answer = f"{head}\nrefs/remotes/origin/work:plain.md missing\n{'b' * 40}"
    monkeypatch.setattr(git, "run", lambda *_, **__: answer)
    assert git.remote_head_of("work") == head
    monkeypatch.setattr(git, "run", run)
    assert git.committed(head, ["plain.md"]).startswith("Plain")
