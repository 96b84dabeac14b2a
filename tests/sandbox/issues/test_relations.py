"""Sub-issues and dependencies, which name issues by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.sandbox.tokens import grant

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import Response

    from lifecycle.sandbox.server import Sandbox

    Api = Callable[..., Response]

DUPLICATE = (
    "An error occurred while adding the sub-issue to the parent issue. Issue may not contain "
    "duplicate sub-issues and Sub issue may only have one parent"
)
TAKEN = (
    "An error occurred while adding the blocking issue to the issue. Validation failed: Target "
    "issue has already been taken"
)


def ident(api: Api, number: int) -> int:
    """The id of an issue, which is not its number."""
    return int(api("GET", f"issues/{number}").json()["id"])


def listed(api: Api, path: str) -> list[int]:
    """The numbers of the issues at a path."""
    return [one["number"] for one in api("GET", path).json()]


def add(api: Api, parent: int, child: int, **more: object) -> Response:
    """Make an issue a part of another."""
    body = {"sub_issue_id": ident(api, child), **more}
    return api("POST", f"issues/{parent}/sub_issues", json=body)


def test_sub_issues_are_added_moved_and_removed(api: Api) -> None:
    """The parent answers with its summary, children keep an order that can be changed."""
    for child in (41, 43, 36):
        assert add(api, 42, child).status_code == 201
    parent = api("GET", "issues/42").json()
    assert parent["sub_issues_summary"] == {"total": 3, "completed": 1, "percent_completed": 33}
    assert api("GET", "issues/41").json()["parent_issue_url"] == parent["url"]
    assert api("GET", "issues/41/parent").json()["number"] == 42
    assert listed(api, "issues/42/sub_issues") == [41, 43, 36]
    body = {"sub_issue_id": ident(api, 36), "before_id": ident(api, 41)}
    assert api("PATCH", "issues/42/sub_issues/priority", json=body).status_code == 200
    assert listed(api, "issues/42/sub_issues") == [36, 41, 43]
    both = {**body, "after_id": body["before_id"]}
    assert api("PATCH", "issues/42/sub_issues/priority", json=both).status_code == 422
    gone = api("DELETE", "issues/42/sub_issue", json={"sub_issue_id": ident(api, 41)})
    assert gone.json()["sub_issues_summary"]["total"] == 2
    assert api("GET", "issues/41/parent").status_code == 404
    again = api("DELETE", "issues/42/sub_issue", json={"sub_issue_id": ident(api, 41)})
    assert again.status_code == 404


def test_what_cannot_be_a_sub_issue(api: Api) -> None:
    """Twice, of two parents, of itself, in a circle, a number for an id: refused; taken over if said."""
    add(api, 42, 41)
    twice = add(api, 42, 41)
    assert (twice.status_code, twice.json()["message"]) == (422, DUPLICATE)
    other = add(api, 43, 41)
    assert other.status_code == 422
    assert "Sub issue may only have one parent" in other.json()["message"]
    assert add(api, 43, 41, replace_parent=True).status_code == 201
    assert listed(api, "issues/42/sub_issues") == []
    assert add(api, 41, 43).status_code == 422
    assert add(api, 41, 41).status_code == 422
    assert api("POST", "issues/42/sub_issues", json={"sub_issue_id": 41}).status_code == 404
    assert api("POST", "issues/42/sub_issues", json={"sub_issue_id": "x"}).status_code == 422


def block(api: Api, issue: int, blocker: int) -> Response:
    """Let an issue wait for another."""
    path = f"issues/{issue}/dependencies/blocked_by"
    return api("POST", path, json={"issue_id": ident(api, blocker)})


def test_dependencies_are_seen_from_both_ends(api: Api) -> None:
    """The summaries count open ones and all; removing again changes nothing, adding again is 422."""
    made = block(api, 43, 38)
    assert (made.status_code, made.json()["number"]) == (201, 43)
    assert block(api, 43, 36).status_code == 201
    assert made.headers["Location"] == made.json()["url"]
    summary = api("GET", "issues/43").json()["issue_dependencies_summary"]
    assert summary == {"blocked_by": 1, "total_blocked_by": 2, "blocking": 0, "total_blocking": 0}
    assert api("GET", "issues/38").json()["issue_dependencies_summary"]["blocking"] == 1
    assert listed(api, "issues/43/dependencies/blocked_by") == [38, 36]
    assert listed(api, "issues/38/dependencies/blocking") == [43]
    twice = block(api, 43, 38)
    assert (twice.status_code, twice.json()["message"]) == (422, TAKEN)
    assert block(api, 38, 43).status_code == 422
    assert block(api, 43, 43).status_code == 422
    path = f"issues/43/dependencies/blocked_by/{ident(api, 38)}"
    for _ in range(2):
        assert api("DELETE", path).status_code == 200
    assert listed(api, "issues/43/dependencies/blocked_by") == [36]
    kinds = [one["event"] for one in api("GET", "issues/38/events").json()]
    assert kinds == ["assigned", "blocking_added", "blocking_removed"]


def test_a_deleted_issue_leaves_no_trace_but_410(
    api: Api, graphql: Callable[..., Any], sandbox: Sandbox
) -> None:
    """Deleting takes an issue out of its relations and off the board; its number is 410 for good."""
    add(api, 42, 41)
    block(api, 43, 42)
    node = api("GET", "issues/42").json()["node_id"]
    delete = "mutation($id: ID!) { deleteIssue(input: {issueId: $id}) { repository { name } } }"
    (error,) = graphql(delete, id=node)["errors"]
    assert error["type"] == "FORBIDDEN"
    assert error["message"] == (
        "octocat does not have the correct permissions to execute `DeleteIssue`"
    )
    done = graphql(delete, id=node, token=grant(sandbox, "maria"))
    assert done["data"]["deleteIssue"]["repository"]["name"] == "hello-service"
    answer = api("GET", "issues/42")
    assert (answer.status_code, answer.json()["message"]) == (410, "This issue was deleted")
    assert api("GET", "issues/41/parent").status_code == 404
    assert listed(api, "issues/43/dependencies/blocked_by") == []
    assert graphql("query($id: ID!) { node(id: $id) { id } }", id=node)["data"]["node"] is None
