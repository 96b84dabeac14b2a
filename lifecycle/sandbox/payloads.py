"""REST objects in GitHub's published shapes (https://docs.github.com/rest), for what exists here.

They hold every attribute that a client reads without asking again, and no invented values: what
this world does not have (milestones, reactions) is null or empty.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from lifecycle.sandbox import checks, pulls

if TYPE_CHECKING:
    from datetime import datetime

    from lifecycle.sandbox.call import Call
    from lifecycle.sandbox.state import (
        CheckRun,
        Comment,
        CommitStatus,
        Issue,
        PullRequest,
        Review,
        User,
    )


def stamp(moment: datetime | None) -> str | None:
    """A time as GitHub writes it: ISO 8601 in UTC to the second."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def user(call: Call, person: User) -> dict[str, Any]:
    """A simple user."""
    url = f"{call.base}/users/{person.login}"
    return {
        "login": person.login,
        "id": person.id,
        "node_id": person.node_id,
        "avatar_url": f"{call.base}/avatars/u/{person.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{call.base}/{person.login}",
        "followers_url": f"{url}/followers",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "type": "Organization" if person.kind == "organization" else "User",
        "user_view_type": "public",
        "site_admin": False,
    }


def viewer(call: Call) -> dict[str, Any]:
    """The authenticated user."""
    return {**user(call, call.viewer), "name": call.viewer.name, "email": None, "bio": None}


def repository(call: Call) -> dict[str, Any]:
    """The repository, with what the token's owner may do."""
    world, role = call.world, call.viewer.role
    url = f"{call.base}/repos/{world.full_name}"
    opened = [i for i in world.issues.values() if i.state == "open"]
    return {
        "id": world.id,
        "node_id": world.node_id,
        "name": world.name,
        "full_name": world.full_name,
        "private": False,
        "visibility": "public",
        "owner": user(call, world.owner),
        "html_url": f"{call.base}/{world.full_name}",
        "description": world.description,
        "fork": False,
        "url": url,
        "issues_url": f"{url}/issues{{/number}}",
        "pulls_url": f"{url}/pulls{{/number}}",
        "git_url": f"git://{call.base.partition('://')[2]}/{world.full_name}.git",
        "clone_url": f"{call.base}/{world.full_name}.git",
        "default_branch": world.default_branch,
        "open_issues_count": len(opened),
        "open_issues": len(opened),
        "has_issues": True,
        "has_projects": True,
        "archived": False,
        "disabled": False,
        "created_at": stamp(world.created_at),
        "updated_at": stamp(world.created_at),
        "pushed_at": stamp(world.created_at),
        "allow_merge_commit": True,
        "allow_squash_merge": True,
        "allow_rebase_merge": True,
        "delete_branch_on_merge": False,
        "permissions": {
            "admin": role == "admin",
            "maintain": role == "admin",
            "push": call.viewer.can_push,
            "triage": call.viewer.can_push,
            "pull": True,
        },
    }


