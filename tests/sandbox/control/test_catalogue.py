"""Faults by name: each as GitHub was seen to do it; by route, count, chance and moment."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
import requests
from msgspec.structs import replace

from lifecycle.sandbox.base.errors import ActionRefused, SeedError
from lifecycle.sandbox.control import Control, ControlError
from lifecycle.sandbox.control.catalogue import CATALOGUE, named
from lifecycle.sandbox.control.faults import FaultBoard
from lifecycle.sandbox.seed import default_seed, form
from lifecycle.sandbox.server import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

    Api = Callable[..., requests.Response]

STATUSES = {
    "primary-limit": 403, "primary-limit-429": 429, "secondary-limit": 403,
    "secondary-limit-without-a-wait": 403, "submitted-too-quickly": 403, "bad-gateway": 502,
    "unavailable": 503, "gateway-timeout": 504, "bad-credentials": 401, "no-permission": 404,
    "merge-not-allowed": 405, "merge-base-modified": 405, "merge-head-moved": 409, "gone": 410,
}  # fmt: skip
QUERY = """{
  viewer { login }
  repository(owner: "octo-org", name: "hello-service") {
    nameWithOwner pullRequests(first: 1) { nodes { number } }
  }
}"""


@pytest.mark.parametrize(("name", "status"), STATUSES.items())
def test_refusals_strike_once_and_change_nothing(
    api: Api, control: Control, name: str, status: int
) -> None:
    """The write is refused as GitHub refuses it; the same write works right after."""
    control.add_fault(name, method="POST", path="/comments$")
    answer = api("POST", "issues/42/comments", json={"body": "Hi"})
    assert answer.status_code == status
    if status < 500:
        assert answer.json()["documentation_url"].startswith("https://")
    assert control.world()["issues"]["42"]["comments"] == []
    assert api("POST", "issues/42/comments", json={"body": "Hi"}).status_code == 201


def test_limits_say_how_long_to_wait(api: Api, control: Control) -> None:
    """A primary limit has its five headers and a reset to come; a secondary one a wait, or none."""
    control.add_fault("primary-limit")
    headers = api("GET", "issues/42").headers
    assert (headers["x-ratelimit-remaining"], headers["x-ratelimit-limit"]) == ("0", "5000")
    assert 0 <= int(headers["x-ratelimit-reset"]) - time.time() <= 60
    control.add_fault("secondary-limit")
    assert api("GET", "issues/42").headers["Retry-After"] == "60"
    control.add_fault("secondary-limit-without-a-wait")
    assert "Retry-After" not in api("GET", "issues/42").headers


@pytest.mark.parametrize("name", ["graphql-rate-limited", "graphql-rate-limit"])
def test_graphql_limits_are_a_200(graphql: Callable[..., Any], control: Control, name: str) -> None:
    """No data, one error, and a type of either spelling."""
    control.add_fault(name)
    answer = graphql(QUERY)
    assert answer.get("data") is None
    assert answer["errors"][0]["type"] == name.removeprefix("graphql-").replace("-", "_").upper()


@pytest.mark.parametrize(
    ("name", "kind", "hole"),
    [
        ("partial-not-found", "NOT_FOUND", ["repository"]),
        ("partial-forbidden", "FORBIDDEN", ["repository"]),
        ("resource-limits", "RESOURCE_LIMITS_EXCEEDED", ["repository", "pullRequests"]),
    ],
)
def test_a_part_is_null_and_the_rest_is_there(
    graphql: Callable[..., Any], control: Control, name: str, kind: str, hole: list[str]
) -> None:
    """One error for the field that failed, with its path; the other fields have their data."""
    control.add_fault(name)
    answer = graphql(QUERY)
    assert [(e["type"], e["path"]) for e in answer["errors"]] == [(kind, hole)]
    assert answer["data"]["viewer"]["login"] == "octocat"
    found = answer["data"]
    for step in hole:
        found = found[step]
    assert found is None


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("name", ["connection-cut", "connection-reset"])
def test_a_connection_that_breaks(api: Api, control: Control, name: str, moment: str) -> None:
    """The client gets no answer; whether the comment is there depends on the moment."""
    control.add_fault(name, when=moment, method="POST")
    with pytest.raises(requests.ConnectionError):
        api("POST", "issues/42/comments", json={"body": "Hi"})
    assert len(control.world()["issues"]["42"]["comments"]) == (moment == "after")


def test_bodies_that_are_no_answers(sandbox: Sandbox, api: Api, control: Control) -> None:
    """An empty one, and one that ends in the middle, of requests that did all they should."""
    control.add_fault("empty-body", method="POST")
    answer = api("POST", "issues/42/comments", json={"body": "Hi"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert len(control.world()["issues"]["42"]["comments"]) == 1
    control.add_fault("truncated-body")
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        api("GET", "issues/42")
    control.add_fault("bad-gateway-json")
    body = {"query": "{ viewer { login } }"}
    answer = api("POST", "/graphql", json=body)
    assert (answer.status_code, answer.json()["data"]) == (502, None)
    assert sandbox.port


def test_every_fault_can_be_set(control: Control) -> None:
    """The whole catalogue is sound; a name or a part that is not there is a sentence."""
    for name in CATALOGUE:
        control.add_fault(name)
    control.clear_faults()
    with pytest.raises(ActionRefused, match="There is no fault 'flood'; there are primary-limit"):
        named("flood")
    with pytest.raises(ActionRefused, match="has no part"):
        named("bad-gateway", colour="red")
    with pytest.raises(ControlError, match="from 0 to 1"):
        control.add_fault("bad-gateway", probability=2)


def test_chance_is_the_same_in_every_run() -> None:
    """With a seed, a fault of a chance strikes the same requests again; another seed, others."""

    def struck(seed: int) -> list[bool]:
        board = FaultBoard()
        board.add(named("bad-gateway", probability=0.3, count=1000, seed=seed))
        return [board.strike("GET", "/x", None) is not None for _ in range(200)]

    assert struck(1) == struck(1) != struck(2)
    assert 30 < sum(struck(1)) < 90


def test_a_count_is_of_strikes_not_of_chances() -> None:
    """Three of a fault that strikes half of the time are three, however many requests it takes."""
    board = FaultBoard()
    board.add(named("bad-gateway", probability=0.5, count=3, skip=10))
    struck = [board.strike("GET", "/x", None) is not None for _ in range(100)]
    assert sum(struck) == 3
    assert not any(struck[:10])


def test_a_world_that_begins_with_faults() -> None:
    """A seed may set them; one of no such name is a mistake of the seed."""
    fault = form.SeedFault("bad-credentials", path="/issues/42$")
    with Sandbox(replace(default_seed(), faults=[fault])) as sandbox:
        url = f"{sandbox.info.api_url}/repos/octo-org/hello-service/issues"
        headers = {"Authorization": f"Bearer {sandbox.info.token}"}
        found = [requests.get(f"{url}/{n}", headers=headers, timeout=5) for n in (45, 42, 42)]
        assert [answer.status_code for answer in found] == [200, 401, 200]
    wrong = replace(default_seed(), faults=[form.SeedFault("flood")])
    with pytest.raises(SeedError, match="There is no fault"), Sandbox(wrong):
        pass
