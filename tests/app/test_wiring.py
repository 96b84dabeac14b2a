"""The composition root: which repository is which, and what is built when."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.errors import BadConfig, NoToken, Refused
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.storage.state_file import MemoryCache
from tests.conftest import Place
from tests.github.apps import AppServer, make_key


def world(root: Path, **environment: str) -> WorktreeWorld:
    """A world in a repository of its own."""
    return WorktreeWorld(
        root, environment, SystemClock(), Deadline(SystemClock(), None), MemoryCache()
    )


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
    (fork / ".lifecycle.toml").write_text('repository = "octo-org/hello"\n')
    assert world(fork).base_remote == "upstream"
    (fork / ".lifecycle.toml").unlink()
    assert world(fork).base_remote == "origin"


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("https://gitlab.com/octo-org/mirror", "upstream"),
        ("/srv/mirror.git", "upstream"),
        ("https://github.com/Octo-Org/Hello", "origin"),
    ],
)
def test_the_base_lies_where_a_remote_has_it(fork: Path, origin: str, expected: str) -> None:
    """Of several that have it the one that is pushed to; another one where that is no GitHub at all."""
    subprocess.run(["git", "remote", "set-url", "origin", origin], cwd=fork, check=True)
    subprocess.run(["git", "remote", "rename", "origin", "z"], cwd=fork, check=True)
    (fork / ".lifecycle.toml").write_text('remote = "z"\nrepository = "octo-org/hello"\n')
    assert world(fork).base_remote == expected.replace("origin", "z")


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


@pytest.mark.parametrize("name", ["stranger/hello", "octo-org/other"])
def test_a_project_cannot_name_a_repository_that_is_no_remote(fork: Path, name: str) -> None:
    """A strange file must not have the user's token write elsewhere; the sentence has both ways out."""
    (fork / ".lifecycle.toml").write_text(f'repository = "{name}"\n')
    with pytest.raises(BadConfig) as refusal:
        _ = world(fork).base
    assert "git remote add" in refusal.value.sentence
    assert f"LIFECYCLE_REPOSITORY={name}" in refusal.value.sentence
    assert str(world(fork, LIFECYCLE_REPOSITORY=name).base) == name


def test_a_remote_elsewhere_is_no_remote_of_this_github(fork: Path) -> None:
    """Owner and name alone do not make it the same repository; their case does not matter."""
    (fork / ".lifecycle.toml").write_text('repository = "Octo-Org/HELLO"\n')
    assert str(world(fork).base) == "Octo-Org/HELLO"
    with pytest.raises(BadConfig, match="no git remote"):
        _ = world(fork, GITHUB_API_URL="https://ghes.example/api/v3").base


