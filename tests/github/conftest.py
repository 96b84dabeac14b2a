"""A clock that stands still, and clients on a sandbox or for made-up answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lifecycle.core.timing import Deadline
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import RestClient
from lifecycle.sandbox.server import Sandbox
from tests.github.hub import TOKEN, Hub, PatientClock


@pytest.fixture
def clock() -> PatientClock:
    """Time stands still until somebody sleeps."""
    return PatientClock()


@pytest.fixture
def deadline(clock: PatientClock) -> Deadline:
    """Half a minute."""
    return Deadline.after(clock, 30)


@pytest.fixture
def hub(deadline: Deadline) -> Iterator[Hub]:
    """A fresh sandbox and all adapters on it."""
    with Sandbox() as sandbox:
        found = Hub(sandbox.info, deadline)
        found.control.clear_requests()
        yield found
        found.graph.close()
        found.rest.close()


@pytest.fixture
def graph(deadline: Deadline) -> Iterator[GraphClient]:
    """GraphQL of api.github.com, for answers made up with `responses`."""
    client = GraphClient("https://api.github.com/graphql", TOKEN, deadline, token_source="GH_TOKEN")
    yield client
    client.close()


@pytest.fixture
def rest(deadline: Deadline) -> Iterator[RestClient]:
    """REST of api.github.com, for answers made up with `responses`."""
    client = RestClient("https://api.github.com", TOKEN, deadline, token_source="GH_TOKEN")
    yield client
    client.close()
