"""The JSON of boards, their fields and cards in REST's answers.

Source: https://docs.github.com/rest/projects
"""

from __future__ import annotations

from datetime import date
from typing import Any

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.boards.state import DraftIssue, Field, Item, Iteration, Option, Project
from lifecycle.sandbox.issues import payload as issues
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.pulls import closing
from lifecycle.sandbox.pulls import payload as pulls
from lifecycle.sandbox.pulls.state import PullTables, pull_of
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.wire.call import Call

UNKNOWN_TO_REST = {"TRACKS", "TRACKED_BY"}
"""Field types of GraphQL that REST's published description lacks."""


def project_url(call: Call, board: Project) -> str:
    """The URL of a board in the API."""
    kind = "orgs" if board.owner.kind == "organization" else "users"
    return f"{call.base}/{kind}/{board.owner.login}/projectsV2/{board.number}"


def project(call: Call, board: Project) -> dict[str, Any]:
    """The JSON of a board, without its fields and cards."""
    return {
        "id": board.database_id,
        "node_id": board.id,
        "owner": accounts.user(call, board.owner),
        "creator": accounts.user(call, board.creator or board.owner),
        "title": board.title,
        "description": board.readme,
        "public": board.is_public,
        **attributes(board, "closed_at created_at updated_at number short_description"),
        "deleted_at": None,
        "deleted_by": None,
        "state": "closed" if board.closed_at else "open",
        "latest_status_update": None,
        "is_template": board.is_template,
    }


def field(call: Call, board: Project, column: Field) -> dict[str, Any]:
    """The JSON of a field, with its options or iterations if its type has them."""
    shown: dict[str, Any] = {
        "id": column.number,
        "node_id": column.id,
        "project_url": project_url(call, board),
        "name": column.name,
        "data_type": column.data_type.lower(),
        **attributes(column, "created_at updated_at"),
    }
    if column.data_type == "SINGLE_SELECT":
        shown["options"] = [_option(option) for option in column.options]
    if column.data_type == "ITERATION":
        first = column.iterations[0] if column.iterations else None
        shown["configuration"] = {
            "start_day": date.fromisoformat(first.start).isoweekday() if first else 1,
            "duration": first.duration if first else 14,
            "iterations": [_iteration(iteration) for iteration in column.iterations],
        }
    return shown


def _text(text: str) -> dict[str, str]:
    return {"raw": text, "html": text}


def _option(option: Option) -> dict[str, Any]:
    return {
        "id": option.id,
        "name": _text(option.name),
        "color": option.color,
        "description": _text(option.description),
    }


def _iteration(iteration: Iteration) -> dict[str, Any]:
    return {
        "id": iteration.id,
        "start_date": iteration.start,
        "duration": iteration.duration,
        "title": _text(iteration.title),
        "completed": iteration.completed,
    }


def card(call: Call, item: Item, *, is_open: bool, fields: list[Field] | None) -> dict[str, Any]:
    """The JSON of a card.

    Args:
        call: The request.
        item: The card.
        is_open: Whether the reader can see its issue or pull request.
        fields: The fields whose values are shown; None omits the values.
    """
    url = project_url(call, item.project)
    shown = {
        "id": item.number,
        "node_id": item.id,
        "project_url": url,
        "content": _content(call, item.content) if is_open else None,
        "content_type": _content_type(item.content),
        "creator": accounts.user(call, item.creator),
        **attributes(item, "created_at updated_at"),
        "archived_at": stamp(item.updated_at) if item.archived else None,
        "item_url": f"{url}/items/{item.number}",
    }
    if fields is not None:
        shown["fields"] = [_value(call, item, column, is_open=is_open) for column in fields]
    return shown


def _content(call: Call, content: Issue | DraftIssue) -> dict[str, Any]:
    if isinstance(content, DraftIssue):
        return {
            **attributes(content, "id node_id title body"),
            "user": accounts.user(call, content.creator),
            **attributes(content, "created_at updated_at"),
        }
    pull = pull_of(content)
    return pulls.pull(call, pull) if pull else issues.issue(call, content)


def _content_type(content: Issue | DraftIssue) -> str:
    if isinstance(content, DraftIssue):
        return "DraftIssue"
    return "PullRequest" if content.is_pull else "Issue"


def _value(call: Call, item: Item, column: Field, *, is_open: bool) -> dict[str, Any]:
    value: Any = None
    if column.id in item.values:
        value = _own_value(item, column)
    elif is_open:
        value = _told(call, item.content, column)
    return {
        "id": column.number,
        "name": column.name,
        "data_type": column.data_type.lower(),
        "value": value,
    }


def _own_value(item: Item, column: Field) -> Any:
    """The JSON of a value that the board stores."""
    raw = item.values[column.id]
    if column.data_type == "NUMBER":
        return float(raw)
    if column.data_type == "SINGLE_SELECT":
        chosen = next((option for option in column.options if option.id == raw), None)
        return _option(chosen) if chosen else None
    if column.data_type == "ITERATION":
        span = next((iteration for iteration in column.iterations if iteration.id == raw), None)
        return _iteration(span) if span else None
    return _text(raw) if column.data_type == "TEXT" else raw


def _told(call: Call, content: Issue | DraftIssue, column: Field) -> Any:
    """The JSON of a value from the card's content; None if it has none."""
    if column.data_type == "TITLE":
        return _title(call, content)
    if column.data_type == "ASSIGNEES":
        return [accounts.user(call, user) for user in content.assignees]
    if isinstance(content, DraftIssue):
        return None
    repo, pull = content.repository, pull_of(content)
    if column.data_type == "LABELS":
        return [issues.label(call, repo, label) for label in content.labels]
    if column.data_type == "MILESTONE":
        return issues.milestone(call, repo, content.milestone) if content.milestone else None
    if column.data_type == "REPOSITORY":
        return repositories.minimal(call, repo)
    if column.data_type == "LINKED_PULL_REQUESTS":
        closers = [
            p
            for p in PullTables.of(repo).pulls.values()
            if content in closing.named(repo, p.issue.body)
        ]
        return [] if pull else [pulls.pull(call, closer) for closer in closers]
    if column.data_type == "REVIEWERS" and pull:
        return [_review_request(call, user) for user in pull.requested_reviewers]
    if column.data_type == "PARENT_ISSUE" and content.parent:
        return issues.issue(call, content.parent)
    return None


def _title(call: Call, content: Issue | DraftIssue) -> dict[str, Any]:
    shown: dict[str, Any] = _text(content.title)
    if isinstance(content, DraftIssue):
        return shown
    pull = pull_of(content)
    return {
        **shown,
        "number": content.number,
        "url": issues.issue_page(call, content),
        "issue_id": content.id,
        **attributes(content, "state state_reason"),
        "is_draft": bool(pull and pull.draft),
    }


def _review_request(call: Call, user: User) -> dict[str, Any]:
    return {
        "type": "ReviewRequest",
        "status": "pending",
        "reviewer": {
            "avatarUrl": accounts.avatar_url(call, user),
            **attributes(user, "id login"),
            "url": accounts.page_url(call, user),
            "name": user.name,
            "type": accounts.TYPES[user.kind],
        },
    }
