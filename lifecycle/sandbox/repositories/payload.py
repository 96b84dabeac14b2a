"""The JSON of repositories in REST's answers."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import attributes
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call

LINKS = {
    "keys_url": "/keys{/key_id}",
    "collaborators_url": "/collaborators{/collaborator}",
    "teams_url": "/teams",
    "hooks_url": "/hooks",
    "issue_events_url": "/issues/events{/number}",
    "events_url": "/events",
    "assignees_url": "/assignees{/user}",
    "branches_url": "/branches{/branch}",
    "tags_url": "/tags",
    "blobs_url": "/git/blobs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "trees_url": "/git/trees{/sha}",
    "statuses_url": "/statuses/{sha}",
    "languages_url": "/languages",
    "stargazers_url": "/stargazers",
    "contributors_url": "/contributors",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "commits_url": "/commits{/sha}",
    "git_commits_url": "/git/commits{/sha}",
    "comments_url": "/comments{/number}",
    "issue_comment_url": "/issues/comments{/number}",
    "contents_url": "/contents/{+path}",
    "compare_url": "/compare/{base}...{head}",
    "merges_url": "/merges",
    "archive_url": "/{archive_format}{/ref}",
    "downloads_url": "/downloads",
    "issues_url": "/issues{/number}",
    "pulls_url": "/pulls{/number}",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "labels_url": "/labels{/name}",
    "releases_url": "/releases{/id}",
    "deployments_url": "/deployments",
    "forks_url": "/forks",
}


def api_url(call: Call, repo: Repository) -> str:
    """The URL of a repository in the API."""
    return f"{call.base}/repos/{repo.full_name}"


def page_url(call: Call, repo: Repository) -> str:
    """The URL of a repository's page."""
    return f"{call.web}/{repo.full_name}"


def ssh_url(call: Call, repo: Repository) -> str:
    """The repository's address for git over SSH, which the sandbox does not serve."""
    host = call.web.partition("://")[2].partition(":")[0]
    return f"git@{host}:{repo.full_name}.git"


def association(repo: Repository, author: User) -> str:
    """An author's relation to a repository (`author_association`).

    Source: https://docs.github.com/graphql/reference/enums#commentauthorassociation
    """
    if author is repo.owner:
        return "OWNER"
    if author in repo.owner.members:
        return "MEMBER"
    if author.login.lower() in repo.roles or repo.can_push(author):
        return "COLLABORATOR"
    merged = any(
        p.merged_at and p.issue.author is author for p in PullTables.of(repo).pulls.values()
    )
    return "CONTRIBUTOR" if merged else "NONE"


def associate(call: Call, repo: Repository, author: User) -> str:
    """An author's relation to a repository, computed once for a request."""
    return call.once(("association", repo.id, author.id), lambda: association(repo, author))


def open_issues(call: Call, repo: Repository) -> int:
    """The number of open issues and pull requests, counted once for a request."""
    issues = IssueTables.of(repo).issues.values()
    return call.once(
        ("open issues", repo.id), lambda: sum(issue.state == "open" for issue in issues)
    )


def minimal(call: Call, repo: Repository) -> dict[str, Any]:
    """The JSON of a repository in lists."""
    return call.once(("repository", repo.id), lambda: _repository(call, repo))


repository = minimal
"""The JSON of a repository within other objects, the same as in lists."""


GIT_URLS = frozenset({"clone_url", "git_url", "mirror_url", "ssh_url", "svn_url"})
ALWAYS = frozenset(
    {"id", "node_id", "name", "full_name", "owner", "private", "description", "fork", "url"}
)


def simple(call: Call, repo: Repository) -> dict[str, Any]:
    """The JSON of a repository in references to issues: names and URLs, no counts or settings."""
    return {
        key: value
        for key, value in minimal(call, repo).items()
        if key in ALWAYS or (key.endswith("_url") and key not in GIT_URLS)
    }


