"""Another repository's world: shared clients, a git that only pushes, and a token that nobody sees."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.errors import GitFailed, NoToken
from lifecycle.core.redact import redact
from lifecycle.core.values.model import Look, Repository
from lifecycle.git import lease
from tests.reconcile.conftest import Make
from tests.reconcile.conftest import make as make  # noqa: PLC0414 -- the fixture, by its name
from tests.reconcile.ground import HOME, Given, Ground
from tests.worlds import TOKEN

OTHER = Repository("octo-org", "another")
HEADER = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


@pytest.fixture
def one(make: Make) -> Ground:
    """Two repositories with one claimed task each, both called #42."""
    return make(Given(), Given(repository=str(OTHER), agent="bob-1"))


@pytest.fixture
def home(one: Ground) -> Iterator[WorktreeWorld]:
    """The world of the first."""
    with one.world() as world:
        yield world


def there(one: Ground, home: WorktreeWorld, place: Path) -> WorktreeWorld:
    """The world of the second, in an empty folder."""
    place.mkdir()
    return home.elsewhere(OTHER, f"{one.info.api_url}/{OTHER}", place)


def test_reads_and_writes_go_to_the_other_repository(
    one: Ground, home: WorktreeWorld, tmp_path: Path
) -> None:
    """A look, a comment and the end of a lease happen there; here nothing changes."""
    other = there(one, home, tmp_path / "place")
    seen = other.forge.observe(Look(42, "", board=True))
    assert seen.repository == str(OTHER)
    assert seen.item is not None
    assert seen.item.agent == "bob-1"
    other.forge.comment(42, "Hello")
    lease.release(other.git, other.settings.remote, 42, one.shows(42, str(OTHER)).lease)
    assert one.shows(42, str(OTHER)).comments == ("Hello",)
    assert one.shows(42, str(OTHER)).lease == ""
    assert one.shows(42, HOME).comments == ()
    assert one.shows(42, HOME).lease


def test_clients_are_shared_and_the_settings_are_not(
    one: Ground, home: WorktreeWorld, tmp_path: Path
) -> None:
    """Requests of both worlds are counted together, on connections that both use."""
    home.forge.observe(Look(42, ""))
    other = there(one, home, tmp_path / "place")
    other.forge.observe(Look(42, ""))
    assert home.spent[0] == other.spent[0] == 2
    assert one.control.connections() == 1
    assert (str(home.base), str(other.base), str(other.head)) == (HOME, str(OTHER), str(OTHER))
    assert other.git.remotes()[other.remote][0].endswith(f"/{OTHER}.git")


def test_the_token_is_on_no_command_line_and_in_no_file(
    one: Ground, home: WorktreeWorld, tmp_path: Path
) -> None:
    """git gets it by a variable: neither the remote's name nor the folder holds it."""
    place = tmp_path / "place"
    other = there(one, home, place)
    assert lease.read(other.git, other.settings.remote, 42) is not None
    assert TOKEN not in repr(other.git.remotes())
    kept = b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())
    assert TOKEN.encode() not in kept
    assert HEADER.encode() not in kept


def test_the_header_is_a_secret_of_the_process(
    one: Ground, home: WorktreeWorld, tmp_path: Path
) -> None:
    """What git is given is taken out of every text, as the token is."""
    there(one, home, tmp_path / "place")
    assert HEADER not in redact(f"fatal: sent Authorization: {HEADER} and {HEADER}", {})


def test_git_gets_the_token_for_this_server_alone(
    one: Ground, home: WorktreeWorld, tmp_path: Path
) -> None:
    """The header is bound to scheme, host and port; what was configured by variables stays."""
    home.environment = {
        **home.environment,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "Somebody",
    }
    other = there(one, home, tmp_path / "place")
    assert other.git.run("config", "user.name") == "Somebody"
    key = "http.extraHeader"
    (url, _) = other.git.remotes()["origin"]
    asked = ("config", "--get-urlmatch", key)
    assert HEADER in other.git.run(*asked, url, remote="origin")
    for strange in ("http://127.0.0.1:1/x.git", "https://example.org/x.git"):
        assert other.git.run(*asked, strange, check=False, remote="origin") == ""
    assert other.git.run(*asked, url, check=False) == "", "a command that talks to nobody has none"


def test_a_lease_that_moved_is_not_deleted(
    one: Ground, home: WorktreeWorld, tmp_path: Path
) -> None:
    """Another sha than the one that was seen: the lease stays, and that is no error."""
    other = there(one, home, tmp_path / "place")
    before = one.shows(42, str(OTHER)).lease
    lease.release(other.git, other.settings.remote, 42, "a" * 40)
    assert one.shows(42, str(OTHER)).lease == before


def test_what_git_says_no_to_has_a_sentence_without_the_token(
    one: Ground, home: WorktreeWorld, tmp_path: Path
) -> None:
    """A push that is refused fails with git's words, and no secret is in them."""
    other = there(one, home, tmp_path / "place")
    one.control.add_fault("no-permission", path="/git-receive-pack$", count=9)
    with pytest.raises(GitFailed) as caught:
        lease.release(other.git, other.settings.remote, 42, one.shows(42, str(OTHER)).lease)
    words = f"{caught.value} {caught.value.evidence}"
    assert TOKEN not in words
    assert HEADER not in words


def test_without_a_token_there_is_no_such_world(one: Ground, tmp_path: Path) -> None:
    """Nothing is made where nobody could write."""
    with one.world(GH_TOKEN="", PATH="/nowhere") as home, pytest.raises(NoToken):
        there(one, home, tmp_path / "place")
    assert list((tmp_path / "place").iterdir()) == []