def label(call: Call, name: str) -> dict[str, Any]:
    """A label; its colour is a digest of its name."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return {
        "id": int(digest[:8], 16),
        "node_id": f"LA_{digest[:16]}",
        "url": f"{call.base}/repos/{call.world.full_name}/labels/{name}",
        "name": name,
        "color": digest[:6],
        "default": name in {"bug", "documentation", "enhancement"},
        "description": None,
    }


def _common(call: Call, subject: Issue) -> dict[str, Any]:
    """What an issue and a pull request share."""
    assignees = [user(call, person) for person in subject.assignees]
    insider = subject.author.can_push
    return {
        "number": subject.number,
        "title": subject.title,
        "body": subject.body,
        "state": subject.state,
        "locked": False,
        "active_lock_reason": None,
        "user": user(call, subject.author),
        "author_association": "MEMBER" if insider else "NONE",
        "labels": [label(call, name) for name in subject.labels],
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": None,
        "created_at": stamp(subject.created_at),
        "updated_at": stamp(subject.updated_at),
        "closed_at": stamp(subject.closed_at),
    }


def issue(call: Call, subject: Issue) -> dict[str, Any]:
    """An issue; for a pull request, its issue half with a `pull_request` key."""
    world = call.world
    pull = pulls.issue_face(world, subject)
    repo = f"{call.base}/repos/{world.full_name}"
    url = f"{repo}/issues/{subject.number}"
    page = f"{call.base}/{world.full_name}/{'pull' if pull else 'issues'}/{subject.number}"
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
        **_common(call, subject),
        "comments": len(subject.comments),
        "state_reason": subject.state_reason,
        "closed_by": user(call, subject.closed_by) if subject.closed_by else None,
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


def comment(call: Call, subject: Issue, made: Comment) -> dict[str, Any]:
    """A comment of an issue."""
    repo = f"{call.base}/repos/{call.world.full_name}"
    kind = "pull" if pulls.issue_face(call.world, subject) else "issues"
    page = f"{call.base}/{call.world.full_name}/{kind}/{subject.number}"
    return {
        "id": made.id,
        "node_id": f"IC_{made.id}",
        "url": f"{repo}/issues/comments/{made.id}",
        "html_url": f"{page}#issuecomment-{made.id}",
        "issue_url": f"{repo}/issues/{subject.number}",
        "user": user(call, made.author),
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.created_at),
        "author_association": "MEMBER" if made.author.can_push else "NONE",
        "body": made.body,
        "performed_via_github_app": None,
    }


def pull(call: Call, subject: PullRequest) -> dict[str, Any]:
    """A pull request as lists show it."""
    world = call.world
    repo = f"{call.base}/repos/{world.full_name}"
    url = f"{repo}/pulls/{subject.number}"
    page = f"{call.base}/{world.full_name}/pull/{subject.number}"
    return {
        "id": subject.id,
        "node_id": subject.node_id,
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": f"{repo}/issues/{subject.number}",
        "commits_url": f"{url}/commits",
        "comments_url": f"{repo}/issues/{subject.number}/comments",
        "statuses_url": f"{repo}/statuses/{subject.head_sha}",
        **_common(call, subject.issue),
        "merged_at": stamp(subject.merged_at),
        "merge_commit_sha": subject.merge_sha,
        "draft": subject.draft,
        "auto_merge": None,
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _end(call, subject.head, subject.head_sha),
        "base": _end(call, subject.base, subject.base_sha),
    }


def full_pull(call: Call, subject: PullRequest, *, fresh: bool = False) -> dict[str, Any]:
    """A pull request on its own: also whether it merged, and (if not `fresh`) whether it could."""
    mergeable = None if fresh else pulls.judge(call.world, subject, call.seen)
    state = {None: "unknown", True: "clean", False: "dirty"}[mergeable]
    merged_by = subject.merged_by
    return {
        **pull(call, subject),
        "merged": subject.merged_at is not None,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": "draft" if subject.draft and mergeable else state,
        "merged_by": user(call, merged_by) if merged_by else None,
        "comments": len(subject.issue.comments),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": len(call.world.git.commits(subject.base_sha, subject.head_sha)),
    }


def review_url(call: Call, made: Review) -> str:
    """The place of a review on its pull request's page."""
    pulls_of = call.world.pulls.values()
    number = next(pull.number for pull in pulls_of if made in pull.reviews)
    return f"{call.base}/{call.world.full_name}/pull/{number}#pullrequestreview-{made.id}"


def review(call: Call, subject: PullRequest, made: Review) -> dict[str, Any]:
    """A review of a pull request."""
    url = f"{call.base}/repos/{call.world.full_name}/pulls/{subject.number}"
    page = review_url(call, made)
    return {
        "id": made.id,
        "node_id": made.node_id,
        "user": user(call, made.author),
        "body": made.body,
        "state": made.state,
        "html_url": page,
        "pull_request_url": url,
        "author_association": "MEMBER" if made.author.can_push else "NONE",
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "submitted_at": stamp(made.submitted_at),
        "commit_id": made.sha,
    }


def _end(call: Call, branch: str, sha: str) -> dict[str, Any]:
    owner = call.world.owner
    return {
        "label": f"{owner.login}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": user(call, owner),
        "repo": repository(call),
    }


def details_url(call: Call, run: CheckRun) -> str:
    """The page of a job; for Actions, a check run's id is its job's."""
    return f"{call.base}/{call.world.full_name}/actions/runs/{run.run_id}/job/{run.id}"


def check_run(call: Call, run: CheckRun) -> dict[str, Any]:
    """A check run by GitHub Actions."""
    url = f"{call.base}/repos/{call.world.full_name}/check-runs/{run.id}"
    return {
        "id": run.id,
        "node_id": f"CR_{run.id}",
        "head_sha": run.sha,
        "external_id": "",
        "url": url,
        "html_url": details_url(call, run),
        "details_url": details_url(call, run),
        "name": run.name,
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": stamp(run.started_at),
        "completed_at": stamp(run.completed_at),
        "output": {
            "title": None,
            "summary": None,
            "text": None,
            "annotations_count": 0,
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": run.run_id},
        "app": {"id": 15368, "slug": "github-actions", "name": "GitHub Actions"},
        "pull_requests": [],
    }


def status(call: Call, made: CommitStatus) -> dict[str, Any]:
    """A commit status."""
    return {
        "id": made.id,
        "node_id": f"SC_{made.id}",
        "url": f"{call.base}/repos/{call.world.full_name}/statuses/{made.sha}",
        "avatar_url": None,
        "state": made.state,
        "description": made.description,
        "target_url": None,
        "context": made.context,
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.created_at),
    }


def combined_status(call: Call, sha: str, shown: list[CommitStatus], total: int) -> dict[str, Any]:
    """The combined status of a commit, with one page of its statuses."""
    url = f"{call.base}/repos/{call.world.full_name}/commits/{sha}"
    return {
        "state": checks.combined_state(checks.statuses_of(call.world, sha)),
        "statuses": [status(call, one) for one in shown],
        "sha": sha,
        "total_count": total,
        "repository": repository(call),
        "commit_url": url,
        "url": f"{url}/status",
    }
