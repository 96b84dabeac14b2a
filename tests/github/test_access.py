"""What a token is and may do: read from its first letters and from answers, never written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import responses
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lifecycle.core.errors import BadCredentials, NotFound, Transient
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import Repository, RepositoryAccess
from lifecycle.github.auth.tokens import token_facts
from lifecycle.github.client.rest import RestClient
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.seed import SeedToken, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.github.hub import REPOSITORY, TOKEN, Hub

API = "https://api.github.com:443"


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com."""
    with responses.RequestsMock() as found:
        yield found


@pytest.mark.parametrize(
    ("token", "headers", "kind"),
    [
        ("ghp_x", {"x-oauth-scopes": "repo"}, "classic"),
        ("github_pat_x", {}, "fine-grained"),
        ("gho_x", {"x-oauth-scopes": "repo"}, "oauth"),
        ("ghu_x", {}, "app"),
        ("ghs_x", {"x-ratelimit-limit": "5000"}, "app"),
        ("ghs_x", {"x-ratelimit-limit": "1000"}, "actions"),
        ("0123abcd", {"x-oauth-scopes": ""}, "classic"),
        ("0123abcd", {}, "unknown"),
        ("", {}, "unknown"),
    ],
)
def test_the_kind_of_a_token(token: str, headers: dict[str, str], kind: str) -> None:
    """GitHub's prefixes tell; without one, a token that has scopes is a classic one."""
    assert token_facts(token, "", headers).kind == kind


def test_headers_are_facts() -> None:
    """Scopes in their order, GitHub's clock, what is left of the hour, and what it wants."""
    facts = token_facts(
        "ghp_x",
        "maria",
        {
            "x-oauth-scopes": "repo,  project ,read:org",
            "date": "Sat, 31 Jan 2026 10:00:00 GMT",
            "x-ratelimit-limit": "5000",
            "x-ratelimit-remaining": "4999",
            "x-accepted-github-permissions": "issues=write",
        },
    )
    assert (facts.login, facts.scopes) == ("maria", ("repo", "project", "read:org"))
    assert (facts.server_time, facts.permissions) == (1769853600.0, "issues=write")
    assert (facts.limit, facts.remaining) == (5000, 4999)


def test_what_github_does_not_say_is_unknown() -> None:
    """No scopes header is no scopes, an empty one is a token that was given none."""
    facts = token_facts("ghp_x", "", {"x-ratelimit-limit": "many"})
    assert (facts.scopes, facts.server_time, facts.limit, facts.remaining) == (None,) * 4
    assert token_facts("ghp_x", "", {"x-oauth-scopes": ""}).scopes == ()


@given(st.text(), st.dictionaries(st.text(), st.text() | st.none() | st.integers()))
def test_no_header_breaks_the_facts(token: str, headers: dict[str, Any]) -> None:
    """Whatever a server or a proxy in between says, there are facts, without the token."""
    secret = f"ghp_{token}secret"
    names = ("x-oauth-scopes", "date", "x-ratelimit-limit", "x-ratelimit-remaining")
    shuffled = dict(zip(names, headers.values(), strict=False))
    assert secret not in repr(token_facts(secret, "", {**headers, **shuffled}))


def test_a_classic_token_says_who_and_what(hub: Hub) -> None:
    """One request that changes nothing, with the scopes as they are now."""
    hub.control.set_scopes(["repo", "read:project"])
    hub.asked()
    facts = hub.rest.token_facts()
    assert (facts.login, facts.kind, facts.scopes) == (
        "octocat",
        "classic",
        ("read:project", "repo"),
    )
    assert facts.limit == 5000
    assert facts.server_time is not None
    assert hub.asked() == ["GET /user"]


def test_a_token_that_is_nobodys(deadline: Deadline) -> None:
    """An app's or Actions' may not ask who it is, and is still told how much is left."""
    token = SeedToken("ghs_of-an-app", "octocat", ["issues:write", "contents:write"], "app")
    with Sandbox(replace(default_seed(), tokens=[token])) as sandbox:
        hub = Hub(sandbox.info, deadline)
        facts = hub.rest.token_facts()
        assert (facts.login, facts.kind, facts.scopes) == ("", "app", None)
        assert facts.remaining == 4999  # of the refused question; the other one is free
        assert hub.asked() == ["GET /user", "GET /rate_limit"]
        assert hub.forge.repository_access().can_push
        hub.rest.close()


