"""A repository and the first board as JSON, for assertions and for people."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.base.times import attributes
from lifecycle.sandbox.boards.state import BoardTables, Item, Project
from lifecycle.sandbox.checks.state import CheckTables
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.state import PullRequest, PullTables
from lifecycle.sandbox.repositories.state import Repository

CHECK = "id sha name workflow event status conclusion started_at completed_at"
STATUS = "id sha context state description target_url created_at"


def snapshot(repo: Repository) -> dict[str, Any]:
    """Issues and pull requests by number (as text), the board by issue number, refs, checks."""
    check_tables = CheckTables.of(repo)
    board = BoardTables.of(repo.world).projects[0] if BoardTables.of(repo.world).projects else None
    return {
        "repository": repo.full_name,
        "default_branch": repo.default_branch,
        "issues": {
            str(n): _issue(i) for n, i in IssueTables.of(repo).issues.items() if not i.is_pull
        },
        "pulls": {str(n): _pull(pull) for n, pull in PullTables.of(repo).pulls.items()},
        "board": _board(repo, board) if board else {},
        "fields": _fields(board) if board else {},
        "refs": repo.git.refs(),
        "checks": [attributes(run, CHECK) for runs in check_tables.checks.values() for run in runs],
        "statuses": [
            attributes(status, STATUS)
            for statuses in check_tables.statuses.values()
            for status in statuses
        ],
    }


def _issue(issue: Issue) -> dict[str, Any]:
    return {
        **attributes(issue, "number node_id title body state state_reason"),
        "labels": [label.name for label in issue.labels],
        "assignees": [user.login for user in issue.assignees],
        "closed_by": issue.closed_by.login if issue.closed_by else None,
        "comments": [
            {"id": comment.id, "author": comment.author.login, "body": comment.body}
            for comment in issue.comments
        ],
    }


def _pull(pull: PullRequest) -> dict[str, Any]:
    return {
        **_issue(pull.issue),
        "node_id": pull.node_id,
        "state": pulls.state_of(pull).lower(),
        "author": pull.issue.author.login,
        **attributes(pull, "head head_sha base draft merge_sha"),
        "merged_by": pull.merged_by.login if pull.merged_by else None,
        "reviews": [
            {
                "id": review.node_id,
                "author": review.author.login,
                **attributes(review, "state body sha"),
            }
            for review in pull.reviews
        ],
    }


def _board(repo: Repository, project: Project) -> dict[str, Any]:
    return {
        str(item.content.number): _item(project, item)
        for item in project.items
        if isinstance(item.content, Issue) and item.content.repository is repo
    }


def _item(project: Project, item: Item) -> dict[str, Any]:
    values = {}
    for field in project.fields:
        names = {option.id: option.name for option in field.options}
        if field.id in item.values:
            values[field.name] = names.get(item.values[field.id], item.values[field.id])
    return {"id": item.id, "archived": item.archived, "values": values}


def _fields(project: Project) -> dict[str, Any]:
    return {
        field.name: {
            "id": field.id,
            "type": field.data_type,
            "options": {option.name: option.id for option in field.options},
        }
        for field in project.fields
    }
