"""lifecycle.github: what is imported, and when."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.github.hub import Hub

HEAVY = ("github", "gql", "requests", "urllib3", "tenacity", "graphql")


def heavy_after(code: str, *args: str) -> set[str]:
    """Which of the heavy libraries a fresh interpreter has imported after running `code`."""
    script = f"import sys\n{code}\nprint(*(n for n in {HEAVY!r} if n in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *args],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "module",
    [
        "",
        ".board.board_client",
        ".failures",
        ".pulls.forge",
        ".client.graph",
        ".client.rest",
        ".pulls.translate",
    ],
)
def test_importing_an_adapter_imports_no_library(module: str) -> None:
    """A wake that touches no adapter, or only builds one, pays for none of the libraries."""
    assert heavy_after(f"import lifecycle.github{module}") == set()


WORLD = """
from lifecycle.core.timing import SystemClock
from lifecycle.github.client.client_common import Keeper, Sending, Token
from lifecycle.core.timing import Deadline
from lifecycle.github.board.board_client import ProjectRef
from lifecycle.github.pulls.forge import GitHubForge
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import Calls, RestClient
from lifecycle.github.board.status_fallback import Choice
from lifecycle.github.board.status_labels import StatusLabels
from lifecycle.storage.state_file import MemoryCache
from lifecycle.core.values.model import Look, Repository
api, graphql, token = sys.argv[1:]
deadline = Deadline.after(SystemClock(), 20)
clock, project = deadline.clock, ProjectRef("octo-org", 1)
tokens = Keeper(lambda: Token(token, "GH_TOKEN"), clock)
graph = GraphClient(graphql, Sending(tokens, deadline))
rest = RestClient(api, Sending(tokens, deadline))
choice = Choice(project, "never", StatusLabels(), tokens, MemoryCache(), clock)
forge = GitHubForge(Calls(rest, Repository("octo-org", "hello-service")), graph, choice)
"""


def test_building_the_clients_imports_no_library() -> None:
    """The composition root may build everything that a wake could touch."""
    assert heavy_after(WORLD, "http://127.0.0.1", "http://127.0.0.1", "x") == set()


def test_an_idle_look_speaks_graphql_only(hub: Hub) -> None:
    """PyGithub, the slower half, is not imported to look; nor is gql to write over REST."""
    urls = (hub.info.api_url, hub.info.graphql_url, hub.info.token)
    look = "forge.observe(Look(42, 'work', checks=True, board=True))\ngraph.close()"
    assert "github" not in heavy_after(f"{WORLD}\n{look}", *urls)
    viewer = "assert forge.viewer() == 'octocat'\nrest.close()"
    assert heavy_after(f"{WORLD}\n{viewer}", *urls).isdisjoint({"gql", "graphql"})
    assert hub.asked() == ["ObserveClaim", "GET /user"]
