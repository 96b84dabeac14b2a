"""What is looked at before a document runs: scopes, page sizes, cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed import SeedToken, default_seed
from lifecycle.sandbox.server import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[..., Any]


def test_board_without_scope_is_refused_field_by_field(observe: Ask, control: Control) -> None:
    """Without read:project nothing runs: an error for each board field, no path, no data."""
    control.set_scopes(["repo"])
    answer = observe()
    assert "data" not in answer
    assert {error["type"] for error in answer["errors"]} == {"INSUFFICIENT_SCOPES"}
    assert len(answer["errors"]) > 3
    assert all("path" not in error and error["locations"] for error in answer["errors"])
    assert answer["errors"][0]["message"] == (
        "Your token has not been granted the required scopes to execute this query. The 'id' field "
        "requires one of the following scopes: ['read:project'], but your token has only been granted the: "
        "['repo'] scopes. Please modify your token's scopes at: https://github.com/settings/tokens."
    )


def test_fields_that_are_not_included_need_no_scope(graphql: Ask, control: Control) -> None:
    """With `@include(if: false)` on the board, the rest of the same document works."""
    control.set_scopes(["repo"])
    query = """query($board: Boolean!) { repository(owner: "octo-org", name: "hello-service") {
        issue(number: 42) { number projectItems(first: 1) @include(if: $board) { nodes { id } } } } }"""
    assert graphql(query, board=True)["errors"][0]["type"] == "INSUFFICIENT_SCOPES"
    answer = graphql(query, board=False)
    assert "errors" not in answer
    assert answer["data"]["repository"]["issue"]["number"] == 42


def test_reading_scope_reads_and_does_not_write(graphql: Ask, control: Control) -> None:
    """read:project shows the board; each mutation of it asks for project."""
    control.set_scopes(["repo", "read:project"])
    found = graphql("discover_board", boardOwner="octo-org", boardNumber=1)
    project = found["data"]["repositoryOwner"]["projectV2"]["id"]
    answer = graphql("add_board_item", project=project, content="I_x")
    assert "data" not in answer
    (error,) = answer["errors"]
    assert (
        "'addProjectV2ItemById' field requires one of the following scopes: ['project']"
        in (error["message"])
    )


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ("", "MISSING_PAGINATION_BOUNDARIES"),
        ("(first: 101)", "EXCESSIVE_PAGINATION"),
        ("(first: -1)", "INVALID_CURSOR_ARGUMENTS"),
    ],
)
def test_pages_are_at_most_a_hundred(graphql: Ask, arguments: str, kind: str) -> None:
    """A connection without a size, or with one below 0 or beyond 100, is refused with its path."""
    answer = graphql(
        f"""{{ repository(owner: "octo-org", name: "hello-service") {{
        pulls: pullRequests{arguments} {{ nodes {{ number }} }} }} }}"""
    )
    assert "data" not in answer
    (error,) = answer["errors"]
    assert (error["type"], error["path"]) == (kind, ["repository", "pulls"])


def test_no_page_at_all_still_has_a_count(graphql: Ask) -> None:
    """A size of 0 brings how many there are and none of them, as `gh project` asks."""
    answer = graphql(
        """{ repository(owner: "octo-org", name: "hello-service") {
        issues(first: 0) { totalCount nodes { number } } } }"""
    )
    assert answer["data"]["repository"]["issues"]["nodes"] == []
    assert answer["data"]["repository"]["issues"]["totalCount"] > 0


def test_excess_through_a_variable_is_seen(graphql: Ask) -> None:
    """The size is the variable's value, not its name."""
    text = """query($n: Int!) { repository(owner: "octo-org", name: "hello-service") {
        pullRequests(first: $n) { nodes { number } } } }"""
    assert "errors" not in graphql(text, n=100)
    (error,) = graphql(text, n=101)["errors"]
    assert error["message"] == (
        "Requesting 101 records on the `pullRequests` connection exceeds the `first` limit of 100 records."
    )


def test_cost_is_counted_in_connections(observe: Ask, control: Control) -> None:
    """The query that observes a claim costs one point, in the log and in the headers' count."""
    control.clear_requests()
    observe()
    (request,) = control.requests()
    assert request.points == 1


def test_fine_grained_tokens_are_forbidden_part_by_part() -> None:
    """A fine-grained token sees that there are checks but not which, and no board, beside data."""
    seed = default_seed()
    token = SeedToken("fine", "octocat", ["contents:write", "pull_requests:write"], "fine-grained")
    with Sandbox(replace(seed, tokens=[token])) as sandbox:
        control = Control(sandbox.info.control_url)
        control.push_commit("work", {"a.txt": "a"}, "Work")
        number = control.open_pull("work", "Work")
        control.set_check(number, "lint")
        answer = _ask(sandbox, number)
    repository = answer["data"]["repository"]
    assert repository["issue"]["projectItems"]["nodes"] == [None]
    assert repository["byNumber"]["statusCheckRollup"]["contexts"]["nodes"] == [None]
    assert {error["type"] for error in answer["errors"]} == {"FORBIDDEN"}
    paths = [error["path"] for error in answer["errors"]]
    assert ["repository", "issue", "projectItems", "nodes", 0] in paths
    assert ["repository", "byNumber", "statusCheckRollup", "contexts", "nodes", 0] in paths
    assert answer["errors"][0]["extensions"] == {"saml_failure": False}


def _ask(sandbox: Sandbox, number: int) -> Any:
    import requests

    from lifecycle.github.client.graph import document

    variables = {
        "owner": "octo-org", "name": "hello-service", "issue": 42, "branch": "work",
        "number": number, "byNumber": True, "checks": True, "comments": True,
        "lease": "refs/agent-claims/42", "leased": True,
    }  # fmt: skip
    body = {"query": document("observe_claim", "observe_board").text, "variables": variables}
    headers = {"Authorization": f"bearer {sandbox.info.token}"}
    return requests.post(sandbox.info.graphql_url, json=body, headers=headers, timeout=10).json()
