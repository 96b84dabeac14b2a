"""REST's searches, and the lists of a person's issues in all repositories.

Source: https://docs.github.com/rest/search/search
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.sandbox.accounts.rest import demand_person, organization
from lifecycle.sandbox.base.errors import ApiError, invalid
from lifecycle.sandbox.issues import payload as payloads
from lifecycle.sandbox.issues.actions import mentions
from lifecycle.sandbox.issues.rest import filtered
from lifecycle.sandbox.issues.search import actions
from lifecycle.sandbox.issues.search.query import UnknownSearch
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.wire.call import Call, Reply, route
from lifecycle.sandbox.wire.rest import asking

DOCS = "https://docs.github.com/rest/search/search"
UNSEARCHABLE = (
    "The listed users and repositories cannot be searched either because the resources do not "
    "exist or you do not have permission to view them."
)


def _found(call: Call, look: Callable[..., list[Any]]) -> list[Any]:
    """Read the query of the call, and return what `look` finds for it.

    Raises:
        ApiError: 422 without a query or for something invisible, 501 if it is not imitated.
    """
    asking.only(call, "q", "sort", "order", "advanced_search")
    text = call.query.get("q", "")
    if not text.strip():
        raise invalid({"resource": "Search", "field": "q", "code": "missing"})
    order = call.query.get("order", "desc")
    if order not in {"asc", "desc"}:
        raise invalid({"resource": "Search", "field": "order", "code": "invalid"})
    try:
        return look(call, text, sort=call.query.get("sort"), order=call.query.get("order"))
    except UnknownSearch as unknown:
        raise ApiError(501, str(unknown)) from None
    except actions.Unsearchable:
        error = {"message": UNSEARCHABLE, "resource": "Search", "field": "q", "code": "invalid"}
        raise invalid(error) from None


@route("GET", "/search/issues", docs=DOCS)
def search_issues(call: Call) -> Reply:
    """GET /search/issues: issues and pull requests."""
    hits = _found(call, actions.issues)
    shown, headers = call.page(hits)
    items = [{**payloads.issue(call, issue), "score": 1.0} for issue in shown]
    for item in items:
        del item["closed_by"]  # the description has it for issues, but not for search results
    answer = {
        "total_count": len(hits), "incomplete_results": False, "items": items,
        "search_type": "lexical",
    }  # fmt: skip
    return Reply(200, answer, headers)


@route("GET", "/search/repositories", docs=DOCS)
def search_repositories(call: Call) -> Reply:
    hits = _found(call, actions.repositories)
    shown, headers = call.page(hits)
    items = [{**repositories.minimal(call, repo), "score": 1.0} for repo in shown]
    answer = {"total_count": len(hits), "incomplete_results": False, "items": items}
    return Reply(200, answer, headers)


FILTERS: dict[str, Callable[[Call, Issue], bool]] = {
    "assigned": lambda c, i: c.viewer in i.assignees,
    "created": lambda c, i: i.author is c.viewer,
    "mentioned": lambda c, i: mentions(i, c.viewer.login),
    "repos": lambda c, i: i.repository.can_push(c.viewer),
    "all": lambda c, i: (
        c.viewer in i.assignees
        or i.author is c.viewer
        or i.repository.can_push(c.viewer)
        or mentions(i, c.viewer.login)
    ),
}


def _mine(call: Call, owner: object = None) -> Reply:
    asking.only(call, "filter", "state", "labels", "sort", "direction", "since", "pulls")
    wanted = asking.choice(call, "filter", "assigned", set(FILTERS), "Issue")
    selection = [
        issue
        for repo in call.world.repositories.values()
        if access.sees(call.token, repo) and (owner is None or repo.owner is owner)
        for issue in IssueTables.of(repo).issues.values()
        if FILTERS[wanted](call, issue)
    ]
    if call.query.get("pulls") == "false":
        selection = [issue for issue in selection if not issue.is_pull]
    shown, headers = call.page(call.world.visible(filtered(call, selection), call.seen))
    answer = [
        {**payloads.issue(call, issue), "repository": repositories.minimal(call, issue.repository)}
        for issue in shown
    ]
    return Reply(200, answer, headers)


@route("GET", "/user/issues", docs=asking.ISSUES)
@route("GET", "/issues", docs=asking.ISSUES)
def list_my_issues(call: Call) -> Reply:
    """GET /issues and /user/issues: by default those assigned to the token's owner."""
    demand_person(call)
    return _mine(call)


@route("GET", "/orgs/<org>/issues", docs=asking.ISSUES)
def list_organization_issues(call: Call, org: str) -> Reply:
    demand_person(call)
    return _mine(call, organization(call, org))
