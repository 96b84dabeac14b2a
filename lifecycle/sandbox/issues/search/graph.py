"""Search over GraphQL.

Source: https://docs.github.com/graphql/reference/queries#search
"""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.issues.search import actions
from lifecycle.sandbox.issues.search.query import UnknownSearch
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import Refusal, connection

COUNTS = (
    "issueCount", "repositoryCount", "userCount", "codeCount", "discussionCount", "wikiCount",
)  # fmt: skip


def _search(call: Call, _: Any, **given: Any) -> dict[str, Any]:
    """What is found; what a search names and the token cannot see is simply not there."""
    text, kind = given.pop("query"), given.pop("type")
    try:
        if kind == "REPOSITORY":
            found: list[Any] = actions.repositories(call, text)
        elif kind in {"ISSUE", "ISSUE_ADVANCED"}:
            found = [_whole(one) for one in actions.issues(call, text)]
        else:
            raise Refusal("NOT_IMITATED", f"The sandbox does not imitate a search for {kind}.")
    except UnknownSearch as unknown:
        raise Refusal("NOT_IMITATED", str(unknown)) from None
    except actions.Unsearchable:
        found = []
    counts = dict.fromkeys(COUNTS, 0)
    counts["repositoryCount" if kind == "REPOSITORY" else "issueCount"] = len(found)
    return connection(found, **given) | counts


def _whole(issue: Issue) -> Any:
    """A pull request is more than its issue half."""
    return (
        PullTables.of(issue.repository).pulls.get(issue.number, issue) if issue.is_pull else issue
    )


RESOLVERS: dict[str, dict[str, Any]] = {"Query": {"search": _search}}
PLAIN = {"SearchResultItemConnection": " ".join(COUNTS)}
