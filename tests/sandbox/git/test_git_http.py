"""Real git over HTTP: clone, push, refusals."""

from __future__ import annotations

import base64
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from lifecycle.sandbox.control import Control
from tests.repeated import soaked

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from requests import Response

    from lifecycle.sandbox.server import Sandbox

    Git = Callable[..., subprocess.CompletedProcess[str]]
    Api = Callable[..., Response]


def commit(git: Git, clone: Path, name: str, text: str) -> str:
    """Commit a file and return the sha."""
    (clone / name).write_text(text)
    git("add", name, cwd=clone)
    git("commit", "--quiet", "--message", f"Add {name}", cwd=clone)
    return git("rev-parse", "HEAD", cwd=clone).stdout.strip()


def test_anyone_may_clone(sandbox: Sandbox, git: Git, tmp_path: Path) -> None:
    """Reading needs no credential, with or without `.git`, and gives the seed's files."""
    for number, suffix in enumerate((".git", "")):
        url = f"{sandbox.info.api_url}/octo-org/hello-service{suffix}"
        git("clone", "--quiet", url, str(number))
        assert "def greet" in (tmp_path / str(number) / "greeting.py").read_text()


def test_push_moves_the_pull_requests_head(control: Control, git: Git, clone: Path) -> None:
    """When `git push` returns, the pull request has the new head already."""
    git("checkout", "--quiet", "-b", "work", cwd=clone)
    first = commit(git, clone, "a.txt", "a")
    git("push", "--quiet", "origin", "work", cwd=clone)
    number = str(control.open_pull("work", "Work"))
    assert control.world()["pulls"][number]["head_sha"] == first
    second = commit(git, clone, "b.txt", "b")
    git("push", "--quiet", "origin", "work", cwd=clone)
    world = control.world()
    assert world["pulls"][number]["head_sha"] == second
    assert world["refs"][f"refs/pull/{number}/head"] == second
    git("push", "--quiet", "origin", "--delete", "work", cwd=clone)
    assert control.world()["pulls"][number]["state"] == "closed"


def test_a_push_of_many_bytes(control: Control, git: Git, clone: Path) -> None:
    """A pack beyond git's buffer comes in chunks, and arrives whole."""
    git("checkout", "--quiet", "-b", "big", cwd=clone)
    sha = commit(git, clone, "big.txt", secrets.token_hex(1_500_000))
    git("push", "--quiet", "origin", "big", cwd=clone)
    assert control.world()["refs"]["refs/heads/big"] == sha


def test_a_fetch_with_a_packed_request(control: Control, git: Git, clone: Path) -> None:
    """Many wants make git compress its request; the backend unpacks it."""
    for number in range(40):
        control.push_commit(f"branch-{number}", {"n.txt": str(number)}, f"Branch {number}")
    git("fetch", "--quiet", "origin", cwd=clone)
    assert len(git("branch", "--remotes", cwd=clone).stdout.splitlines()) >= 41


def test_custom_refs_are_taken_and_pull_refs_refused(
    control: Control, git: Git, clone: Path
) -> None:
    """A lease ref can be pushed and compared-and-swapped; refs/pull/* are GitHub's own."""
    sha = git("rev-parse", "HEAD", cwd=clone).stdout.strip()
    git("push", "--quiet", "origin", "HEAD:refs/agent-claims/42", cwd=clone)
    assert control.world()["refs"]["refs/agent-claims/42"] == sha
    refused = git("push", "origin", "HEAD:refs/pull/7/head", cwd=clone, ok=False)
    assert refused.returncode != 0
    assert "deny updating a hidden ref" in refused.stderr
    commit(git, clone, "a.txt", "a")
    lease = "--force-with-lease=refs/agent-claims/42:" + "1" * 40
    stale = git("push", "--atomic", lease, "origin", "HEAD:refs/agent-claims/42", "HEAD:other",
                cwd=clone, ok=False)  # fmt: skip
    assert stale.returncode != 0
    assert "refs/heads/other" not in control.world()["refs"]


def test_a_lease_goes_from_an_empty_repository(
    sandbox: Sandbox, control: Control, git: Git, clone: Path, tmp_path: Path
) -> None:
    """A bare repository without any object deletes a ref, if it still is what was read.

    The token comes as Basic auth of `x-access-token`, in a header as `actions/checkout` sets it:
    https://github.com/actions/checkout/blob/v4/src/git-auth-helper.ts
    """
    sha = git("rev-parse", "HEAD", cwd=clone).stdout.strip()
    git("push", "--quiet", "origin", "HEAD:refs/agent-claims/42", cwd=clone)
    git("init", "--quiet", "--bare", "empty")
    word = base64.b64encode(f"x-access-token:{sandbox.info.token}".encode()).decode()
    url = f"{sandbox.info.api_url}/octo-org/hello-service.git"

    def remove(expected: str, header: str) -> subprocess.CompletedProcess[str]:
        return git(
            "-c", f"http.{sandbox.info.api_url}/.extraheader={header}", "push", "--porcelain",
            f"--force-with-lease=refs/agent-claims/42:{expected}", url, ":refs/agent-claims/42",
            cwd=tmp_path / "empty", ok=False,
        )  # fmt: skip

    auth = f"Authorization: basic {word}"
    assert remove(sha, "X-Nothing: 1").returncode != 0
    assert "stale info" in remove("1" * 40, auth).stdout
    assert control.world()["refs"]["refs/agent-claims/42"] == sha
    assert remove(sha, auth).returncode == 0
    assert "refs/agent-claims/42" not in control.world()["refs"]


