"""lifecycle.github.client.graph: one GraphQL request, and what each kind of answer becomes."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import responses

from lifecycle.core.errors import (
    BadCredentials,
    LifecycleError,
    MissingScope,
    NoPermission,
    NotFound,
    Rejected,
    Transient,
)
from lifecycle.core.timing import Deadline
from lifecycle.github.client.graph import GraphClient
from lifecycle.sandbox.control.faults import Fault
from tests.github.hub import TOKEN, Hub, PatientClock, sending
from tests.github.made_up import BOTH

URL = "https://api.github.com/graphql"
BRANCH = {"owner": "o", "name": "r", "branch": "work"}
ADD = {"project": "PVT_1", "content": "I_1"}


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com."""
    with responses.RequestsMock() as found:
        yield found


def problem(kind: str, *path: str | int, message: str = "why") -> dict[str, Any]:
    """An entry of `errors`."""
    return {"type": kind, "path": list(path), "message": message}


def refusal(graph: GraphClient, name: str = "observe_branch") -> LifecycleError:
    """The error that a request ends in; it is checked for the token."""
    variables = ADD if name == "add_board_item" else BRANCH
    with pytest.raises(LifecycleError) as caught:
        graph.execute(name, variables, subject="the branch")
    error = caught.value
    assert TOKEN not in f"{error} {error!r} {error.__dict__} {error.__cause__}"
    return error


@BOTH
def test_data_comes_back_with_the_variables_sent(
    graph: GraphClient, mock: responses.RequestsMock
) -> None:
    """The document, its operation name and its variables are sent with the token as bearer."""
    sent = {"variables": BRANCH, "operationName": "ObserveBranch"}
    mock.post(
        URL,
        json={"data": {"repository": {"nameWithOwner": "o/r"}}},
        match=[responses.matchers.json_params_matcher(sent, strict_match=False)],
    )
    reply = graph.execute("observe_branch", BRANCH)
    assert reply.data == {"repository": {"nameWithOwner": "o/r"}}
    assert reply.problems == ()
    assert mock.calls[0].request.headers["Authorization"] == f"Bearer {TOKEN}"


@BOTH
def test_partial_data_comes_with_its_problems(
    graph: GraphClient, mock: responses.RequestsMock
) -> None:
    """What is there is there; what is missing is named by type, path and message."""
    errors = [problem("NOT_FOUND", "repository", "issue"), problem("FORBIDDEN", "a", 0)]
    mock.post(URL, json={"data": {"repository": {"issue": None}}, "errors": errors})
    reply = graph.execute("observe_branch", BRANCH)
    assert reply.data == {"repository": {"issue": None}}
    assert [(one.type, one.path) for one in reply.problems] == [
        ("NOT_FOUND", ("repository", "issue")),
        ("FORBIDDEN", ("a", 0)),
    ]


@BOTH
@pytest.mark.parametrize("data", [None, {"repository": {"nameWithOwner": "o/r"}}])
@pytest.mark.parametrize("kind", ["RATE_LIMITED", "RATE_LIMIT"])
def test_a_rate_limit_in_a_200_is_a_wait(
    graph: GraphClient, mock: responses.RequestsMock, kind: str, data: object
) -> None:
    """GraphQL's limit is HTTP 200; the headers say when it resets, data or not."""
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000090"}
    mock.post(URL, json={"data": data, "errors": [problem(kind)]}, headers=headers)
    error = refusal(graph)
    assert isinstance(error, Transient)
    assert error.retry_after == 90


@BOTH
def test_parts_left_out_for_lack_of_resources_are_no_answer(
    graph: GraphClient, mock: responses.RequestsMock
) -> None:
    """RESOURCE_LIMITS_EXCEEDED nulls parts of a query: they are unknown, not absent."""
    errors = [problem("RESOURCE_LIMITS_EXCEEDED", "repository", "pullRequests")]
    mock.post(URL, json={"data": {"repository": {"pullRequests": None}}, "errors": errors})
    assert type(refusal(graph)) is Transient


@BOTH
@pytest.mark.parametrize(
    ("kind", "leaf"),
    [
        ("INSUFFICIENT_SCOPES", MissingScope),
        ("FORBIDDEN", NoPermission),
        ("NOT_FOUND", NotFound),
        ("UNPROCESSABLE", Rejected),
    ],
)
def test_errors_without_any_data_are_raised(
    graph: GraphClient, mock: responses.RequestsMock, kind: str, leaf: type[LifecycleError]
) -> None:
    """With nothing to go on with, the first problem is the error."""
    mock.post(URL, json={"errors": [problem(kind), problem("OTHER")]})
    assert type(refusal(graph)) is leaf


@BOTH
@pytest.mark.parametrize(
    ("status", "message", "leaf"),
    [
        (401, "Bad credentials", BadCredentials),
        (403, "Resource not accessible by integration", NoPermission),
        (404, "Not Found", Rejected),  # no word on what was asked for: that comes in a 200
        (403, "Not one of the known sentences", NoPermission),
    ],
)
def test_a_refusal_by_status_has_its_leaf(
    graph: GraphClient,
    mock: responses.RequestsMock,
    status: int,
    message: str,
    leaf: type[LifecycleError],
) -> None:
    """An HTTP refusal carries GitHub's own message, which gql does not hand on."""
    mock.post(URL, status=status, json={"message": message})
    error = refusal(graph)
    assert type(error) is leaf
    assert isinstance(error, Rejected)
    assert error.evidence == message


