"""Recorded refusals, through the client libraries: each becomes its leaf, with wait and evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import responses
from urllib3.exceptions import MaxRetryError, NameResolutionError, NewConnectionError

from lifecycle.core.errors import LifecycleError, Rejected, Transient
from lifecycle.core.timing import Deadline, parse_time
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.library_lines import silence
from lifecycle.github.client.rest import RestClient
from lifecycle.github.failures import AskedRequest
from tests.github.hub import REPOSITORY, TOKEN, PatientClock, forge_over
from tests.github.made_up import BOTH
from tests.github.recorded import DATE, GRAPHQL, REST, Recorded

API = "https://api.github.com:443"
ISSUE = f"{API}/repos/{REPOSITORY}/issues/7"
NEW_NAME = {"full_name": "octo-org/renamed"}


class _Unhurried(Deadline):
    """A deadline by the clock of the test; a request, whose seconds are real ones, has as long as ever."""

    def remaining(self, at_most: float = 10.0) -> float:
        """All that one request may have, while anything is left."""
        super().remaining(at_most)
        return at_most


@pytest.fixture
def deadline(clock: PatientClock) -> Deadline:
    """Longer than our own waits between three attempts, and no longer than any that GitHub names."""
    clock.moment = parse_time(DATE) or 0.0
    return _Unhurried.after(clock, 4)


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com; not all of them are asked for."""
    with responses.RequestsMock(assert_all_requests_are_fired=False) as found:
        yield found


def answer(recorded: Recorded) -> dict[str, Any]:
    """What `responses` sends."""
    body = recorded.body if isinstance(recorded.body, str) else json.dumps(recorded.body)
    return {"status": recorded.status, "body": body, "headers": {"Date": DATE, **recorded.headers}}


def judge(recorded: Recorded, error: LifecycleError) -> None:
    """The error is the recorded one's: leaf, one sentence, wait, evidence, and no secret."""
    assert type(error) is recorded.leaf
    sentence = str(error)
    assert recorded.words in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert recorded.evidence in error.evidence
    if isinstance(error, Transient):
        assert error.retry_after == recorded.wait
    shown = f"{error!r} {error.args} {error.__dict__} {error.__cause__}"
    assert TOKEN not in shown
    assert len(error.evidence) <= 300


@BOTH
@pytest.mark.parametrize(
    "recorded", [one for one in REST if not one.is_write], ids=lambda one: one.name
)
def test_a_refusal_over_rest(
    rest: RestClient, mock: responses.RequestsMock, recorded: Recorded
) -> None:
    """Through PyGithub's objects: an issue that is read."""
    mock.get(ISSUE, **answer(recorded))
    mock.get(f"{API}/repos/{REPOSITORY}", json=NEW_NAME)
    with pytest.raises(LifecycleError) as caught:
        forge_over(rest).issue(7)
    judge(recorded, caught.value)


@BOTH
@pytest.mark.parametrize("recorded", REST, ids=lambda one: one.name)
def test_the_same_by_path(
    rest: RestClient, mock: responses.RequestsMock, recorded: Recorded
) -> None:
    """A call by its path, as every write is, comes to the same error."""
    method = "POST" if recorded.is_write else "GET"
    mock.add(method, ISSUE, **answer(recorded))
    mock.get(f"{API}/repos/{REPOSITORY}", json=NEW_NAME)
    asked = AskedRequest("issue #7", is_write=recorded.is_write)
    with pytest.raises(LifecycleError) as caught:
        rest.exchange(asked, method, f"/repos/{REPOSITORY}/issues/7")
    judge(recorded, caught.value)


@BOTH
@pytest.mark.parametrize("recorded", GRAPHQL, ids=lambda one: one.name)
def test_a_refusal_over_graphql(
    graph: GraphClient, mock: responses.RequestsMock, recorded: Recorded
) -> None:
    """Through gql: a branch that is looked for, a card that is added."""
    mock.post("https://api.github.com/graphql", **answer(recorded))
    with pytest.raises(LifecycleError) as caught:
        ask_graph(graph, is_write=recorded.is_write)
    judge(recorded, caught.value)


def ask_graph(graph: GraphClient, *, is_write: bool) -> None:
    """Add a card, or look for a branch, where a hole in the answer is an error."""
    if is_write:
        graph.execute("add_board_item", {"project": "PVT_1", "content": "I_1"}, subject="adding")
    names = {"owner": "o", "name": "r", "branch": "work"}
    reply = graph.execute("observe_branch", names, subject="the branch")
    raise graph.failures.of_problems(reply.problems, AskedRequest("the branch"))


def refused(reason: Exception) -> requests.ConnectionError:
    """A connection that never came about, as requests tells of it."""
    return requests.ConnectionError(MaxRetryError(None, "/", reason))  # type: ignore[arg-type]  # urllib3 has its pool here


@pytest.mark.parametrize(
    ("error", "words", "may_have_landed"),
    [
        (requests.exceptions.SSLError("certificate verify failed"), "reached safely", False),
        (requests.exceptions.ProxyError("407"), "through the proxy", False),
        (requests.ConnectTimeout("no route"), "could not be reached", False),
        (refused(NewConnectionError(None, "refused")), "could not be reached", False),  # type: ignore[arg-type]
        (
            refused(NameResolutionError("api.github.com", None, OSError())),  # type: ignore[arg-type]
            "could not be reached",
            False,
        ),
        (requests.ReadTimeout("read timed out"), "did not answer in time", True),
        (requests.ConnectionError("Connection aborted."), "broke off the connection", True),
        (requests.exceptions.ChunkedEncodingError("cut"), "broke off the connection", True),
        (requests.exceptions.ContentDecodingError("gzip"), "broke off the connection", True),
        (requests.exceptions.InvalidURL("no host"), "not a usable URL", False),
        (requests.exceptions.MissingSchema("no scheme"), "not a usable URL", False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_requests_raises(error: Exception, words: str, may_have_landed: bool) -> None:
    """No answer: whether the request may have landed depends on how far it came."""
    found = silence(error)
    assert words in found.words
    assert found.may_have_landed is may_have_landed
    assert found.is_final is ("usable" in words)


def test_every_recording_has_a_name_and_a_source() -> None:
    """No two of one table are the same, and each says where it was recorded."""
    for table in (REST, GRAPHQL):
        assert len({one.name for one in table}) == len(table)
        assert all(one.source.startswith(("https://", "PyGithub: ")) for one in table)
    assert {one.leaf for one in (*REST, *GRAPHQL)} > {Transient, Rejected}
