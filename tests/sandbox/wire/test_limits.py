"""The hour of a token: what counts, what does not, and what is said when it is used up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests
from msgspec.structs import replace

from lifecycle.sandbox.accounts.state import Token, User
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.seed import SeedToken, SeedUser, default_seed
from lifecycle.sandbox.server import Sandbox
from lifecycle.sandbox.wire import limits

if TYPE_CHECKING:
    from collections.abc import Callable

    Api = Callable[..., requests.Response]


def left(answer: requests.Response) -> int:
    """What the answer says is left."""
    return int(answer.headers["x-ratelimit-remaining"])


def test_each_budget_is_its_own(api: Api) -> None:
    """REST, GraphQL and search are counted apart; asking for the limits costs nothing."""
    first = left(api("GET", "issues/42"))
    assert left(api("GET", "issues/42")) == first - 1
    body = {"query": "{ viewer { login } }"}
    assert api("POST", "/graphql", json=body).headers["x-ratelimit-resource"] == "graphql"
    assert left(api("GET", "/rate_limit")) == first - 1
    budgets = api("GET", "/rate_limit").json()["resources"]
    assert budgets["core"]["remaining"] == first - 1
    assert budgets["graphql"]["used"] == 1


def test_what_the_client_has_already_costs_nothing(api: Api) -> None:
    """A 304 is free; the same question without its ETag is not."""
    answer = api("GET", "issues/42")
    again = api("GET", "issues/42", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, left(again)) == (304, left(answer))
    assert left(api("GET", "issues/42")) == left(answer) - 1


@pytest.fixture
def poor() -> Any:
    """A world whose token may ask three things an hour."""
    seed = default_seed()
    with Sandbox(replace(seed, tokens=[replace(seed.tokens[0], limit=3)])) as sandbox:
        yield sandbox


def test_who_has_used_up_the_hour_is_told_so(poor: Sandbox) -> None:
    """REST says 403 with nothing left and when there will be; GraphQL says it with 200."""
    headers = {"Authorization": f"Bearer {poor.info.token}"}
    url = f"{poor.info.api_url}/repos/octo-org/hello-service/issues/42"
    codes = [requests.get(url, headers=headers, timeout=5).status_code for _ in range(4)]
    assert codes == [200, 200, 200, 403]
    refused = requests.patch(url, headers=headers, json={"state": "closed"}, timeout=5)
    assert refused.json()["message"].startswith("API rate limit exceeded for user ID 583231.")
    assert (left(refused), refused.headers["x-ratelimit-used"]) == (0, "3")
    assert poor.site is not None
    assert IssueTables.of(poor.site.world.home).issues[42].state == "open"
    body = {"query": "{ viewer { login } }"}
    for _ in range(3):
        requests.post(poor.info.graphql_url, headers=headers, json=body, timeout=5)
    answer = requests.post(poor.info.graphql_url, headers=headers, json=body, timeout=5)
    assert (answer.status_code, answer.json()["errors"][0]["type"]) == (200, "RATE_LIMIT")
    free = requests.get(f"{poor.info.api_url}/rate_limit", headers=headers, timeout=5)
    assert free.json()["resources"]["core"]["remaining"] == 0


def test_another_hour_begins_anew() -> None:
    """What was used in an hour is forgotten with the next."""
    token = Token("t", User(1, "ada", "Ada", "user"), "classic", frozenset())
    limits.begin(token, 1000)
    limits.spend(token, "core", 4999)
    limits.begin(token, 1000)
    assert limits.left(token, "core") == 1
    limits.begin(token, 4600)
    assert limits.left(token, "core") == 5000


def test_a_workflow_has_a_thousand() -> None:
    """The token of Actions has 1,000 requests an hour, and acts as nobody's."""
    seed = default_seed()
    users = [*seed.users, SeedUser("github-actions[bot]", kind="bot")]
    robot = SeedToken("ghs_actions", "github-actions[bot]", ["issues:write"], "actions")
    with Sandbox(replace(seed, users=users, tokens=[*seed.tokens, robot])) as sandbox:
        headers = {"Authorization": "Bearer ghs_actions"}
        url = f"{sandbox.info.api_url}/repos/octo-org/hello-service/issues/42"
        answer = requests.get(url, headers=headers, timeout=5)
        assert answer.headers["x-ratelimit-limit"] == "1000"
        assert "x-oauth-scopes" not in answer.headers
        user = requests.get(f"{sandbox.info.api_url}/user", headers=headers, timeout=5)
        assert (user.status_code, user.json()["message"]) == (
            403, "Resource not accessible by integration",
        )  # fmt: skip
