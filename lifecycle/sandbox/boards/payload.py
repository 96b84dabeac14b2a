"""Boards, their fields and their cards over REST.

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
"""Types of fields that GraphQL has and REST's published description has not."""


def project_url(call: Call, made: Project) -> str:
    """Where the API has a board."""
    kind = "orgs" if made.owner.kind == "organization" else "users"
    return f"{call.base}/{kind}/{made.owner.login}/projectsV2/{made.number}"


def project(call: Call, made: Project) -> dict[str, Any]:
    """A board, without its fields and cards."""
    return {
        "id": made.database_id,
        "node_id": made.id,
        "owner": accounts.user(call, made.owner),
        "creator": accounts.user(call, made.creator or made.owner),
        "title": made.title,
        "description": made.readme,
        "public": made.is_public,
        **attributes(made, "closed_at created_at updated_at number short_description"),
        "deleted_at": None,
        "deleted_by": None,
        "state": "closed" if made.closed_at else "open",
        "latest_status_update": None,
        "is_template": made.is_template,
    }


def field(call: Call, board: Project, made: Field) -> dict[str, Any]:
    """A field, with its options or iterations if it is of such a type."""
    shown: dict[str, Any] = {
        "id": made.number,
        "node_id": made.id,
        "project_url": project_url(call, board),
        "name": made.name,
        "data_type": made.data_type.lower(),
        **attributes(made, "created_at updated_at"),
    }
    if made.data_type == "SINGLE_SELECT":
        shown["options"] = [_option(one) for one in made.options]
    if made.data_type == "ITERATION":
        first = made.iterations[0] if made.iterations else None
        shown["configuration"] = {
            "start_day": date.fromisoformat(first.start).isoweekday() if first else 1,
            "duration": first.duration if first else 14,
            "iterations": [_iteration(one) for one in made.iterations],
        }
    return shown


def _text(text: str) -> dict[str, str]:
    return {"raw": text, "html": text}


def _option(made: Option) -> dict[str, Any]:
    return {
        "id": made.id,
        "name": _text(made.name),
        "color": made.color,
        "description": _text(made.description),
    }


def _iteration(made: Iteration) -> dict[str, Any]:
    return {
        "id": made.id,
        "start_date": made.start,
        "duration": made.duration,
        "title": _text(made.title),
        "completed": made.completed,
    }


def card(call: Call, made: Item, *, is_open: bool, fields: list[Field] | None) -> dict[str, Any]:
    """A card.

    Args:
        call: The request.
        made: The card.
        is_open: Whether the reader may see what it is of.
        fields: Whose values it shows; None leaves the values out.
    """
    url = project_url(call, made.project)
    shown = {
        "id": made.number,
        "node_id": made.id,
        "project_url": url,
        "content": _content(call, made.content) if is_open else None,
        "content_type": _content_type(made.content),
        "creator": accounts.user(call, made.creator),
        **attributes(made, "created_at updated_at"),
        "archived_at": stamp(made.updated_at) if made.archived else None,
        "item_url": f"{url}/items/{made.number}",
    }
    if fields is not None:
        shown["fields"] = [_value(call, made, one, is_open=is_open) for one in fields]
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


def _value(call: Call, item: Item, made: Field, *, is_open: bool) -> dict[str, Any]:
    value: Any = None
    if made.id in item.values:
        value = _own_value(item, made)
    elif is_open:
        value = _told(call, item.content, made)
    return {
        "id": made.number,
        "name": made.name,
        "data_type": made.data_type.lower(),
        "value": value,
    }


def _own_value(item: Item, made: Field) -> Any:
    """A value that the board keeps."""
    raw = item.values[made.id]
    if made.data_type == "NUMBER":
        return float(raw)
    if made.data_type == "SINGLE_SELECT":
        chosen = next((one for one in made.options if one.id == raw), None)
        return _option(chosen) if chosen else None
    if made.data_type == "ITERATION":
        span = next((one for one in made.iterations if one.id == raw), None)
        return _iteration(span) if span else None
    return _text(raw) if made.data_type == "TEXT" else raw


def _told(call: Call, content: Issue | DraftIssue, made: Field) -> Any:
    """A value that the content has."""
    if made.data_type == "TITLE":
        return _title(call, content)
    if made.data_type == "ASSIGNEES":
        return [accounts.user(call, user) for user in content.assignees]
    if isinstance(content, DraftIssue):
        return None
    repo, pull = content.repository, pull_of(content)
    if made.data_type == "LABELS":
        return [issues.label(call, repo, label) for label in content.labels]
    if made.data_type == "MILESTONE":
        return issues.milestone(call, repo, content.milestone) if content.milestone else None
    if made.data_type == "REPOSITORY":
        return repositories.minimal(call, repo)
    if made.data_type == "LINKED_PULL_REQUESTS":
        closers = [
            p
            for p in PullTables.of(repo).pulls.values()
            if content in closing.named(repo, p.issue.body)
        ]
        return [] if pull else [pulls.pull(call, one) for one in closers]
    if made.data_type == "REVIEWERS" and pull:
        return [_review_request(call, user) for user in pull.requested_reviewers]
    if made.data_type == "PARENT_ISSUE" and content.parent:
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
