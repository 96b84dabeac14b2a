"""What every answer has: authentication, headers, conditional requests, the log."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import requests
from msgspec.structs import replace

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed import SeedToken, SeedUser, default_seed
from lifecycle.sandbox.server import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

    Api = Callable[..., requests.Response]

ISSUE = "/repos/octo-org/hello-service/issues/42"


@pytest.mark.parametrize("scheme", ["token", "Token", "Bearer", "bearer"])
def test_both_schemes_are_accepted(api: Api, sandbox: Sandbox, scheme: str) -> None:
    """`token` and `Bearer` mean the same, in any case."""
    headers = {"Authorization": f"{scheme} {sandbox.info.token}"}
    assert api("GET", "/user", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/user", "/graphql"])
def test_bad_credentials(api: Api, path: str) -> None:
    """An unknown token is 401 in GitHub's words, for REST and GraphQL alike."""
    answer = api("POST" if path == "/graphql" else "GET", path, token="wrong", json={"query": "{"})
    assert answer.status_code == 401
    assert answer.json() == {
        "message": "Bad credentials",
        "documentation_url": "https://docs.github.com/rest",
        "status": "401",
    }


def test_no_credentials(api: Api) -> None:
    """Without a token nothing is read here."""
    for path in ("/user", "/graphql"):
        answer = api("POST" if path == "/graphql" else "GET", path, headers={"Authorization": ""})
        assert answer.status_code == 401
        assert "authenticat" in answer.json()["message"]


def test_headers_that_clients_read(api: Api) -> None:
    """Limits count down per resource; the request has an id, the answer a date and the scopes."""
    first, second = (api("GET", ISSUE).headers for _ in range(2))
    assert (first["x-ratelimit-limit"], first["x-ratelimit-resource"]) == ("5000", "core")
    assert int(first["x-ratelimit-remaining"]) - int(second["x-ratelimit-remaining"]) == 1
    assert int(first["x-ratelimit-used"]) + int(first["x-ratelimit-remaining"]) == 5000
    assert int(first["x-ratelimit-reset"]) > parsedate_to_datetime(first["Date"]).timestamp()
    assert first["x-github-request-id"] != second["x-github-request-id"]
    assert first["x-oauth-scopes"] == "project, repo"
    query = {"query": "{ viewer { login } }"}
    assert api("POST", "/graphql", json=query).headers["x-ratelimit-resource"] == "graphql"


def test_an_unchanged_thing_is_304(api: Api, control: Control) -> None:
    """With its ETag, what has not changed is 304 without a body; what has is 200 again."""
    tag = api("GET", ISSUE).headers["ETag"]
    same = api("GET", ISSUE, headers={"If-None-Match": tag})
    assert (same.status_code, same.content) == (304, b"")
    control.assign(42, "maria")
    assert api("GET", ISSUE, headers={"If-None-Match": tag}).status_code == 200


def test_broken_json_is_400(api: Api) -> None:
    """What is not a JSON object is refused before anything happens."""
    words = {b"{": "Problems parsing JSON", b"[]": "Body should be a JSON object"}
    for data in (b"{", b"[]", b"\xff"):
        answer = api("POST", f"{ISSUE}/comments", data=data)
        expected = words.get(data, "Problems parsing JSON")
        assert (answer.status_code, answer.json()["message"]) == (400, expected)


def test_a_classic_token_without_repo_cannot_write(api: Api, control: Control) -> None:
    """GitHub hides what a classic token may not do: 404, and nothing is written."""
    control.set_scopes(["project"])
    assert api("GET", ISSUE).status_code == 200
    assert api("POST", f"{ISSUE}/comments", json={"body": "x"}).status_code == 404
    assert control.world()["issues"]["42"]["comments"] == []


@pytest.fixture
def guests() -> Any:
    """A world with a reader's classic token and a fine-grained one for issues only."""
    seed = default_seed()
    users = [*seed.users, SeedUser("guest", role="read")]
    tokens = [
        SeedToken("guest-token", "guest", ["repo"]),
        SeedToken("fine-token", "octocat", ["issues:write"], "fine-grained"),
    ]
    with Sandbox(replace(seed, users=users, tokens=tokens)) as sandbox:
        yield sandbox


def ask(sandbox: Sandbox, token: str, method: str, path: str, **kwargs: Any) -> requests.Response:
    """A request with a token of one's choice."""
    headers = {"Authorization": f"token {token}"}
    url = f"{sandbox.info.api_url}{path}"
    return requests.request(method, url, headers=headers, timeout=10, **kwargs)


def test_a_reader_may_comment_and_no_more(guests: Sandbox) -> None:
    """Without push access: no closing, assignees silently ignored, no pull request."""
    token = "guest-token"
    Control(guests.info.control_url).push_commit("work", {"a.txt": "a"}, "Work")
    assert ask(guests, token, "POST", f"{ISSUE}/comments", json={"body": "Hi"}).status_code == 201
    closing = ask(guests, token, "PATCH", ISSUE, json={"state": "closed"})
    assert closing.status_code == 403
    assert closing.json()["message"] == "Must have admin rights to Repository."
    assigned = ask(guests, token, "POST", f"{ISSUE}/assignees", json={"assignees": ["guest"]})
    assert (assigned.status_code, assigned.json()["assignees"]) == (201, [])
    body = {"title": "x", "head": "work", "base": "main"}
    pulls = "/repos/octo-org/hello-service/pulls"
    assert ask(guests, token, "POST", pulls, json=body).status_code == 404


def test_a_fine_grained_token_is_told_what_it_lacks(guests: Sandbox) -> None:
    """403 in GitHub's words, with the permission in a header, and no scopes in any."""
    answer = ask(guests, "fine-token", "PATCH", ISSUE, json={"state": "closed"})
    assert answer.status_code == 200
    assert "x-oauth-scopes" not in answer.headers
    body = {"title": "x", "head": "work", "base": "main"}
    denied = ask(guests, "fine-token", "POST", "/repos/octo-org/hello-service/pulls", json=body)
    assert denied.status_code == 403
    assert denied.json()["message"] == "Resource not accessible by personal access token"
    assert denied.headers["x-accepted-github-permissions"] == "pull_requests=write"


def test_the_log_counts_and_keeps_no_secret(api: Api, control: Control, sandbox: Sandbox) -> None:
    """Every request is there, in order, without query, header or body; control requests are not."""
    control.clear_requests()
    api("GET", "/user", params={"access_token": sandbox.info.token})
    api("POST", f"{ISSUE}/comments", json={"body": sandbox.info.token})
    api("GET", f"{ISSUE}0")
    seen = control.requests()
    assert [(one.method, one.path, one.status) for one in seen] == [
        ("GET", "/user", 200), ("POST", f"{ISSUE}/comments", 201), ("GET", f"{ISSUE}0", 404),
    ]  # fmt: skip
    assert [one.kind for one in seen] == ["rest"] * 3
    assert [b.n - a.n for a, b in pairwise(seen)] == [1, 1]
    assert sandbox.info.token not in repr(seen)


def test_a_proxy_request_line_is_understood(sandbox: Sandbox) -> None:
    """A client that takes the sandbox for a proxy sends the whole URL, and URLs are its own."""
    proxies = {"http": sandbox.info.api_url}
    headers = {"Authorization": f"token {sandbox.info.token}"}
    url = f"http://github.localhost{ISSUE}"
    answer = requests.get(url, proxies=proxies, headers=headers, timeout=10)
    assert answer.json()["url"] == url
