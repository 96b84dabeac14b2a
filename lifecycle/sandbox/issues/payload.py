"""The JSON of issues, comments, labels and milestones in REST's answers."""

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
    """The URL of the web page of an issue or a pull request."""
    kind = "pull" if subject.is_pull else "issues"
    return f"{repositories.page_url(call, subject.repository)}/{kind}/{subject.number}"


def label(call: Call, repo: Repository, subject: Label) -> dict[str, Any]:
    """The JSON of a label."""
    return {
        **attributes(subject, "id node_id"),
        "url": f"{repositories.api_url(call, repo)}/labels/{quote(subject.name, safe='')}",
        **attributes(subject, "name color default description"),
        "archived_at": None,  # no label is archived here
        "archived_by": None,
    }


def milestone(call: Call, repo: Repository, subject: Milestone) -> dict[str, Any]:
    """The JSON of a milestone, with the numbers of its open and closed issues."""
    counts = call.once(("milestones", repo.id), lambda: milestones.counts(repo))
    opened, closed = counts.get(subject.id, (0, 0))
    url = f"{repositories.api_url(call, repo)}/milestones/{subject.number}"
    return {
        "url": url,
        "html_url": f"{repositories.page_url(call, repo)}/milestone/{subject.number}",
        "labels_url": f"{url}/labels",
        **attributes(subject, "id node_id number title description"),
        "creator": accounts.user(call, subject.creator),
        "open_issues": opened,
        "closed_issues": closed,
        **attributes(subject, "state created_at updated_at due_on closed_at"),
    }


def reactions(url: str) -> dict[str, Any]:
    """The JSON of no reactions, since nobody reacts in the sandbox."""
    return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(REACTIONS, 0)}


def common(call: Call, subject: Issue) -> dict[str, Any]:
    """The part of the JSON that an issue and a pull request share."""
    assignees = [accounts.user(call, person) for person in subject.assignees]
    repo = subject.repository
    return {
        **attributes(subject, "number title body state locked"),
        "active_lock_reason": subject.lock_reason,
        "user": accounts.user(call, subject.author),
        "author_association": repositories.associate(call, repo, subject.author),
        "labels": [label(call, repo, issue_label) for issue_label in subject.labels],
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": milestone(call, repo, subject.milestone) if subject.milestone else None,
        **attributes(subject, "created_at updated_at closed_at"),
    }


def _relations(subject: Issue) -> dict[str, Any]:
    """The JSON of an issue's numbers of sub-issues, blockers and blocked issues.

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
            "blocked_by": sum(blocker.state == "open" for blocker in subject.blocked_by),
            "total_blocked_by": len(subject.blocked_by),
            "blocking": sum(blocked.state == "open" for blocked in subject.blocking),
            "total_blocking": len(subject.blocking),
        },
    }


def issue(call: Call, subject: Issue) -> dict[str, Any]:
    """The JSON of an issue; for a pull request, of its issue half with a `pull_request` key."""
    pull = pull_of(subject)
    repo = repositories.api_url(call, subject.repository)
    url = f"{repo}/issues/{subject.number}"
    page = issue_page(call, subject)
    answer = {
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
        answer["draft"] = pull.draft
        answer["pull_request"] = {
            "url": f"{repo}/pulls/{pull.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": stamp(pull.merged_at),
        }
        return answer
    answer |= {"type": None, "pinned_comment": None, **_relations(subject)}
    if subject.parent is not None:
        above = subject.parent
        where = repositories.api_url(call, above.repository)
        answer["parent_issue_url"] = f"{where}/issues/{above.number}"
    return answer


def comment(call: Call, entry: Comment) -> dict[str, Any]:
    """The JSON of a comment of an issue."""
    subject = entry.issue
    repo = repositories.api_url(call, subject.repository)
    page = issue_page(call, subject)
    url = f"{repo}/issues/comments/{entry.id}"
    return {
        **attributes(entry, "id node_id"),
        "url": url,
        "html_url": f"{page}#issuecomment-{entry.id}",
        "issue_url": f"{repo}/issues/{subject.number}",
        "user": accounts.user(call, entry.author),
        **attributes(entry, "created_at updated_at"),
        "author_association": repositories.associate(call, subject.repository, entry.author),
        "body": entry.body,
        "performed_via_github_app": None,
        "reactions": reactions(url),
    }
