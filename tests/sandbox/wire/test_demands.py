"""What GitHub asks of each request before it looks at what is wanted, and what it says to whom."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from msgspec.structs import replace

from lifecycle.sandbox.seed import SeedToken, default_seed
from lifecycle.sandbox.server import Sandbox

Api = Callable[..., requests.Response]


@pytest.mark.parametrize("named", [{}, {"User-Agent": ""}])
@pytest.mark.parametrize("path", ["/user", "/graphql"])
def test_a_client_without_a_name_is_turned_away(
    sandbox: Sandbox, named: dict[str, str], path: str
) -> None:
    """No User-Agent, or an empty one: 403 in words of the front door, whatever the token.

    Source: https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent
    """
    where = urlsplit(sandbox.info.api_url)
    client = http.client.HTTPConnection(str(where.hostname), where.port, timeout=10)
    with closing(client):
        client.request(
            "GET", path, headers={"Authorization": f"token {sandbox.info.token}", **named}
        )
        answer = client.getresponse()
        text = answer.read().decode()
    assert answer.status == 403
    assert "has a User-Agent header" in text


def test_a_version_that_github_lacks_is_refused(api: Api) -> None:
    """400 with the versions that there are; the one that is served may be named.

    Source: https://docs.github.com/rest/about-the-rest-api/api-versions
    """
    answer = api("GET", "/user", headers={"X-GitHub-Api-Version": "v3"})
    assert (answer.status_code, answer.json()["message"]) == (400, "Bad Request")
    assert '"v3", is not a supported version' in answer.json()["errors"]
    served = api("GET", "/user", headers={"X-GitHub-Api-Version": "2022-11-28"})
    assert served.headers["x-github-api-version-selected"] == "2022-11-28"
    newest = api("GET", "/user", headers={"X-GitHub-Api-Version": "2026-03-10"})
    assert newest.status_code == 501


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json", 200),
        ("application/vnd.github+json", 200),
        ("application/vnd.github.raw+json", 200),
        ("text/html, */*;q=0.1", 200),
        ("", 200),
        ("application/xml", 415),
        ("application/vnd.heroku+json; version=3", 415),
    ],
)
def test_a_media_type_that_github_lacks_is_refused(api: Api, accept: str, status: int) -> None:
    """What is no form of JSON is 415. Source: https://github.com/devspace-sh/devspace/pull/282."""
    answer = api("GET", "/user", headers={"Accept": accept})
    assert answer.status_code == status
    if status == 415:
        assert answer.json()["message"].endswith("Must accept 'application/json'.")


def test_what_did_not_change_since_a_date_is_not_sent_again(api: Api) -> None:
    """If-Modified-Since gives 304, and costs nothing, until the thing changes.

    Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
    """
    first = api("GET", "issues/42")
    since = {"If-Modified-Since": first.headers["Last-Modified"]}
    again = api("GET", "issues/42", headers=since)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"]
    long_ago = {"If-Modified-Since": "Thu, 01 Jan 2015 00:00:00 GMT"}
    assert api("GET", "issues/42", headers=long_ago).status_code == 200


def test_an_etag_is_its_askers(api: Api) -> None:
    """Another token, or another media type, is never told that what it has not seen is as it was.

    Source: https://github.com/bored-engineer/github-conditional-http-transport
    """
    given = default_seed()
    maria = SeedToken(token="maria-token", user="maria", scopes=["repo"])
    with Sandbox(replace(given, tokens=[*given.tokens, maria])) as sandbox:

        def ask(token: str, **headers: str) -> requests.Response:
            url = f"{sandbox.info.api_url}/repos/{sandbox.info.repository}/issues/42"
            with requests.Session() as session:
                session.trust_env = False
                named = {"Authorization": f"token {token}", **headers}
                return session.get(url, headers=named, timeout=10)

        tag = ask(sandbox.info.token).headers["ETag"]
        assert ask(sandbox.info.token, **{"If-None-Match": tag}).status_code == 304
        assert ask("maria-token", **{"If-None-Match": tag}).status_code == 200
        other = {"If-None-Match": tag, "Accept": "application/vnd.github+json"}
        assert ask(sandbox.info.token, **other).status_code == 200


@pytest.mark.parametrize("size", ["abc", "0", "-5", ""])
def test_a_size_that_is_none_counts_as_not_asked_for(api: Api, size: str) -> None:
    """`per_page` of nothing, or of less, is the usual 30.

    Source: https://derrickscottux-collab.github.io/github-issues-openapi-portfolio/guides/pagination-and-filters.html
    """
    usual = [one["number"] for one in api("GET", "issues").json()]
    assert len(usual) > 1
    assert [
        one["number"] for one in api("GET", "issues", params={"per_page": size}).json()
    ] == usual


def test_one_value_at_a_time(graphql: Callable[..., Any], api: Api) -> None:
    """A card's field takes one value, and two of different kinds are refused.

    Source: https://docs.github.com/graphql/reference/input-objects#projectv2fieldvalue
    """
    board = graphql(
        '{organization(login:"octo-org"){projectV2(number:1){id items(first:1){nodes{id}}'
        " fields(first:20){nodes{... on ProjectV2Field{id name}}}}}}"
    )["data"]["organization"]["projectV2"]
    agent = next(one["id"] for one in board["fields"]["nodes"] if one.get("name") == "Agent")
    given = {"project": board["id"], "item": board["items"]["nodes"][0]["id"], "field": agent}
    document = (
        "mutation($project:ID!,$item:ID!,$field:ID!){updateProjectV2ItemFieldValue(input:{projectId:$project,"
        'itemId:$item,fieldId:$field,value:{text:"a",number:1}}){projectV2Item{id}}}'
    )
    (error,) = graphql(document, **given)["errors"]
    assert "Only 1 value can be updated at a time" in error["message"]
