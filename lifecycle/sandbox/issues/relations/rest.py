"""REST's operations on sub-issues and dependencies, which name issues by id, not by number.

Sources: https://docs.github.com/rest/issues/sub-issues and
https://docs.github.com/rest/issues/issue-dependencies
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lifecycle.sandbox.base.errors import ApiError, refusing
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.issues import payload as payloads
from lifecycle.sandbox.issues.relations import actions as relations
from lifecycle.sandbox.issues.rest import ISSUE
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call, Reply, created, route
from lifecycle.sandbox.wire.rest import asking

BLOCKED = f"{ISSUE}/dependencies/blocked_by"


def _payload(call: Call, issue: Issue) -> dict[str, Any]:
    """The JSON of an issue with its repository, which may not be the one in the address."""
    answer = payloads.issue(call, issue)
    return {**answer, "repository": repositories.minimal(call, issue.repository)}


def _list(call: Call, issues: Iterable[Issue]) -> Reply:
    asking.only(call)
    return call.paged(
        [issue for issue in issues if access.sees(call.token, issue.repository)], _payload
    )


def by_id(call: Call, number: int) -> Issue:
    """The issue of that id in any repository, or 404.

    Source: https://docs.github.com/rest/issues/sub-issues#add-sub-issue (`sub_issue_id`)
    """
    for repo in call.world.repositories.values():
        node = call.world.nodes.get(node_id("I", repo.id, number))
        if isinstance(node, Issue) and access.sees(call.token, node.repository):
            return node
    raise asking.not_found()


@route("GET", f"{ISSUE}/sub_issues")
def list_sub_issues(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/issues/N/sub_issues, in the order set by people."""
    return _list(call, asking.issue(repo, number).sub_issues)


@route("GET", f"{ISSUE}/parent")
def get_parent(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/issues/N/parent, 404 without one."""
    parent = asking.issue(repo, number).parent
    if parent is None or not access.sees(call.token, parent.repository):
        raise asking.not_found()
    return Reply(200, _payload(call, parent))


@route("POST", f"{ISSUE}/sub_issues", "issues:write")
def add_sub_issue(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/issues/N/sub_issues {sub_issue_id, replace_parent}; returns the parent."""
    parent = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    asking.fields(call, "sub_issue_id", "replace_parent")
    child = by_id(call, asking.needed(call, "sub_issue_id", int))
    replaces = bool(asking.typed(call, "replace_parent", bool))
    with refusing(422):
        relations.add_sub_issue(parent, child, call.viewer, replace_parent=replaces)
    return created(_payload(call, parent))


def _child(call: Call, parent: Issue) -> Issue:
    wanted = asking.needed(call, "sub_issue_id", int)
    return _sibling(parent, wanted)


def _sibling(parent: Issue, wanted: int) -> Issue:
    child = next((sub_issue for sub_issue in parent.sub_issues if sub_issue.id == wanted), None)
    if child is None:
        raise asking.not_found()
    return child


@route("DELETE", f"{ISSUE}/sub_issue", "issues:write")
def remove_sub_issue(call: Call, repo: Repository, number: int) -> Reply:
    """DELETE /repos/O/R/issues/N/sub_issue {sub_issue_id}; returns the parent."""
    parent = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    asking.fields(call, "sub_issue_id")
    relations.remove_sub_issue(parent, _child(call, parent), call.viewer)
    return Reply(200, _payload(call, parent))


@route("PATCH", f"{ISSUE}/sub_issues/priority", "issues:write")
def move_sub_issue(call: Call, repo: Repository, number: int) -> Reply:
    """PATCH /repos/O/R/issues/N/sub_issues/priority {sub_issue_id, after_id or before_id}."""
    parent = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    asking.fields(call, "sub_issue_id", "after_id", "before_id")
    child = _child(call, parent)
    beside = {name: asking.typed(call, name, int) for name in
              ("after_id", "before_id")}  # fmt: skip
    if sum(sibling_id is not None for sibling_id in beside.values()) != 1:
        raise ApiError(422, "Must specify either after_id or before_id, and not both.")
    after, before = (
        _sibling(parent, sibling_id) if sibling_id is not None else None
        for sibling_id in beside.values()
    )
    relations.move_sub_issue(child, after=after, before=before)
    return Reply(200, _payload(call, parent))


@route("GET", BLOCKED)
def list_blocked_by(call: Call, repo: Repository, number: int) -> Reply:
    return _list(call, asking.issue(repo, number).blocked_by)


@route("GET", f"{ISSUE}/dependencies/blocking")
def list_blocking(call: Call, repo: Repository, number: int) -> Reply:
    return _list(call, asking.issue(repo, number).blocking)


@route("POST", BLOCKED, "issues:write")
def add_blocked_by(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/issues/N/dependencies/blocked_by {issue_id}; returns the blocked one."""
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    asking.fields(call, "issue_id")
    blocker = by_id(call, asking.needed(call, "issue_id", int))
    with refusing(422):
        relations.block(issue, blocker, call.viewer)
    return created(_payload(call, issue))


@route(
    "DELETE",
    f"{BLOCKED}/<int:blocker>",
    "issues:write",
)
def remove_blocked_by(call: Call, repo: Repository, number: int, blocker: int) -> Reply:
    """DELETE /repos/O/R/issues/N/dependencies/blocked_by/ID; a second call changes nothing."""
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    relations.unblock(issue, by_id(call, blocker), call.viewer)
    return Reply(200, _payload(call, issue))
