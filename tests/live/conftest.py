"""The contract tests run against the embedded GitHub; `make live` runs them against a real one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from lifecycle.sandbox.server import Sandbox
from lifecycle.settings.credentials import kept_by_gh
from tests.conformance import sources
from tests.conformance.graph_shape import GraphOracle
from tests.conformance.judge import Judge
from tests.conformance.openapi import RestOracle
from tests.conftest import DEVELOPERS
from tests.live.hub import Hub, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

IS_LIVE = os.environ.get("LIFECYCLE_LIVE") == "1"
TABLE = pytest.StashKey[list[tuple[str, str]]]()


def _live() -> Place:
    """The repository that LIFECYCLE_LIVE_REPO names; without one the test is skipped."""
    repository = os.environ.get("LIFECYCLE_LIVE_REPO", "")
    if repository.count("/") != 1:
        pytest.skip("name a repository that may be written to: LIFECYCLE_LIVE_REPO=owner/name")
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    graph = os.environ.get("GITHUB_GRAPHQL_URL", f"{api}/graphql")
    scheme, _, rest = api.partition("://")
    host = "github.com" if rest == "api.github.com" else rest.partition("/")[0]
    token = os.environ.get("GH_TOKEN") or os.environ.get("GITHUB_TOKEN")
    token = token or kept_by_gh(host, DEVELOPERS)
    if not token:
        pytest.skip("no token: set GH_TOKEN, or log in with gh")
    number = os.environ.get("LIFECYCLE_PROJECT_NUMBER", "")
    owner = os.environ.get("LIFECYCLE_PROJECT_OWNER", repository.partition("/")[0])
    project = (owner, int(number)) if number.isdecimal() else None
    git = f"{scheme}://x-access-token:{token}@{host}/{repository}.git"
    return Place(api, graph, git, repository, token, is_live=True, project=project)


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    """Where the questions are asked."""
    if IS_LIVE:
        yield _live()
        return
    with Sandbox() as sandbox:
        info = sandbox.info
        project = (info.project_owner or "", info.project_number or 0)
        yield Place(
            info.api_url,
            info.graphql_url,
            info.git_url,
            info.repository,
            info.token,
            is_live=False,
            project=project,
        )


@pytest.fixture(scope="module")
def hub(
    place: Place, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Hub]:
    """The repository, cleaned up afterwards; what it answered goes into the table."""
    asked = Hub(place, tmp_path_factory.mktemp("live"))
    asked.session.trust_env = place.is_live  # a proxy is for real networks only
    yield asked
    asked.sweep()
    table = request.config.stash.setdefault(TABLE, [])
    table += asked.answers.items()
    if place.is_live:
        table += _differences(asked)


def _differences(hub: Hub) -> Iterator[tuple[str, str]]:
    """Where a real GitHub answers otherwise than it publishes."""
    rest, graph = sources.kept("openapi"), sources.kept("sdl")
    if rest is None or graph is None:
        return
    judge = Judge(RestOracle.load(rest), GraphOracle.load(graph))
    for finding in {str(one) for each in hub.exchanges for one in judge.findings(each)}:
        yield "not as published", finding


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print what a real GitHub answered."""
    table = config.stash.get(TABLE, [])
    if not (IS_LIVE and table):
        return
    terminalreporter.section("what GitHub answered")
    width = max(len(question) for question, _ in table)
    for question, answer in table:
        terminalreporter.write_line(f"{question:<{width}}  {answer}")