def test_a_fine_grained_token_has_no_scopes(deadline: Deadline) -> None:
    """It has permissions instead, which GitHub lists nowhere."""
    token = SeedToken("github_pat_x", "octocat", ["issues:write"], "fine-grained")
    with Sandbox(replace(default_seed(), tokens=[token])) as sandbox:
        hub = Hub(sandbox.info, deadline)
        facts = hub.rest.token_facts()
        assert (facts.login, facts.kind, facts.scopes) == ("octocat", "fine-grained", None)
        hub.rest.close()


def test_a_bad_token_is_said(rest: RestClient, mock: responses.RequestsMock) -> None:
    """No fallback helps a token that GitHub does not know, and the sentence does not hold it."""
    mock.get(f"{API}/user", status=401, json={"message": "Bad credentials"})
    with pytest.raises(BadCredentials) as caught:
        rest.token_facts()
    assert TOKEN not in f"{caught.value} {caught.value!r}"


def test_a_spent_limit_is_no_missing_permission(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """A 403 that says to wait is not taken for a token that is nobody's."""
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700009999"}
    mock.get(f"{API}/user", status=403, json={"message": "API rate limit"}, headers=headers)
    with pytest.raises(Transient):
        rest.token_facts()
    assert len(mock.calls) == 1


@pytest.mark.parametrize("body", ["[]", "{}", '"x"', "null", ""])
def test_an_answer_of_another_shape_is_no_fact(
    rest: RestClient, mock: responses.RequestsMock, body: str
) -> None:
    """What a proxy answers instead of GitHub is not read as a token or repository."""
    mock.get(f"{API}/user", body=body, content_type="application/json")
    mock.get(f"{API}/repos/{REPOSITORY}", body=body, content_type="application/json")
    with pytest.raises(Transient):
        rest.token_facts()
    with pytest.raises(Transient):
        rest.repository_access(REPOSITORY)


def test_what_the_owner_of_a_token_may_do(hub: Hub, deadline: Deadline) -> None:
    """Write and read, as GitHub says it of the repository, in one request."""
    hub.control.add_fault(Fault("status", method="GET"))
    assert hub.forge.repository_access() == RepositoryAccess(
        name="octo-org/hello-service", default_branch="main", can_push=True
    )
    assert hub.asked() == ["GET "] * 2
    reader = SeedToken("ghp_reader", "visitor", ["repo"])
    with Sandbox(replace(default_seed(), tokens=[reader])) as sandbox:
        other = Hub(sandbox.info, deadline)
        assert other.forge.repository_access().can_push is False
        other.rest.close()


def test_a_repository_of_any_kind(rest: RestClient, mock: responses.RequestsMock) -> None:
    """Private, archived, without issues, and renamed: all of it is said."""
    found = {"full_name": "octo-org/renamed", "private": True, "archived": True}
    found |= {"has_issues": False, "default_branch": "trunk"}
    mock.get(f"{API}/repos/{REPOSITORY}", json=found)
    assert rest.repository_access(REPOSITORY) == RepositoryAccess(
        name="octo-org/renamed",
        default_branch="trunk",
        is_private=True,
        has_issues=False,
        is_archived=True,
    )


def test_a_repository_with_nulls(rest: RestClient, mock: responses.RequestsMock) -> None:
    """What GitHub gives as null is not known, and no reason to refuse the rest."""
    nothing = dict.fromkeys(("default_branch", "permissions", "private", "archived", "parent"))
    mock.get(f"{API}/repos/{REPOSITORY}", json={"full_name": "octo-org/bare", **nothing})
    assert rest.repository_access(REPOSITORY) == RepositoryAccess(name="octo-org/bare")


def test_a_repository_that_is_not_shown(hub: Hub) -> None:
    """It is not there, or hidden: GitHub does not say which."""
    with pytest.raises(NotFound, match="octo-org/gone"):
        hub.rest.repository_access(Repository("octo-org", "gone"))
