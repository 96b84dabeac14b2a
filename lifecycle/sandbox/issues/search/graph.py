"""GraphQL's field `search`.

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


def _search(call: Call, _: Any, **arguments: Any) -> dict[str, Any]:
    """A page of the results of a search; empty if it names something that the token cannot see."""
    text, kind = arguments.pop("query"), arguments.pop("type")
    try:
        if kind == "REPOSITORY":
            hits: list[Any] = actions.repositories(call, text)
        elif kind in {"ISSUE", "ISSUE_ADVANCED"}:
            hits = [_whole(issue) for issue in actions.issues(call, text)]
        else:
            raise Refusal("NOT_IMITATED", f"The sandbox does not imitate a search for {kind}.")
    except UnknownSearch as unknown:
        raise Refusal("NOT_IMITATED", str(unknown)) from None
    except actions.Unsearchable:
        hits = []
    counts = dict.fromkeys(COUNTS, 0)
    counts["repositoryCount" if kind == "REPOSITORY" else "issueCount"] = len(hits)
    return connection(hits, **arguments) | counts


def _whole(issue: Issue) -> Any:
    """The pull request of an issue half; a real issue is returned unchanged."""
    return (
        PullTables.of(issue.repository).pulls.get(issue.number, issue) if issue.is_pull else issue
    )


RESOLVERS: dict[str, dict[str, Any]] = {"Query": {"search": _search}}
PLAIN = {"SearchResultItemConnection": " ".join(COUNTS)}
