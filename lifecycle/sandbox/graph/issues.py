"""Issues and comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.graph import boards
from lifecycle.sandbox.graph.pages import connection
from lifecycle.sandbox.payloads.issues import issue_page

if TYPE_CHECKING:
    from lifecycle.sandbox.state.issues import Issue
    from lifecycle.sandbox.wire.call import Call


def _comments(call: Call, issue: Issue, **arguments: Any) -> dict[str, Any]:
    return connection(call.world.visible(issue.comments, call.seen), **arguments)


RESOLVERS: dict[str, dict[str, Any]] = {
    "Issue": {
        "id": lambda _, issue: issue.node_id,
        "url": issue_page,
        "body": lambda _, issue: issue.body or "",
        "state": lambda _, issue: issue.state.upper(),
        "stateReason": lambda _, issue: issue.state_reason and issue.state_reason.upper(),
        "assignees": lambda _, issue, **given: connection(issue.assignees, **given),
        "comments": _comments,
        "projectItems": boards.cards_of,
        "projectV2": lambda c, issue, number: boards.project_linked(c, issue.repository, number),
    },
    "IssueComment": {
        "id": lambda _, comment: comment.node_id,
        "fullDatabaseId": lambda _, comment: str(comment.id),
    },
}