def test_the_remotes_cost_one_process(fork: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """One `git remote` for a world, whatever is asked of them, and whatever the file names."""
    log = tmp_path_factory.mktemp("trace") / "log"
    traced = {"GIT_TRACE": str(log)}

    def asked() -> int:
        return log.read_text().count("trace: built-in: git remote")

    _ = world(fork, **traced).base
    assert asked() == 1
    (fork / ".lifecycle.toml").write_text('repository = "octo-org/hello"\n')
    made = world(fork, **traced)
    _ = made.base, made.head, made.base, made.remote
    assert asked() == 2


def add(root: Path, name: str, *, to_index: str = "") -> None:
    """Write a file and let git track it, under another name if one is given."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    command = ["git", "-C", str(root), "add", "--force", "--", name]
    if to_index:
        blob = subprocess.run(
            ["git", "-C", str(root), "hash-object", "-w", name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        cache = f"100644,{blob},{to_index}"
        command = ["git", "-C", str(root), "update-index", "--add", "--cacheinfo", cache]
    subprocess.run(command, check=True)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        (".agent-claim.json", "git rm -f --cached .agent-claim.json"),
        (".lifecycle/state.json", "git rm -rf --cached .lifecycle"),
        (".lifecycle/sub/x", "git rm -rf --cached .lifecycle"),
    ],
)
def test_what_git_tracks_is_nobodys_claim(fork: Path, name: str, way: str) -> None:
    """The sentence names it and the command, which works."""
    add(fork, name)
    with pytest.raises(Refused) as refusal:
        world(fork).refuse_tracked()
    assert "came with the repository" in refusal.value.sentence
    assert refusal.value.sentence.endswith(way)
    subprocess.run(["git", "-C", str(fork), *way.split()[1:], "--quiet"], check=True)
    world(fork).refuse_tracked()


def test_what_git_does_not_track_is_not_refused(fork: Path) -> None:
    """Files of one's own, also beside tracked ones whose names only look alike."""
    for name in (
        ".agent-claim.json.md",
        "x.agent-claim.json",
        ".lifecycle.toml",
        "a/.agent-claim.json",
    ):
        add(fork, name)
    (fork / ".agent-claim.json").write_text("{}")
    (fork / ".lifecycle").mkdir()
    (fork / ".lifecycle/state.json").write_text("{}")
    world(fork).refuse_tracked()
    add(fork, ".lifecycle/state.json")
    with pytest.raises(Refused, match=r"\.lifecycle is tracked"):
        world(fork).refuse_tracked()


def test_what_looks_like_a_leftover_of_ours_is_refused(fork: Path) -> None:
    """A killed process leaves the claim's next version beside it: a tracked one is nobody's."""
    add(fork, ".agent-claim.json.x1.lifecycle.tmp")
    with pytest.raises(Refused, match=r"\.agent-claim\.json\.x1\.lifecycle\.tmp is tracked"):
        world(fork).refuse_tracked()


def test_where_git_refuses_to_answer_nothing_is_believed(fork: Path, tmp_path: Path) -> None:
    """A repository of another user's: whether the claim came with it cannot be known."""
    (fork / ".agent-claim.json").write_text("{}")
    (fork / ".git/config").write_text("[core\n")
    with pytest.raises(Refused, match="git does not say what it tracks here"):
        world(fork).refuse_tracked()


def test_another_spelling_counts_where_it_is_the_same_file(fork: Path) -> None:
    """A file system that ignores case opens `.Lifecycle` for `.lifecycle`; one that does not, not."""
    (fork / ".agent-claim.json").write_text("{}")
    add(fork, "one", to_index=".Agent-Claim.json")
    world(fork).refuse_tracked()
    (fork / ".Agent-Claim.json").hardlink_to(fork / ".agent-claim.json")
    with pytest.raises(Refused, match=r"\.Agent-Claim\.json"):
        world(fork).refuse_tracked()


@pytest.mark.parametrize("value", ["LITERAL", "GLOB", "NOGLOB"])
def test_pathspec_settings_of_the_shell_change_nothing(
    fork: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """git's variables for patterns neither hide a tracked file nor break the question."""
    monkeypatch.setenv(f"GIT_{value}_PATHSPECS", "1")
    world(fork).refuse_tracked()
    add(fork, ".lifecycle/state.json")
    with pytest.raises(Refused):
        world(fork).refuse_tracked()


def test_a_folder_inside_a_repository_is_asked_for_itself(fork: Path) -> None:
    """Claude Code may serve a part of a repository: what counts lies in that folder."""
    add(fork, ".agent-claim.json")
    (fork / "part").mkdir()
    world(fork / "part").refuse_tracked()
    add(fork, "part/.agent-claim.json")
    with pytest.raises(Refused):
        world(fork / "part").refuse_tracked()


def test_without_git_nothing_is_refused(tmp_path: Path, fork: Path) -> None:
    """No repository, or no git: then nothing came with one."""
    (fork.parent / "plain").mkdir(exist_ok=True)
    world(fork.parent / "plain", GIT_CEILING_DIRECTORIES=str(fork.parent)).refuse_tracked()
    add(fork, ".agent-claim.json")
    with pytest.raises(Refused):
        world(fork).refuse_tracked()
    world(fork, PATH=str(tmp_path / "nowhere")).refuse_tracked()


def gh_knows(folder: Path, *hosts: str) -> dict[str, str]:
    """An environment whose gh is logged in on these hosts."""
    place = folder / "bin"
    place.mkdir()
    cases = "\n".join(f'{host}) echo "gh-for-{host}";;' for host in hosts)
    (place / "gh").write_text(f'#!/bin/sh\ncase "$4" in\n{cases}\n*) exit 1;;\nesac\n')
    (place / "gh").chmod(0o755)
    return {"PATH": f"{place}:/usr/bin:/bin", "HOME": str(folder / "home")}


def to(root: Path, url: str) -> None:
    """Point origin elsewhere."""
    subprocess.run(["git", "remote", "set-url", "origin", url], cwd=root, check=True)


@pytest.mark.parametrize(
    "url", ["git@ghes.example:octo/hello.git", "https://ghes.example/octo/hello"]
)
def test_a_remote_on_an_enterprise_server(fork: Path, tmp_path: Path, url: str) -> None:
    """Nothing is configured: its API is talked to with the token that gh keeps for it, and no other."""
    to(fork, url)
    made = world(fork, **gh_knows(tmp_path, "ghes.example"), GH_TOKEN="for-github-com")
    assert made.addresses.api_url == "https://ghes.example/api/v3"
    assert made.addresses.graphql_url == "https://ghes.example/api/graphql"
    assert (made.token.value, made.token.source) == ("gh-for-ghes.example", "gh")
    assert str(made.base) == "octo/hello"


def test_a_refused_token_of_an_enterprise_server_is_asked_of_gh_again(
    fork: Path, tmp_path: Path
) -> None:
    """Another one after a login meanwhile; none after a logout, and no other source's goes to that host."""
    to(fork, "https://ghes.example/octo/hello")
    made = world(fork, **gh_knows(tmp_path, "ghes.example"), GH_TOKEN="for-github-com")
    gh, values = tmp_path / "bin" / "gh", [made.token.value]
    for script in (gh.read_text().replace("gh-for", "new-for"), "#!/bin/sh\nexit 1\n"):
        gh.write_text(script)
        assert made.token.value == values[-1]
        made.tokens.refused()
        values.append(made.token.value)
    assert values == ["gh-for-ghes.example", "new-for-ghes.example", "gh-for-ghes.example"]


def test_a_remote_on_a_host_that_gh_does_not_know(fork: Path, tmp_path: Path) -> None:
    """No token goes there: the remote is refused by name."""
    to(fork, "https://gitlab.example/octo/hello")
    made = world(fork, **gh_knows(tmp_path, "github.com"), GH_TOKEN="for-github-com")
    with pytest.raises(BadConfig, match=r"gitlab\.example"):
        _ = made.base


def test_configured_addresses_are_not_second_guessed(fork: Path, tmp_path: Path) -> None:
    """Whoever names an API has said where GitHub is; gh is not asked about the remote."""
    to(fork, "https://ghes.example/octo/hello")
    environment = gh_knows(tmp_path, "ghes.example")
    made = world(fork, **environment, GITHUB_API_URL="https://other.example/api/v3")
    assert made.addresses.api_url == "https://other.example/api/v3"


def test_gh_is_the_last_source_of_a_token(fork: Path, tmp_path: Path) -> None:
    """After both variables."""
    environment = gh_knows(tmp_path, "github.com")
    assert world(fork, **environment).token.value == "gh-for-github.com"
    assert world(fork, **environment, GITHUB_TOKEN="b").token.value == "b"


def test_the_board_is_labels_where_labels_are_wanted(fork: Path) -> None:
    """labels.use = "always" needs no project; without either there is no board."""
    assert world(fork, GH_TOKEN="a").board is None
    (fork / ".lifecycle.toml").write_text('labels.use = "always"')
    made = world(fork, GH_TOKEN="a").board
    assert made is not None
    assert made.schema().title == "labels of contributor/hello"


class Late(SystemClock):
    """The real clock, so many seconds later."""

    seconds = 0.0

    def now(self) -> float:
        """Seconds since the epoch."""
        return super().now() + self.seconds


def test_a_token_that_ends_soon_is_replaced(fork: Path, tmp_path: Path) -> None:
    """Whoever looks for hours goes on with a new token; others keep theirs."""
    key, clock = make_key(), Late()
    file = tmp_path / "app.pem"
    file.write_text(key.private)
    with AppServer(key.public, clock.now) as server:
        environment = {
            "LIFECYCLE_APP_ID": "12",
            "LIFECYCLE_APP_INSTALLATION": "34",
            "LIFECYCLE_APP_PRIVATE_KEY_FILE": str(file),
            "GITHUB_API_URL": server.url,
            "HOME": str(tmp_path / "home"),
        }
        root = tmp_path / "elsewhere"
        root.mkdir()
        made = WorktreeWorld(root, {**environment, "LIFECYCLE_REPOSITORY": "octo-org/hello-service"}, clock,
                     Deadline(clock, None), MemoryCache())  # fmt: skip
        first, forge = made.token, made.forge
        assert forge.viewer() == "robot[bot]"
        assert (made.token, made.forge) == (first, forge)
        server.dead.add(first.value)
        clock.seconds = 3400.0
        assert forge.viewer() == "robot[bot]"
        assert made.token.value != first.value
        made.close()
    assert server.asked.count("POST /app/installations/34/access_tokens") == 2


BOARD = "project.number = 1\nproject.owner = "


@pytest.mark.parametrize("owner", ["octo-org", "Octo-Org", "somebody"])
def test_a_board_of_a_remotes_owner_may_be_named(place: Place, owner: str) -> None:
    """Of the repository's own, in any case, or of another remote's; nobody else's."""
    file = place.root / ".lifecycle.toml"
    file.write_text(f'{BOARD}"no-remote-of-ours"\n')
    with pytest.raises(BadConfig, match="no-remote-of-ours"):
        place.tree(LIFECYCLE_PROJECT_NUMBER="").world.refuse_strange_board()
    place.git("remote", "add", "theirs", f"{place.info.api_url}/somebody/else.git")
    file.write_text(f'{BOARD}"{owner}"\n')
    place.tree(LIFECYCLE_PROJECT_NUMBER="").world.refuse_strange_board()


def test_a_board_of_somebody_else_is_the_users_to_name(place: Place) -> None:
    """The tree cannot lead the user's token to any board; a variable can, and nothing is asked before."""
    (place.root / ".lifecycle.toml").write_text(f'{BOARD}"a-company"\n')
    place.clear()
    with pytest.raises(BadConfig, match="LIFECYCLE_PROJECT_OWNER=a-company"):
        _ = place.tree().forge
    assert place.requests() == []
    place.tree(LIFECYCLE_PROJECT_OWNER="a-company").world.refuse_strange_board()