def test_pull_refs_can_be_fetched(control: Control, git: Git, clone: Path) -> None:
    """Everybody may fetch the head of a pull request."""
    sha = control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work")
    git("fetch", "--quiet", "origin", f"refs/pull/{number}/head", cwd=clone)
    assert git("rev-parse", "FETCH_HEAD", cwd=clone).stdout.strip() == sha


def test_a_push_that_is_behind_is_rejected(control: Control, git: Git, clone: Path) -> None:
    """Git's own rule: without force, only fast-forwards."""
    control.push_commit("main", {"x.txt": "x"}, "Meanwhile")
    commit(git, clone, "a.txt", "a")
    assert "rejected" in git("push", "origin", "main", cwd=clone, ok=False).stderr


def test_pushing_needs_the_token(sandbox: Sandbox, git: Git, clone: Path) -> None:
    """Without a credential, or with a wrong one, a push fails; git never asks a person."""
    bare = sandbox.info.git_url.replace(f"x-access-token:{sandbox.info.token}@", "")
    wrong = sandbox.info.git_url.replace(sandbox.info.token, "wrong")
    commit(git, clone, "a.txt", "a")
    for url in (bare, wrong):
        assert git("push", url, "main:work", cwd=clone, ok=False).returncode != 0


def test_answers_to_the_wrong_and_the_unauthorized(
    sandbox: Sandbox, control: Control, api: Api
) -> None:
    """401 asks for Basic auth, 403 names who may not, 404 is for other repositories."""
    where = "/octo-org/hello-service.git/info/refs"
    push = {"service": "git-receive-pack"}
    asked = api("GET", where, params=push, headers={"Authorization": ""})
    assert asked.status_code == 401
    assert asked.headers["WWW-Authenticate"] == 'Basic realm="GitHub"'
    assert api("GET", where, token="wrong").status_code == 401
    assert api("GET", where.replace("hello", "other")).status_code == 404
    control.set_scopes(["project"])
    denied = api("GET", where, params=push)
    assert denied.status_code == 403
    assert "denied to octocat" in denied.text
    assert sandbox.info.token not in denied.text


def test_a_client_that_reads_files_is_sent_away(sandbox: Sandbox, api: Api) -> None:
    """Dumb HTTP is over on GitHub; what is no request of git's is of the wrong kind.

    Source: https://github.blog/2011-03-09-git-dumb-http-transport-to-be-turned-off-in-90-days/
    """
    where = "/octo-org/hello-service.git"
    for path in ("/info/refs", "/HEAD", "/objects/info/packs"):
        asked = api("GET", where + path)
        assert (asked.status_code, "upgrade your git client" in asked.text) == (403, True)
    assert api("POST", f"{where}/git-upload-pack", json={}).status_code == 415


@pytest.mark.parametrize("version", ["0", soaked("1"), "2"])
def test_each_version_of_the_protocol(
    sandbox: Sandbox, git: Git, clone: Path, tmp_path: Path, version: str
) -> None:
    """Refs that a push has moved are seen by the next client, whichever version it speaks."""
    for name in ("one", "two"):
        sha = commit(git, clone, name, name)
        git("push", "--quiet", "origin", f"main:{name}", cwd=clone)
        spoken = ("-c", f"protocol.version={version}")
        listed = git(*spoken, "ls-remote", "origin", name, cwd=clone).stdout
        assert listed.split() == [sha, f"refs/heads/{name}"]
        git(*spoken, "clone", "--quiet", "-b", name, sandbox.info.git_url, str(tmp_path / name))
        assert (tmp_path / name / name).read_text() == name


def test_the_log_has_git_without_secrets(sandbox: Sandbox, control: Control, clone: Path) -> None:
    """Requests by git are in the log, and the token is nowhere in it."""
    assert clone.exists()
    seen = control.requests()
    assert {one.kind for one in seen} == {"git"}
    assert seen[0].path == "/octo-org/hello-service.git/info/refs"
    assert sandbox.info.token not in repr(seen)


@pytest.mark.parametrize("clones", [4])
def test_pushes_at_once(
    sandbox: Sandbox, control: Control, git: Git, clone: Path, clones: int
) -> None:
    """Pushes to different branches at the same time all arrive."""
    commit(git, clone, "a.txt", "a")
    with ThreadPoolExecutor(clones) as pool:
        list(pool.map(
            lambda n: git("push", "--quiet", sandbox.info.git_url, f"main:b{n}", cwd=clone),
            range(clones),
        ))  # fmt: skip
    assert {f"refs/heads/b{n}" for n in range(clones)} <= set(control.world()["refs"])