@BOTH
@pytest.mark.parametrize("status", [403, 429])
def test_a_secondary_limit_by_status_is_a_wait(
    graph: GraphClient, mock: responses.RequestsMock, status: int
) -> None:
    """Retry-After is honoured for GraphQL as well, and nothing was written."""
    message = {"message": "You have exceeded a secondary rate limit."}
    mock.post(URL, status=status, json=message, headers={"Retry-After": "11"})
    error = refusal(graph, "add_board_item")
    assert isinstance(error, Transient)
    assert (error.retry_after, error.is_ambiguous) == (11, False)


@BOTH
@pytest.mark.parametrize(
    "answer",
    [
        {"status": 502, "body": "<html>Unicorn!</html>"},
        {"status": 502, "json": {"message": "Server Error"}},
        {"status": 504, "body": ""},
        {"status": 200, "body": "<html>hello</html>"},
        {"status": 200, "body": ""},
        {"status": 200, "body": "null"},
        {"status": 200, "body": "[]"},
        {"status": 200, "body": '{"data": {"repository": {"nameWith'},
        {"status": 200, "json": {"data": None}},
        {"status": 200, "json": {"data": ["odd"]}},
        {"status": 200, "json": {"data": None, "errors": {"odd": 1}}},
        {"status": 200, "json": {"message": "no data and no errors"}},
        {"body": requests.ReadTimeout("read timed out")},
        {"body": requests.ConnectionError("Connection aborted.")},
        {"body": requests.exceptions.ChunkedEncodingError("cut")},
        {
            "status": 200,
            "json": {
                "data": None,
                "errors": [{"message": "Something went wrong while executing your query."}],
            },
        },
    ],
    ids=repr,
)
def test_no_answer_is_ambiguous_for_mutations_only(
    graph: GraphClient, mock: responses.RequestsMock, answer: dict[str, Any]
) -> None:
    """Outages, cut connections and bodies that cannot be read: a mutation may have landed."""
    mock.post(URL, **answer)
    read, write = refusal(graph), refusal(graph, "add_board_item")
    assert type(read) is Transient
    assert type(write) is Transient
    assert (read.is_ambiguous, write.is_ambiguous) == (False, True)


@BOTH
def test_a_mutation_that_was_never_sent_is_not_ambiguous(
    deadline: Deadline, by_library: tuple[str, ...]
) -> None:
    """No connection, no write."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"http://127.0.0.1:{held.getsockname()[1]}/graphql"
        graph = GraphClient(url, sending(TOKEN, deadline, by_library=by_library))
        error = refusal(graph, "add_board_item")
        graph.close()
    assert isinstance(error, Transient)
    assert not error.is_ambiguous


def test_an_unusable_url_is_said(deadline: Deadline) -> None:
    """A mistake in the configured URL is not tried again: it needs a person."""
    client = GraphClient("http://:bad/graphql", sending(TOKEN, deadline))
    assert "usable URL" in str(refusal(client))
    client.close()


@BOTH
def test_nothing_is_sent_after_the_deadline(
    graph: GraphClient, mock: responses.RequestsMock, clock: PatientClock
) -> None:
    """A request for which no time is left is not begun."""
    clock.sleep(31)
    assert "time for this look is up" in str(refusal(graph))
    assert len(mock.calls) == 0


def test_a_server_that_hangs_is_left_in_time(hub: Hub, clock: PatientClock) -> None:
    """The time-out is what is left of the deadline, not the client's own idea."""
    hub.control.add_fault(Fault("hang", path="/graphql"))
    clock.sleep(29.7)
    with pytest.raises(Transient, match="did not answer in time"):
        hub.graph.execute("observe_branch", BRANCH)


@pytest.mark.parametrize(
    ("fault", "is_ambiguous"),
    [
        (Fault("cut", operation="AddBoardItem", when="after"), True),
        (Fault("truncate", operation="AddBoardItem", when="after"), True),
        (Fault("status", operation="AddBoardItem", when="after", status=502), True),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_lost_answer_to_a_mutation_is_ambiguous(
    hub: Hub, fault: Fault, is_ambiguous: bool
) -> None:
    """Over a real connection too: the write landed, the answer did not."""
    project = hub.board.schema().project_id
    hub.control.remove_item(45)
    content = hub.forge.issue(45).id
    hub.control.add_fault(fault)
    with pytest.raises(Transient) as caught:
        hub.graph.execute("add_board_item", {"project": project, "content": content})
    assert caught.value.is_ambiguous is is_ambiguous
    assert "45" in hub.world()["board"]


def test_one_connection_serves_many_requests(hub: Hub) -> None:
    """The session persists, and after close() the next request opens another."""
    variables = {"owner": "octo-org", "name": "hello-service", "branch": "main"}
    hub.graph.execute("observe_branch", variables)
    hub.graph.execute("observe_branch", variables)
    assert hub.control.connections() == 1
    hub.graph.close()
    assert hub.graph.execute("observe_branch", variables).problems == ()
    assert hub.control.connections() == 2
    assert hub.asked() == ["ObserveBranch"] * 3


@BOTH
def test_the_client_does_not_show_the_token(graph: GraphClient) -> None:
    """A repr in a log line must not hold the token."""
    assert TOKEN not in f"{graph!r} {graph.failures!r}"
