"""GitHub's search language, over REST and GraphQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.issues.search.query import Term, UnknownSearch, compares, parse
from tests.sandbox.tokens import grant

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import Response

    from lifecycle.sandbox.control import Control
    from lifecycle.sandbox.server import Sandbox

    Api = Callable[..., Response]

HERE = "repo:octo-org/hello-service"


def test_a_search_is_read_as_people_write_it() -> None:
    """Quotes hold words together, a comma is "or", a minus is "not", sort is no condition."""
    query = parse('-label:"a b",c is:open two "three four" sort:updated-asc', ["label", "is"])
    assert query.terms == (
        Term("label", ("a b", "c"), negated=True),
        Term("is", ("open",)),
        Term(None, ("two",)),
        Term(None, ("three four",)),
    )
    assert (query.sort, query.descending) == ("updated", False)


@pytest.mark.parametrize("text", ["language:python", "a OR b", "(a b)"])
def test_what_is_not_imitated_is_refused(text: str) -> None:
    """An unknown qualifier or operator is never taken for words to find."""
    with pytest.raises(UnknownSearch):
        parse(text, ["is"])


@pytest.mark.parametrize(
    ("wanted", "found", "fits"),
    [
        (">2", 3, True), (">2", 2, False), ("1..3", 3, True), ("*..3", 4, False), ("2", 2, True),
        (">=2025-02-01", "2025-02-01T10:00:00Z", True), ("<2025-02-01", "2025-02-01T10:00:00Z", False),
        ("2025-01-01..2025-01-31", "2025-01-31T23:00:00Z", True),
    ],
)  # fmt: skip
def test_comparisons(wanted: str, found: float | str, fits: bool) -> None:
    """Numbers and days compare as far as they are given."""
    assert compares(wanted, found) is fits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is:issue is:open label:bug", [42]),
        ("is:issue state:closed", [36]),
        ("is:issue is:open label:enhancement author:maria", [43, 41, 38]),
        ("is:issue assignee:sam", [39, 38]),
        ("is:issue is:open no:assignee -label:enhancement", [45, 44, 42]),
        ("greet in:title", [41, 36]),
        ("is:issue health in:body sort:created-asc", [38, 43]),
        ("is:pr", [46]),
        ("is:pr draft:false base:main head:work author:@me", [46]),
        ("is:issue involves:sam sort:created-asc", [38, 39, 44]),
        ("is:issue is:open comments:>0", [42]),
        ("is:open is:issue label:bug,documentation", [45, 42]),
    ],
)
def test_what_is_found(api: Api, control: Control, text: str, expected: list[int]) -> None:
    """Each qualifier lets through what it says, newest first unless it is sorted."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    control.open_pull("work", "Work", by="octocat")
    control.comment(42, "Look")
    answer = api("GET", "/search/issues", params={"q": f"{HERE} {text}"}).json()
    assert [one["number"] for one in answer["items"]] == expected
    assert answer["total_count"] == len(expected)


def test_refusals_of_a_search(api: Api, sandbox: Sandbox) -> None:
    """No query and what cannot be seen are 422; what the sandbox does not know is 501."""
    assert api("GET", "/search/issues").json()["errors"][0]["code"] == "missing"
    unseen = api("GET", "/search/issues", params={"q": "repo:octo-org/nothing x"})
    assert unseen.status_code == 422
    assert unseen.json()["errors"][0]["message"].startswith("The listed users and repositories")
    assert api("GET", "/search/issues", params={"q": f"{HERE} team:x"}).status_code == 501
    for text in ("hello", "org:octo-org", "service in:name"):
        found = api("GET", "/search/repositories", params={"q": text}).json()
        assert [one["name"] for one in found["items"]] == ["hello-service"], text
    assert grant(sandbox, "sam")


SEARCH = """query($q: String!, $after: String) { search(type: ISSUE, query: $q, first: 2, after: $after) {
  issueCount pageInfo { hasNextPage endCursor } edges { node { __typename
    ... on Issue { number } ... on PullRequest { number } } } } }"""


def test_search_over_graphql(graphql: Callable[..., Any], control: Control) -> None:
    """Issues and pull requests in one list, page by page; what cannot be seen is not there."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    control.open_pull("work", "Work")
    text = f"{HERE} is:open sort:created-desc"
    first = graphql(SEARCH, q=text)["data"]["search"]
    assert first["issueCount"] == 8
    assert first["edges"][0]["node"] == {"__typename": "PullRequest", "number": 46}
    after = first["pageInfo"]["endCursor"]
    second = graphql(SEARCH, q=text, after=after)["data"]["search"]
    assert [one["node"]["number"] for one in second["edges"]] == [44, 43]
    assert graphql(SEARCH, q="repo:octo-org/nothing")["data"]["search"]["issueCount"] == 0
    assert "does not imitate" in graphql(SEARCH, q="team:x")["errors"][0]["message"]
