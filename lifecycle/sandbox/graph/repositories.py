"""The way in, repositories, and who owns them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.actions import pulls
from lifecycle.sandbox.graph import boards
from lifecycle.sandbox.graph.pages import connection
from lifecycle.sandbox.graph.refusals import no_node, not_found
from lifecycle.sandbox.state.boards import Field, Item, Project

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifecycle.sandbox.state.issues import Issue
    from lifecycle.sandbox.state.pulls import PullRequest
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call


def node(call: Call, node_id: str) -> Any:
    """Whatever has that global id, or an error as GitHub words it."""
    found = call.world.nodes.get(node_id)
    if found is None:
        raise no_node(node_id)
    if isinstance(found, (Project, Field, Item)):
        return boards.readable(call, found)
    return found


def _repository(call: Call, owner: str, name: str) -> Repository:
    repo = call.world.repository(f"{owner}/{name}")
    if repo is None or repo.role_of(call.viewer) is None:
        raise not_found(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
    return repo


def _issue(repo: Repository, number: int) -> Issue:
    issue = repo.issues.get(number)
    if issue is None or issue.is_pull:
        raise not_found(f"Could not resolve to an Issue with the number of {number}.")
    return issue


def _pull(repo: Repository, number: int) -> PullRequest:
    if number not in repo.pulls:
        raise not_found(f"Could not resolve to a PullRequest with the number of {number}.")
    return repo.pulls[number]


def _pulls(call: Call, repo: Repository, arguments: dict[str, Any]) -> dict[str, Any]:
    """The repository's pull requests; the schema lets through only what is handled here."""
    order = arguments.pop("orderBy", None) or {"field": "CREATED_AT", "direction": "ASC"}
    wanted = {
        "headRefName": arguments.pop("headRefName", None),
        "baseRefName": arguments.pop("baseRefName", None),
    }
    states = arguments.pop("states", None)
    found = [
        p
        for p in repo.pulls.values()
        if wanted["headRefName"] in {None, p.head}
        and wanted["baseRefName"] in {None, p.base}
        and (states is None or pulls.state_of(p) in states)
    ]
    keys: dict[str, Callable[[PullRequest], Any]] = {
        "CREATED_AT": lambda p: p.number,
        "UPDATED_AT": lambda p: (p.issue.updated_at, p.number),
        "COMMENTS": lambda p: (len(p.issue.comments), p.number),
    }
    found.sort(key=keys[order["field"]], reverse=order["direction"] == "DESC")
    return connection(call.world.visible(found, call.seen), **arguments)


OWNER = {"id": lambda _, user: user.node_id, "projectV2": boards.project_numbered}
RESOLVERS: dict[str, dict[str, Any]] = {
    "Query": {
        "id": lambda *_: "Query",
        "viewer": lambda c, _: c.viewer,
        "node": lambda c, _, id: node(c, id),  # noqa: A006  the schema calls it so
        "repository": lambda c, _, owner, name: _repository(c, owner, name),
        "repositoryOwner": lambda c, _, login: c.world.user(login),
    },
    "User": OWNER,
    "Organization": OWNER,
    "Repository": {
        "id": lambda _, repo: repo.node_id,
        "nameWithOwner": lambda _, repo: repo.full_name,
        "defaultBranchRef": lambda _, repo: {"id": repo.node_id, "name": repo.default_branch},
        "issue": lambda _, repo, number: _issue(repo, number),
        "pullRequest": lambda _, repo, number: _pull(repo, number),
        "pullRequests": lambda c, repo, **given: _pulls(c, repo, given),
        "projectV2": boards.project_linked,
    },
}
