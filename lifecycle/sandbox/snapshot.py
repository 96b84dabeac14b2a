"""The whole world as JSON, for assertions and for people who are curious."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lifecycle.sandbox import payloads, pulls

if TYPE_CHECKING:
    from lifecycle.sandbox.state import Issue, Item, Project, PullRequest, World


def snapshot(world: World) -> dict[str, Any]:
    """Issues and pull requests by number (as text), the board by issue number, refs, checks."""
    return {
        "repository": world.full_name,
        "default_branch": world.default_branch,
        "issues": {str(n): _issue(i) for n, i in world.issues.items() if n not in world.pulls},
        "pulls": {str(n): _pull(pull) for n, pull in world.pulls.items()},
        "board": _board(world.project) if world.project else {},
        "fields": _fields(world.project) if world.project else {},
        "refs": world.git.refs(),
        "checks": [
            {**asdict(c), "started_at": payloads.stamp(c.started_at),
             "completed_at": payloads.stamp(c.completed_at)}
            for c in world.checks
        ],
        "statuses": [{**asdict(s), "created_at": payloads.stamp(s.created_at)}
                     for s in world.statuses],
    }  # fmt: skip


def _issue(issue: Issue) -> dict[str, Any]:
    return {
        "number": issue.number,
        "node_id": issue.node_id,
        "title": issue.title,
        "body": issue.body,
        "state": issue.state,
        "state_reason": issue.state_reason,
        "labels": list(issue.labels),
        "assignees": [user.login for user in issue.assignees],
        "closed_by": issue.closed_by.login if issue.closed_by else None,
        "comments": [
            {"id": one.id, "author": one.author.login, "body": one.body} for one in issue.comments
        ],
    }


def _pull(pull: PullRequest) -> dict[str, Any]:
    return {
        **_issue(pull.issue),
        "node_id": pull.node_id,
        "state": pulls.state_of(pull).lower(),
        "author": pull.issue.author.login,
        "head": pull.head,
        "head_sha": pull.head_sha,
        "base": pull.base,
        "draft": pull.draft,
        "merge_sha": pull.merge_sha,
        "merged_by": pull.merged_by.login if pull.merged_by else None,
        "reviews": [
            {"id": one.node_id, "author": one.author.login, "state": one.state, "body": one.body,
             "sha": one.sha}
            for one in pull.reviews
        ],
    }  # fmt: skip


def _board(project: Project) -> dict[str, Any]:
    return {str(item.issue.number): _item(project, item) for item in project.items}


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
