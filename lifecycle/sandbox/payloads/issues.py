"""Issues, comments and labels over REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lifecycle.sandbox.actions import pulls
from lifecycle.sandbox.payloads import accounts, repositories
from lifecycle.sandbox.state.times import stamp

if TYPE_CHECKING:
    from lifecycle.sandbox.state.issues import Comment, Issue, Label
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call


def issue_page(call: Call, subject: Issue) -> str:
    """Where people look at an issue or a pull request."""
    kind = "pull" if subject.is_pull else "issues"
    return f"{repositories.page_url(call, subject.repository)}/{kind}/{subject.number}"


def label(call: Call, repo: Repository, made: Label) -> dict[str, Any]:
    """A label."""
    return {
        "id": made.id,
        "node_id": made.node_id,
        "url": f"{repositories.api_url(call, repo)}/labels/{quote(made.name, safe='')}",
        "name": made.name,
        "color": made.color,
        "default": made.default,
        "description": made.description,
    }


def common(call: Call, subject: Issue) -> dict[str, Any]:
    """What an issue and a pull request share."""
    assignees = [accounts.user(call, person) for person in subject.assignees]
    repo = subject.repository
    return {
        "number": subject.number,
        "title": subject.title,
        "body": subject.body,
        "state": subject.state,
        "locked": subject.locked,
        "active_lock_reason": subject.lock_reason,
        "user": accounts.user(call, subject.author),
        "author_association": repositories.association(repo, subject.author),
        "labels": [label(call, repo, one) for one in subject.labels],
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": None,
        "created_at": stamp(subject.created_at),
        "updated_at": stamp(subject.updated_at),
        "closed_at": stamp(subject.closed_at),
    }


def issue(call: Call, subject: Issue) -> dict[str, Any]:
    """An issue; for a pull request, its issue half with a `pull_request` key."""
    pull = pulls.issue_face(subject)
    repo = repositories.api_url(call, subject.repository)
    url = f"{repo}/issues/{subject.number}"
    page = issue_page(call, subject)
    made = {
        "id": subject.id,
        "node_id": pull.node_id if pull else subject.node_id,
        "url": url,
        "repository_url": repo,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": page,
        **common(call, subject),
        "comments": len(subject.comments),
        "state_reason": subject.state_reason,
        "closed_by": accounts.user(call, subject.closed_by) if subject.closed_by else None,
        "performed_via_github_app": None,
    }
    if pull:
        made["draft"] = pull.draft
        made["pull_request"] = {
            "url": f"{repo}/pulls/{pull.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": stamp(pull.merged_at),
        }
    return made


def comment(call: Call, made: Comment) -> dict[str, Any]:
    """A comment of an issue."""
    subject = made.issue
    repo = repositories.api_url(call, subject.repository)
    page = issue_page(call, subject)
    return {
        "id": made.id,
        "node_id": made.node_id,
        "url": f"{repo}/issues/comments/{made.id}",
        "html_url": f"{page}#issuecomment-{made.id}",
        "issue_url": f"{repo}/issues/{subject.number}",
        "user": accounts.user(call, made.author),
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.updated_at),
        "author_association": repositories.association(subject.repository, made.author),
        "body": made.body,
        "performed_via_github_app": None,
    }
