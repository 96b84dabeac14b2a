"""Pull requests and reviews over REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.actions import pulls
from lifecycle.sandbox.payloads import accounts, issues, repositories
from lifecycle.sandbox.state.times import stamp

if TYPE_CHECKING:
    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.state.pulls import PullRequest, Review
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call


def pull(call: Call, subject: PullRequest) -> dict[str, Any]:
    """A pull request as lists show it."""
    repo = repositories.api_url(call, subject.repository)
    url = f"{repo}/pulls/{subject.number}"
    page = issues.issue_page(call, subject.issue)
    base = subject.repository
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
        **issues.common(call, subject.issue),
        "merged_at": stamp(subject.merged_at),
        "merge_commit_sha": subject.merge_sha,
        "draft": subject.draft,
        "auto_merge": None,
        "requested_reviewers": [accounts.user(call, one) for one in subject.requested_reviewers],
        "requested_teams": [],
        "head": _end(
            call, subject.head_repository, subject.head_owner, subject.head, subject.head_sha
        ),
        "base": _end(call, base, base.owner, subject.base, subject.base_sha),
    }


def full_pull(call: Call, subject: PullRequest, *, fresh: bool = False) -> dict[str, Any]:
    """A pull request on its own: also whether it merged, and (if not `fresh`) whether it could."""
    mergeable = None if fresh else pulls.judge(subject, call.seen)
    state = {None: "unknown", True: "clean", False: "dirty"}[mergeable]
    merged_by = subject.merged_by
    return {
        **pull(call, subject),
        "merged": subject.merged_at is not None,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": "draft" if subject.draft and mergeable else state,
        "merged_by": accounts.user(call, merged_by) if merged_by else None,
        "comments": len(subject.issue.comments),
        "review_comments": 0,
        "maintainer_can_modify": subject.maintainer_can_modify,
        "commits": len(subject.repository.git.commits(subject.base_sha, subject.head_sha)),
    }


def review_url(call: Call, made: Review) -> str:
    """The place of a review on its pull request's page."""
    return f"{issues.issue_page(call, made.pull.issue)}#pullrequestreview-{made.id}"


def review(call: Call, made: Review) -> dict[str, Any]:
    """A review of a pull request."""
    repo = made.pull.repository
    url = f"{repositories.api_url(call, repo)}/pulls/{made.pull.number}"
    page = review_url(call, made)
    return {
        "id": made.id,
        "node_id": made.node_id,
        "user": accounts.user(call, made.author),
        "body": made.body,
        "state": made.state,
        "html_url": page,
        "pull_request_url": url,
        "author_association": repositories.association(repo, made.author),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "submitted_at": stamp(made.submitted_at),
        "commit_id": made.sha,
    }


def _end(
    call: Call, repo: Repository | None, owner: User | None, branch: str, sha: str
) -> dict[str, Any]:
    login = owner.login if owner else "unknown repository"
    return {
        "label": f"{login}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": accounts.user(call, owner) if owner else None,
        "repo": repositories.repository(call, repo) if repo else None,
    }
