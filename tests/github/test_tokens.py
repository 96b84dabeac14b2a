"""lifecycle.github.auth.find_token: which token is used, and for which GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.core.errors import BadConfig, NoToken
from lifecycle.core.timing import Deadline
from lifecycle.core.values.configured import Addresses
from lifecycle.github.auth.find_token import GH, TokenPlace, addresses_of, find, of_gh
from lifecycle.github.client.client_common import RENEW_SECONDS, Keeper, Token
from tests.github.apps import AppServer, Key, make_key
from tests.github.hub import REPOSITORY, PatientClock


@pytest.fixture(scope="module")
def key() -> Key:
    """The App's pair of keys."""
    return make_key()


@pytest.fixture
def server(key: Key, clock: PatientClock) -> Iterator[AppServer]:
    """A GitHub that knows the App 12."""
    with AppServer(key.public, clock.now) as found:
        yield found


class Person:
    """Somebody's home, with a gh that is logged in on some hosts."""

    def __init__(self, home: Path, server: AppServer, deadline: Deadline, key: Key) -> None:
        self.home = home
        self.root = home / "work"
        self.root.mkdir()
        self.server = server
        self.deadline = deadline
        self.key_file = home / "app.pem"
        self.key_file.write_text(key.private)
        self.environment = {"HOME": str(home), "PATH": f"{home}/bin:/usr/bin:/bin"}

    def has_gh(self, *hosts: str) -> None:
        """Log gh in on these hosts."""
        folder = self.home / "bin"
        folder.mkdir(exist_ok=True)
        cases = "\n".join(f'{host}) echo "gh-for-{host}";;' for host in hosts)
        (folder / "gh").write_text(f'#!/bin/sh\ncase "$4" in\n{cases}\n*) exit 1;;\nesac\n')
        (folder / "gh").chmod(0o755)

    def writes(self, text: str) -> None:
        """Their own config.toml."""
        folder = self.home / ".config/lifecycle"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text)

    def finds(self, addresses: Addresses | None = None, **variables: str) -> Token:
        """The token that is used."""
        environment = {**self.environment, **variables}
        where = addresses or Addresses()
        return find(TokenPlace(environment, where, self.root, lambda: REPOSITORY, self.deadline))


@pytest.fixture
def person(tmp_path: Path, server: AppServer, deadline: Deadline, key: Key) -> Person:
    """A person without any token."""
    return Person(tmp_path, server, deadline, key)


def test_the_order_of_the_sources(person: Person) -> None:
    """An App of the variables, GH_TOKEN, GITHUB_TOKEN, the user's App, their command, gh, in this order."""
    url = person.server.url
    app = {"LIFECYCLE_APP_ID": "12", "LIFECYCLE_APP_INSTALLATION": "34"}
    app["LIFECYCLE_APP_PRIVATE_KEY_FILE"] = str(person.key_file)
    both = {"GH_TOKEN": "one", "GITHUB_TOKEN": "two"}
    own = Addresses(url, f"{url}/graphql")
    person.has_gh("github.com")
    assert (person.finds().value, person.finds().source) == ("gh-for-github.com", GH)
    command = 'token_command = ["echo", "three"]\n'
    person.writes(command)
    assert person.finds() == Token("three", "token_command")
    mine = f'[app]\nid = 12\ninstallation = 34\nprivate_key = "{person.key_file}"\n'
    person.writes(f'api_url = "{url}"\n{command}{mine}')
    assert person.finds(own).source == "the GitHub App 12"
    assert person.finds(own, GITHUB_TOKEN="two") == Token("two", "GITHUB_TOKEN")
    assert person.finds(own, **both) == Token("one", "GH_TOKEN")
    found = person.finds(own, **both, **app)
    assert (found.source, found.expires_at is not None) == ("the GitHub App 12", True)
    assert found.value not in repr(found)


def test_no_token_names_the_ways_to_one(person: Person) -> None:
    """A gh that is logged in elsewhere is no token for here."""
    person.has_gh("ghes.example")
    with pytest.raises(NoToken) as refusal:
        person.finds()
    for way in ("GH_TOKEN", "GITHUB_TOKEN", "gh auth login", "token_command", "App"):
        assert way in refusal.value.sentence


def test_gh_is_asked_for_hosts_only(person: Person) -> None:
    """Not for an address of this machine, nor for one with a port: gh knows none."""
    person.has_gh("127.0.0.1", "localhost", "ghes.example:8443")
    for host in ("127.0.0.1", "localhost", "ghes.example:8443", "127.0.0.1:80"):
        assert of_gh(host, person.environment) is None


def test_what_gh_prints_must_be_a_token(person: Person) -> None:
    """An explanation on stdout is not sent to anybody, nor shown."""
    person.has_gh()
    (person.home / "bin/gh").write_text("#!/bin/sh\necho please log in first\n")
    with pytest.raises(BadConfig) as refusal:
        person.finds()
    assert "please" not in refusal.value.sentence


def test_what_a_token_command_prints_first_must_be_a_token(person: Person) -> None:
    """What to do is to see what it prints: its program alone, as in "Set it again: sh", is no way."""
    person.writes('token_command = ["sh", "-c", "echo Enter the PIN:; echo three"]\n')
    way = r"Run sh by hand: the first line has to be the token alone\. Or set GH_TOKEN\.$"
    with pytest.raises(BadConfig, match=way) as refusal:
        person.finds()
    assert "PIN" not in refusal.value.sentence


