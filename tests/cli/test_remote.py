"""Where a claim's code and lease go: to a remote that the user has set up, and to no other place."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.outcome import ok, refused
from tests.conftest import Place

SOAKED = pytest.mark.soak(
    "cli/test_remote.py::test_a_claim_goes_to_no_place_that_the_tree_names",
    "git/test_process.py::test_fault_8_every_form_of_a_remote_is_understood",
)

NAME = "octo-org/hello-service"
SECRETS = {
    "GITHUB_TOKEN": "another-token-of-the-user",
    "GH_ENTERPRISE_TOKEN": "a-token-of-another-server",
}


def noting(path: Path, into: Path) -> None:
    """A program that notes that it was run, and what it saw of the environment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nenv >> {shlex.quote(str(into))}\n")
    path.chmod(0o755)


def bare(place: Place, folder: Path, seen: Path) -> Path:
    """A bare repository whose hook notes what it sees."""
    place.git("init", "--quiet", "--bare", str(folder))
    noting(folder / "hooks" / "pre-receive", seen)
    return folder


@pytest.fixture
def evil(place: Place, tmp_path: Path) -> Path:
    """A bare repository in the tree, as a cloned one may have it; what its hook would write."""
    seen = tmp_path / "the-hook-ran"
    bare(place, place.root / "evil.git", seen)
    return seen


def wants(place: Place, remote: str) -> None:
    """The project's file names a remote, and the repository so that GitHub is found all the same."""
    text = f'remote = "{remote}"\nrepository = "{NAME}"\n'
    (place.root / ".lifecycle.toml").write_text(text)


@pytest.mark.parametrize(
    "remote",
    [
        "./evil.git",
        "evil.git",
        "{root}/evil.git",
        "file://{root}/evil.git",
        "https://example.org/a/b.git",
        "ext::sh -c touch% the-hook-ran",
        " --upload-pack=touch the-hook-ran",
        "--receive-pack=touch the-hook-ran",
    ],
)
def test_a_claim_goes_to_no_place_that_the_tree_names(
    place: Place, evil: Path, remote: str
) -> None:
    """A path, a URL, a helper, an option: refused with a word before anything is taken, by each way."""
    wants(place, remote.format(root=place.root))
    for words in (("claim", "42"), ("claim", "42", "--worktree")):
        sentence = refused(place.cli(*words, **SECRETS))
        assert "remote" in sentence
        assert not place.has_claim()
    assert not evil.exists()
    assert place.issue()["assignees"] == []
    assert place.git("worktree", "list").count("\n") == 0
    assert not (place.root / "the-hook-ran").exists()


@SOAKED
def test_a_handoff_goes_to_no_place_that_the_tree_names(place: Place, evil: Path) -> None:
    """A checkout that names another place after the claim: nothing is validated, pushed or changed."""
    ok(place.cli("claim", "42"))
    branch = str(place.claim()["branch"])
    place.work(branch, push=False)
    wants(place, "./evil.git")
    assert "evil.git" in refused(place.cli("handoff", "--summary", "Fix"))
    wants(place, "evil.git")
    assert "origin" in refused(place.cli("handoff", "--summary", "Fix"))
    assert place.claim()["phase"] == "coding"
    assert not evil.exists()
    (place.root / ".lifecycle.toml").unlink()
    ok(place.cli("handoff", "--summary", "Fix"))
    assert f"refs/heads/{branch}" in place.control.world()["refs"]


@SOAKED
def test_a_remote_on_this_machine_is_used_and_its_hooks_see_no_token(
    place: Place, tmp_path: Path
) -> None:
    """Whoever lists a path may push there; what runs there sees nothing of ours to take."""
    seen = tmp_path / "the-hook-ran"
    place.git("remote", "add", "here", str(bare(place, tmp_path / "here.git", seen)))
    place.git("push", "--quiet", "here", "main")
    seen.unlink()
    wants(place, "here")
    ok(place.cli("claim", "42", **SECRETS))
    written = seen.read_text()
    assert "PATH=" in written
    assert place.environment["GH_TOKEN"] not in written
    for name, value in SECRETS.items():
        assert f"{name}=" not in written
        assert value not in written


def test_what_runs_in_the_worktree_sees_no_token(place: Place, tmp_path: Path) -> None:
    """Validation, and a hook of git's own: the user's tokens are withheld, and nothing else is."""
    checkout, validation = tmp_path / "checkout", tmp_path / "validation"
    noting(place.root / ".git" / "hooks" / "post-checkout", checkout)
    ok(place.cli("claim", "42", PLAIN="to be seen", **SECRETS))
    switched = checkout.read_text()
    place.work(str(place.claim()["branch"]), push=False)
    into = shlex.quote(str(validation))
    (place.root / ".lifecycle.toml").write_text(f'validate = "env > {into}"\n')
    ok(place.cli("trust", "--yes"))
    ok(place.cli("handoff", "--summary", "Fix", PLAIN="to be seen", **SECRETS))
    for text in (switched, validation.read_text()):
        assert "PLAIN=to be seen" in text
        assert "GH_TOKEN" not in text
        for name, value in SECRETS.items():
            assert f"{name}=" not in text
            assert value not in text


