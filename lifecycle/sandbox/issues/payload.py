"""Issues, comments, labels and milestones over REST."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.issues.milestones import actions as milestones
from lifecycle.sandbox.issues.state import Comment, Issue, Label, Milestone
from lifecycle.sandbox.pulls.state import pull_of
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call, links

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def issue_page(call: Call, subject: Issue) -> str:
    """Where people look at an issue or a pull request."""
    kind = "pull" if subject.is_pull else "issues"
    return f"{repositories.page_url(call, subject.repository)}/{kind}/{subject.number}"


def label(call: Call, repo: Repository, made: Label) -> dict[str, Any]:
    """A label."""
    return {
        **attributes(made, "id node_id"),
        "url": f"{repositories.api_url(call, repo)}/labels/{quote(made.name, safe='')}",
        **attributes(made, "name color default description"),
        "archived_at": None,  # no label is archived here
        "archived_by": None,
    }


def milestone(call: Call, repo: Repository, made: Milestone) -> dict[str, Any]:
    """A milestone, with how many of its issues are open and closed."""
    counts = call.once(("milestones", repo.id), lambda: milestones.counts(repo))
    opened, closed = counts.get(made.id, (0, 0))
    url = f"{repositories.api_url(call, repo)}/milestones/{made.number}"
    return {
        "url": url,
        "html_url": f"{repositories.page_url(call, repo)}/milestone/{made.number}",
        "labels_url": f"{url}/labels",
        **attributes(made, "id node_id number title description"),
        "creator": accounts.user(call, made.creator),
        "open_issues": opened,
        "closed_issues": closed,
        **attributes(made, "state created_at updated_at due_on closed_at"),
    }


def reactions(url: str) -> dict[str, Any]:
    """Nobody reacts in the sandbox."""
    return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(REACTIONS, 0)}


def common(call: Call, subject: Issue) -> dict[str, Any]:
    """What an issue and a pull request share."""
    assignees = [accounts.user(call, person) for person in subject.assignees]
    repo = subject.repository
    return {
        **attributes(subject, "number title body state locked"),
        "active_lock_reason": subject.lock_reason,
        "user": accounts.user(call, subject.author),
        "author_association": repositories.associate(call, repo, subject.author),
        "labels": [label(call, repo, one) for one in subject.labels],
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": milestone(call, repo, subject.milestone) if subject.milestone else None,
        **attributes(subject, "created_at updated_at closed_at"),
    }


def _relations(subject: Issue) -> dict[str, Any]:
    """The summaries of what an issue has below it, and of what it waits for.

    Source: https://docs.github.com/rest/issues/issues#get-an-issue
    """
    total = len(subject.sub_issues)
    done = sum(child.state == "closed" for child in subject.sub_issues)
    return {
        "sub_issues_summary": {
            "total": total,
            "completed": done,
            "percent_completed": done * 100 // total if total else 0,
        },
        "issue_dependencies_summary": {
            "blocked_by": sum(one.state == "open" for one in subject.blocked_by),
            "total_blocked_by": len(subject.blocked_by),
            "blocking": sum(one.state == "open" for one in subject.blocking),
            "total_blocking": len(subject.blocking),
        },
    }


def issue(call: Call, subject: Issue) -> dict[str, Any]:
    """An issue; for a pull request, its issue half with a `pull_request` key."""
    pull = pull_of(subject)
    repo = repositories.api_url(call, subject.repository)
    url = f"{repo}/issues/{subject.number}"
    page = issue_page(call, subject)
    made = {
        "id": subject.id,
        "node_id": pull.node_id if pull else subject.node_id,
        "url": url,
        "repository_url": repo,
        "labels_url": f"{url}/labels{{/name}}",
        **links(url, "comments events timeline"),
        "html_url": page,
        **common(call, subject),
        "comments": len(subject.comments),
        "state_reason": subject.state_reason,
        "closed_by": accounts.user(call, subject.closed_by) if subject.closed_by else None,
        "performed_via_github_app": None,
        "reactions": reactions(url),
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
    made |= {"type": None, "pinned_comment": None, **_relations(subject)}
    if subject.parent is not None:
        above = subject.parent
        where = repositories.api_url(call, above.repository)
        made["parent_issue_url"] = f"{where}/issues/{above.number}"
    return made


def comment(call: Call, made: Comment) -> dict[str, Any]:
    """A comment of an issue."""
    subject = made.issue
    repo = repositories.api_url(call, subject.repository)
    page = issue_page(call, subject)
    url = f"{repo}/issues/comments/{made.id}"
    return {
        **attributes(made, "id node_id"),
        "url": url,
        "html_url": f"{page}#issuecomment-{made.id}",
        "issue_url": f"{repo}/issues/{subject.number}",
        "user": accounts.user(call, made.author),
        **attributes(made, "created_at updated_at"),
        "author_association": repositories.associate(call, subject.repository, made.author),
        "body": made.body,
        "performed_via_github_app": None,
        "reactions": reactions(url),
    }