def test_another_token_is_asked_of_the_github_that_it_is_for(person: Person) -> None:
    """A variable's that cannot be one, as where none is."""
    where = Addresses("https://ghes.example/api/v3", "https://ghes.example/api/graphql")
    for variables in ({"GH_TOKEN": "please log in"}, {}):
        with pytest.raises((BadConfig, NoToken), match=r"gh auth token --hostname ghes\.example"):
            person.finds(where, **variables)
    with pytest.raises(BadConfig, match=r"gh auth token\)"):
        person.finds(GH_TOKEN="please log in")


@pytest.mark.parametrize(
    ("host", "api", "graphql"),
    [
        ("ghes.example", "https://ghes.example/api/v3", "https://ghes.example/api/graphql"),
        ("ssh.ghes.example", "https://ghes.example/api/v3", "https://ghes.example/api/graphql"),
        ("octo.ghe.com", "https://api.octo.ghe.com", "https://api.octo.ghe.com/graphql"),
    ],
)
def test_a_remote_on_another_github(person: Person, host: str, api: str, graphql: str) -> None:
    """Where gh is logged in on the remote's host its API is used, with that token and no other."""
    person.has_gh("ghes.example", "octo.ghe.com")
    addresses, token = addresses_of(host, {**person.environment, "GH_TOKEN": "for-github-com"})
    assert addresses == Addresses(api, graphql)
    assert token == Token(f"gh-for-{host.removeprefix('ssh.')}", GH)


@pytest.mark.parametrize("host", ["", "github.com", "ssh.github.com", "gitlab.example"])
def test_a_remote_that_gh_does_not_know(person: Person, host: str) -> None:
    """It stays with github.com: a clone's remote cannot say where a token goes."""
    person.has_gh("github.com", "ghes.example")
    assert addresses_of(host, person.environment) == (Addresses(), None)


def test_a_key_in_the_repository_is_not_used(person: Person) -> None:
    """Whoever has the repository has the App: nothing is asked, through a link neither."""
    inside = person.root / "key.pem"
    inside.write_text(person.key_file.read_text())
    link = person.home / "link.pem"
    link.symlink_to(inside)
    for path in (inside, link):
        with pytest.raises(BadConfig, match="lies in the repository"):
            person.finds(LIFECYCLE_APP_ID="12", LIFECYCLE_APP_PRIVATE_KEY_FILE=str(path))
    assert person.server.asked == []


def test_the_key_itself_may_stand_in_a_variable(person: Person, key: Key) -> None:
    """As a workflow has it from its secrets; the installation is found by the repository."""
    url = person.server.url
    found = person.finds(
        Addresses(url, url), LIFECYCLE_APP_ID="12", LIFECYCLE_APP_PRIVATE_KEY=key.private
    )
    assert found.value.startswith("ghs_")
    assert person.server.asked[0] == "GET /repos/octo-org/hello-service/installation"


def test_an_app_token_can_be_renewed(person: Person) -> None:
    """What is kept is forgotten once GitHub refuses it, and the next look has another."""
    url = person.server.url
    app = {"LIFECYCLE_APP_ID": "12", "LIFECYCLE_APP_INSTALLATION": "34"}
    app["LIFECYCLE_APP_PRIVATE_KEY_FILE"] = str(person.key_file)
    first = person.finds(Addresses(url, url), **app)
    assert first.renew is not None
    assert person.finds(Addresses(url, url), **app).value == first.value
    first.renew()
    assert person.finds(Addresses(url, url), **app).value != first.value


def test_where_a_token_is_looked_for_shows_no_secret(person: Person) -> None:
    """The variables are in no repr."""
    place = TokenPlace({"GH_TOKEN": "hush"}, Addresses(), None, lambda: REPOSITORY, person.deadline)
    assert "hush" not in repr(place)


def test_without_a_worktree_every_key_is_outside(person: Person, key: Key) -> None:
    """Who calls from a folder of no repository may have the key anywhere."""
    url = person.server.url
    variables = {
        **person.environment,
        "LIFECYCLE_APP_ID": "12",
        "LIFECYCLE_APP_PRIVATE_KEY_FILE": str(person.key_file),
    }
    place = TokenPlace(variables, Addresses(url, url), None, lambda: REPOSITORY, person.deadline)
    assert find(place).source == "the GitHub App 12"


def test_a_keeper_finds_once_and_again_when_it_has_to(clock: PatientClock) -> None:
    """The token serves until it is about to end or is refused, and what was kept is forgotten then."""
    forgotten: list[str] = []
    made: list[Token] = []

    def find_one() -> Token:
        value = f"t{len(made)}"
        ends = clock.moment + 3600.0
        made.append(Token(value, "App", ends, lambda: forgotten.append(value)))
        return made[-1]

    keeper = Keeper(find_one, clock)
    keeper.refused()  # nothing was found yet
    assert [keeper.current().value, keeper.current().value] == ["t0", "t0"]
    clock.moment += 3600 - RENEW_SECONDS - 1
    assert keeper.current().value == "t0"
    clock.moment += 1
    assert (keeper.current().value, forgotten) == ("t1", [])
    keeper.refused()
    assert (forgotten, keeper.current().value) == (["t1"], "t2")


def test_a_token_whose_end_nobody_knows_stays(clock: PatientClock) -> None:
    """A person's token is used until GitHub refuses it."""
    keeper = Keeper(lambda: Token("b", "GH_TOKEN"), clock, Token("a", "GH_TOKEN"))
    clock.moment += 1e9
    assert keeper.current().value == "a"
    keeper.refused()
    assert keeper.current().value == "b"