def _repository(call: Call, repo: Repository) -> dict[str, Any]:
    url, page = api_url(call, repo), page_url(call, repo)
    count, forks = open_issues(call, repo), len(repo.forks)
    return {
        **attributes(repo, "id node_id name full_name"),
        "private": repo.is_private,
        "owner": accounts.user(call, repo.owner),
        "html_url": page,
        "description": repo.description,
        "fork": repo.parent is not None,
        "url": url,
        **{name: f"{url}{path}" for name, path in LINKS.items()},
        **attributes(repo, "created_at updated_at pushed_at"),
        "git_url": f"git://{page.partition('://')[2]}.git",
        "ssh_url": ssh_url(call, repo),
        "clone_url": f"{page}.git",
        "svn_url": page,
        "homepage": repo.homepage,
        **dict.fromkeys(("size", "stargazers_count", "watchers_count"), 0),
        "language": None,
        **attributes(repo, "has_issues has_projects"),
        "has_downloads": True,
        "has_wiki": repo.has_wiki,
        "has_pages": False,
        "has_discussions": False,
        "has_pull_requests": True,
        "pull_request_creation_policy": "all",
        "forks_count": forks,
        "mirror_url": None,
        "archived": repo.archived,
        "disabled": False,
        "open_issues_count": count,
        "license": None,
        **attributes(repo, "allow_forking is_template"),
        "web_commit_signoff_required": False,
        "topics": list(repo.topics),
        "visibility": repo.visibility,
        "forks": forks,
        "open_issues": count,
        "watchers": 0,
        "default_branch": repo.default_branch,
        "permissions": permissions(repo, call.viewer),
    }


def permissions(repo: Repository, user: User) -> dict[str, bool]:
    """The JSON of a user's permissions in a repository."""
    role = repo.role_of(user)
    return {
        "admin": role == "admin",
        "maintain": role in {"admin", "maintain"},
        "push": repo.can_push(user),
        "triage": repo.can_triage(user),
        "pull": role is not None,
    }


def full(call: Call, repo: Repository) -> dict[str, Any]:
    """The JSON of one repository; its merge settings are shown to viewers who may push."""
    answer = {
        **minimal(call, repo),
        "temp_clone_token": "" if repo.can_push(call.viewer) else None,
        "network_count": len(repo.forks),
        "subscribers_count": 0,
    }
    if repo.can_push(call.viewer):
        answer |= {
            **attributes(repo, "allow_squash_merge allow_merge_commit allow_rebase_merge"),
            **attributes(repo, "allow_auto_merge delete_branch_on_merge allow_update_branch"),
            "use_squash_pr_title_as_default": False,
            "squash_merge_commit_message": "COMMIT_MESSAGES",
            "squash_merge_commit_title": "COMMIT_OR_PR_TITLE",
            "merge_commit_message": "PR_TITLE",
            "merge_commit_title": "MERGE_MESSAGE",
        }
    if repo.owner.kind == "organization":
        answer |= {"organization": accounts.user(call, repo.owner), "custom_properties": {}}
    if repo.parent is not None:
        source = repo.parent
        while source.parent is not None:
            source = source.parent
        answer |= {"parent": minimal(call, repo.parent), "source": minimal(call, source)}
    return answer


ROLES = {"admin": "admin", "maintain": "write", "write": "write", "triage": "read", "read": "read"}
"""The older word `permission` for each of the five roles.
Source: https://docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user
"""


def collaborator(call: Call, repo: Repository, person: User) -> dict[str, Any]:
    """The JSON of a collaborator: the user with role and permissions."""
    return {
        **accounts.user(call, person),
        "permissions": permissions(repo, person),
        "role_name": repo.role_of(person) or "read",
    }


def permission_of(call: Call, repo: Repository, person: User) -> dict[str, Any]:
    """The JSON of a user's permission in one word, `none` without a role."""
    role = repo.role_of(person)
    return {
        "permission": ROLES[role] if role else "none",
        "user": collaborator(call, repo, person),
        "role_name": role or "",
    }
