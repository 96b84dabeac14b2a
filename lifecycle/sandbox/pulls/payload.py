"""The JSON of pull requests in REST's answers."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.issues import payload as issues
from lifecycle.sandbox.pulls import changes
from lifecycle.sandbox.pulls.merging import actions as merging
from lifecycle.sandbox.pulls.merging import mergeability
from lifecycle.sandbox.pulls.reviews import threads
from lifecycle.sandbox.pulls.state import PullRequest
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call


def pull_url(call: Call, subject: PullRequest) -> str:
    """The URL of a pull request in the API."""
    return f"{repositories.api_url(call, subject.repository)}/pulls/{subject.number}"


def pull(call: Call, subject: PullRequest) -> dict[str, Any]:
    """The JSON of a pull request in a list."""
    page = issues.issue_page(call, subject.issue)
    base = subject.repository
    urls = _urls(call, subject)
    return {
        **attributes(subject, "id node_id"),
        "url": urls["self"],
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": urls["issue"],
        "commits_url": urls["commits"],
        "review_comments_url": urls["review_comments"],
        "review_comment_url": urls["review_comment"],
        "comments_url": urls["comments"],
        "statuses_url": urls["statuses"],
        **issues.common(call, subject.issue),
        "merged_at": stamp(subject.merged_at),
        "merge_commit_sha": subject.merge_sha or subject.test_merge_sha,
        "draft": subject.draft,
        "auto_merge": _auto_merge(call, subject),
        "requested_reviewers": [
            accounts.user(call, reviewer) for reviewer in subject.requested_reviewers
        ],
        "requested_teams": [],
        "head": _end(
            call, subject.head_repository, subject.head_owner, subject.head, subject.head_sha
        ),
        "base": _end(call, base, base.owner, subject.base, subject.base_sha),
        "_links": {name: {"href": href} for name, href in {**urls, "html": page}.items()},
    }


def _urls(call: Call, subject: PullRequest) -> dict[str, str]:
    repo, url = repositories.api_url(call, subject.repository), pull_url(call, subject)
    return {
        "self": url,
        "html": "",
        "issue": f"{repo}/issues/{subject.number}",
        "comments": f"{repo}/issues/{subject.number}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{repo}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{repo}/statuses/{subject.head_sha}",
    }


def _auto_merge(call: Call, subject: PullRequest) -> dict[str, Any] | None:
    auto_merge = subject.auto_merge
    if auto_merge is None:
        return None
    return {
        "enabled_by": accounts.user(call, auto_merge.enabled_by),
        "merge_method": auto_merge.method,
        "commit_title": auto_merge.title or merging.default_title(subject, auto_merge.method),
        "commit_message": auto_merge.message or "",
    }


def full_pull(call: Call, subject: PullRequest, *, fresh: bool = False) -> dict[str, Any]:
    """The JSON of one pull request: also whether it is merged and, if not `fresh`, mergeable."""
    mergeable = None if fresh else mergeability.judge(subject, call.seen)
    merged_by = subject.merged_by
    size = changes.measure(subject)
    return {
        **pull(call, subject),
        "merged": subject.merged_at is not None,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": mergeability.state(subject, mergeable),
        "merged_by": accounts.user(call, merged_by) if merged_by else None,
        "comments": len(subject.issue.comments),
        "review_comments": len(threads.comments_of(subject, call.viewer)),
        "maintainer_can_modify": subject.maintainer_can_modify,
        **attributes(size, "commits additions deletions"),
        "changed_files": size.files,
    }


def minimal(call: Call, subject: PullRequest) -> dict[str, Any]:
    """The JSON of a pull request in check runs and workflow runs."""

    def end(repo: Repository, ref: str, sha: str) -> dict[str, Any]:
        place = {"id": repo.id, "url": repositories.api_url(call, repo), "name": repo.name}
        return {"ref": ref, "sha": sha, "repo": place}

    base = subject.repository
    return {
        "url": pull_url(call, subject),
        **attributes(subject, "id number"),
        "head": end(subject.head_repository or base, subject.head, subject.head_sha),
        "base": end(base, subject.base, subject.base_sha),
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