@SOAKED
def test_the_users_own_file_names_who_sees_the_tokens(place: Place, tmp_path: Path) -> None:
    """`pass_tokens_to` gives them to the validation; a project's file cannot say so."""
    ok(place.cli("claim", "42"))
    place.work(str(place.claim()["branch"]), push=False)
    into = tmp_path / "validation"
    command = f'validate = "env > {shlex.quote(str(into))}"\n'
    (place.root / ".lifecycle.toml").write_text(f'{command}pass_tokens_to = ["validate"]\n')
    assert "config.toml" in refused(place.cli("handoff", "--summary", "Fix"))
    (place.root / ".lifecycle.toml").write_text(command)
    own = Path(place.environment["XDG_CONFIG_HOME"]) / "lifecycle"
    own.mkdir(parents=True, exist_ok=True)
    (own / "config.toml").write_text('pass_tokens_to = ["validate"]\n')
    ok(place.cli("trust", "--yes"))
    ok(place.cli("handoff", "--summary", "Fix"))
    assert f"GH_TOKEN={place.environment['GH_TOKEN']}" in into.read_text()


def second(place: Place, tmp_path: Path) -> Path:
    """Another remote that the user has set up, on this machine; what is there."""
    there = bare(place, tmp_path / "second.git", tmp_path / "the-hook-ran")
    place.git("remote", "add", "second", str(there))
    place.git("push", "--quiet", "second", "main")
    return there


def leases(place: Place, remote: str) -> str:
    """The leases that a remote has."""
    return place.git("ls-remote", remote, "refs/agent-claims/*")


def test_a_lease_is_released_where_it_was_taken(place: Place, tmp_path: Path) -> None:
    """A checkout that names another remote is refused by each command, until one goes back."""
    second(place, tmp_path)
    ok(place.cli("claim", "42"))
    place.work(str(place.claim()["branch"]), push=False)
    before = place.claim()
    wants(place, "second")
    for words in (
        ("release",),
        ("handoff", "--summary", "Fix"),
        ("claim", "42"),
        ("nudge", "pr_closed", "--force", "--reason", "gone"),
        ("close", "--override", "gone"),
    ):
        sentence = refused(place.cli(*words))
        assert "claimed with origin as remote" in sentence
        assert 'remote = "origin"' in sentence
    assert place.claim() == before
    assert leases(place, "origin")
    assert not leases(place, "second")
    (place.root / ".lifecycle.toml").unlink()
    ok(place.cli("release"))
    assert not leases(place, "origin")
    assert place.card()["Status"] == "Todo"


@SOAKED
def test_another_repositorys_issue_of_the_same_number_is_left(place: Place) -> None:
    """A checkout that names another of the remotes' repositories: nothing of the claim is done there."""
    other = f"{place.info.api_url}/octo-org/another.git"
    place.git("remote", "add", "upstream", other)
    ok(place.cli("claim", "42"))
    (place.root / ".lifecycle.toml").write_text('repository = "octo-org/another"\n')
    place.write(phase="done")
    place.clear()
    stop = {"hook_event_name": "Stop"}
    assert f"claimed with {NAME} as repository" in place.hook("on-stop", stop).stdout
    assert place.hook("on-stop", stop).stdout == ""
    done = place.cli("tick")
    assert done.returncode == 1
    assert f"claimed with {NAME} as repository" in done.stdout + done.stderr
    assert place.has_claim()
    assert place.writes() == []
    assert leases(place, "origin")


@SOAKED
def test_a_repository_that_was_renamed_is_the_same_one(place: Place) -> None:
    """The remote's URL was set to the new name: the claim goes on, and is given back there."""
    ok(place.cli("claim", "42"))
    place.control.rename_repository("better-name")
    url = place.info.git_url.replace("hello-service", "better-name")
    ok(place.cli("tick"))
    place.git("remote", "set-url", "origin", url)
    ok(place.cli("tick"))
    ok(place.cli("release"))
    assert not leases(place, "origin")


def test_a_renamed_repository_is_named_before_a_release_gives_anything_up(place: Place) -> None:
    """Its comment would be refused: nothing is written until the command that is named was run."""
    ok(place.cli("claim", "42"))
    place.control.rename_repository("better-name")
    control, before = place.control.at("octo-org/better-name"), place.claim()
    done = place.cli("release")
    said = done.stdout
    assert "git remote set-url origin " in said
    assert done.returncode == 1
    assert "is called octo-org/better-name on GitHub now, so the release waits; run: " in said
    assert "#42 is being released; what was done is kept, and the next look does the rest." in said
    assert place.claim() == before
    assert leases(place, "origin")
    assert control.world()["issues"]["42"]["assignees"] == ["octocat"]
    command = said.partition("run: ")[2].partition(" (and correct")[0]
    place.run("sh", "-c", command)
    assert place.git("remote", "get-url", "origin").endswith("octo-org/better-name.git")
    assert "Issue #42 released" in ok(place.cli("release"))
    issue = control.world()["issues"]["42"]
    assert (issue["assignees"], len(issue["comments"])) == ([], 1)


@SOAKED
def test_a_remote_that_the_user_renamed_is_the_same_one(place: Place) -> None:
    """A tree cannot rename a remote; whoever does names it in the settings too."""
    ok(place.cli("claim", "42"))
    place.git("remote", "rename", "origin", "github")
    assert "no remote called" in refused(place.cli("handoff", "--summary", "Fix"))
    (place.root / ".lifecycle.toml").write_text('remote = "github"\n')
    ok(place.cli("release"))
    assert not leases(place, "github")


@SOAKED
def test_a_claim_by_hand_belongs_to_where_it_was_first_looked_at(
    place: Place, tmp_path: Path
) -> None:
    """From the first look on another checkout is refused, as for a claim that was taken by command."""
    second(place, tmp_path)
    place.work()
    place.ready(phase="coding")
    ok(place.cli("tick"))
    wants(place, "second")
    assert "claimed with origin as remote" in refused(place.cli("handoff", "--summary", "Fix"))
