"""A clock that stands still, and clients on a sandbox or for made-up answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lifecycle.core.timing import Deadline
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import RestClient
from lifecycle.sandbox.server import Sandbox
from tests.github.hub import TOKEN, Hub, PatientClock
from tests.github.made_up import answering


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


STRANGE: list[str] = []
"""What was asked of the made-up GitHub, and had no answer."""


@pytest.fixture
def by_library(request: pytest.FixtureRequest) -> bool:
    """Whether PyGithub and gql send, or the smallest client, as for hooks; several modules try both."""
    return bool(getattr(request, "param", False))


@pytest.fixture(scope="session")
def made_up() -> Iterator[str]:
    """Where what is made up with `responses` is answered over a real connection."""
    with answering(STRANGE) as url:
        yield url


@pytest.fixture
def api(request: pytest.FixtureRequest, by_library: bool) -> Iterator[str]:
    """The address of a GitHub whose answers are made up with `responses`; whoever asks asks for those."""
    STRANGE.clear()
    yield "https://api.github.com" if by_library else str(request.getfixturevalue("made_up"))
    assert STRANGE == []


@pytest.fixture
def graph(api: str, by_library: bool, deadline: Deadline) -> Iterator[GraphClient]:
    """GraphQL of a GitHub whose answers are made up."""
    client = GraphClient(
        f"{api}/graphql", TOKEN, deadline, token_source="GH_TOKEN", by_library=by_library
    )
    yield client
    client.close()


@pytest.fixture
def rest(api: str, by_library: bool, deadline: Deadline) -> Iterator[RestClient]:
    """REST of a GitHub whose answers are made up."""
    client = RestClient(api, TOKEN, deadline, token_source="GH_TOKEN", by_library=by_library)
    yield client
    client.close()
