"""A token that ends or is refused in the midst: whoever lives longer than it goes on with another."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lifecycle.api import GitHub
from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.errors import BadConfig, BadCredentials, NoToken
from lifecycle.core.light_dataclass import replace
from lifecycle.core.timing import Deadline
from lifecycle.github.client.client_common import Keeper, Sending, Token
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import RestClient
from lifecycle.storage.state_file import MemoryCache
from tests.github.apps import HOUR, AppServer, Key, make_key
from tests.github.hub import PatientClock

POST = "POST /app/installations/34/access_tokens"
LABEL = "GET /repos/octo-org/hello-service/labels/bug"


@pytest.fixture(scope="module")
def key() -> Key:
    """The App's pair of keys."""
    return make_key()


@pytest.fixture
def server(key: Key, clock: PatientClock) -> Iterator[AppServer]:
    """A GitHub whose clock is the test's."""
    with AppServer(key.public, clock.now) as found:
        yield found


@pytest.fixture
def environment(server: AppServer, key: Key, tmp_path: Path) -> dict[str, str]:
    """Somebody with an App, for that GitHub."""
    (tmp_path / "app.pem").write_text(key.private)
    return {
        "HOME": str(tmp_path),
        "LIFECYCLE_APP_ID": "12",
        "LIFECYCLE_APP_INSTALLATION": "34",
        "LIFECYCLE_APP_PRIVATE_KEY_FILE": str(tmp_path / "app.pem"),
        "GITHUB_API_URL": server.url,
        "GITHUB_GRAPHQL_URL": f"{server.url}/graphql",
    }


@pytest.fixture
def hub(environment: dict[str, str], clock: PatientClock) -> Iterator[GitHub]:
    """The object of a program that runs for days."""
    with GitHub("octo-org/hello-service", environment=environment, clock=clock,
                seconds=None) as found:  # fmt: skip
        yield found


def kept(environment: dict[str, str]) -> list[str]:
    """The values of the tokens that are kept for all processes."""
    file = Path(environment["HOME"], ".config/lifecycle/app-tokens.json")
    return [entry["token"] for entry in json.loads(file.read_text())["tokens"].values()]


def test_an_object_that_outlives_its_token_goes_on_with_another(
    hub: GitHub, server: AppServer, environment: dict[str, str], clock: PatientClock
) -> None:
    """An hour later the same object, and the same part of it, asks with a new token: no 401 is seen."""
    labels = hub.labels
    assert not labels.ensure_label("bug").changed
    server.dead.update(kept(environment))
    clock.moment += HOUR + 100
    assert not labels.ensure_label("bug").changed
    assert server.asked == [POST, LABEL, POST, LABEL]


def test_a_rest_call_that_is_refused_forgets_the_token(
    hub: GitHub, server: AppServer, environment: dict[str, str]
) -> None:
    """A revoked token costs one failed call; the next is made with a new one, by every process."""
    assert not hub.labels.ensure_label("bug").changed
    server.dead.update(kept(environment))
    with pytest.raises(BadCredentials):
        hub.labels.ensure_label("bug")
    assert kept(environment) == []
    assert not hub.labels.ensure_label("bug").changed
    assert server.asked == [POST, LABEL, LABEL, POST, LABEL]


def test_an_app_that_is_gone_says_nothing_about_what_was_asked_for(
    hub: GitHub, server: AppServer, clock: PatientClock
) -> None:
    """While it outlives its token: 404 and 403 are about the App, and no label counts as missing."""
    assert not hub.labels.ensure_label("bug").changed
    clock.moment += HOUR
    for status, words in ((404, "Not Found"), (403, "This installation has been suspended")):
        server.refusals.append((status, words))
        with pytest.raises(NoToken, match="GitHub App"):
            hub.labels.ensure_label("bug")
    assert not hub.labels.ensure_label("bug").changed
    assert server.asked.count(LABEL) == 2


@pytest.mark.parametrize("place", ["/", "home", "repository"])
def test_the_folder_that_a_program_runs_in_is_no_repository(
    hub: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A key above it is no key in a repository; one in the repository around it is not used."""
    folder = tmp_path / "some/where"
    folder.mkdir(parents=True)
    if place == "repository":
        subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
        monkeypatch.chdir(folder)
        with pytest.raises(BadConfig, match="lies in the repository"):
            hub.labels.ensure_label("bug")
        return
    monkeypatch.chdir("/" if place == "/" else tmp_path)
    assert not hub.labels.ensure_label("bug").changed


@pytest.mark.parametrize("touch", ["REST", "GraphQL"])
def test_a_look_after_a_refusal_has_another_token(
    touch: str,
    server: AppServer,
    environment: dict[str, str],
    tmp_path: Path,
    clock: PatientClock,
) -> None:
    """Whichever client is refused: the next look has a new token, and an answer."""
    (tmp_path / "work").mkdir()
    variables = {**environment, "LIFECYCLE_REPOSITORY": "octo-org/hello-service"}
    world = WorktreeWorld(tmp_path / "work", variables, clock, Deadline(clock, None), MemoryCache())
    asks: dict[str, Callable[[], object]] = {
        "REST": world.forge.repository_access,
        "GraphQL": world.forge.viewer,
    }
    first = world.token
    assert world.token is first
    server.dead.add(first.value)
    with pytest.raises(BadCredentials):
        asks[touch]()
    assert kept(environment) == []
    assert world.token.value != first.value
    assert world.forge.viewer() == "robot[bot]"
    second = world.token
    assert world.forge.viewer() == "robot[bot]"
    assert world.token is second
    world.close()


def test_a_client_begins_anew_with_another_token(
    server: AppServer, environment: dict[str, str], deadline: Deadline
) -> None:
    """Each request is sent with the token that is good then, and its errors name that one's source."""
    told: list[str] = []

    def sending(who: str) -> Sending:
        tokens = Keeper(lambda: replace(now[-1], renew=lambda: told.append(who)), deadline.clock)
        return Sending(tokens, deadline)

    now = [Token("first", "GH_TOKEN")]
    rest = RestClient(server.url, sending("rest"))
    graph = GraphClient(f"{server.url}/graphql", sending("graph"))
    for token in (now[0], Token("second", "token_command")):
        now.append(token)
        for ask in (rest.viewer, lambda: graph.execute("viewer", {})):
            with pytest.raises(BadCredentials, match=token.source):
                ask()
    assert told == ["rest", "graph"] * 2
    rest.close()
    graph.close()
