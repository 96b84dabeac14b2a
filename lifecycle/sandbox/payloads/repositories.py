"""Repositories over REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.payloads import accounts
from lifecycle.sandbox.state.times import stamp

if TYPE_CHECKING:
    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call


def api_url(call: Call, repo: Repository) -> str:
    """Where a repository is in the API."""
    return f"{call.base}/repos/{repo.full_name}"


def page_url(call: Call, repo: Repository) -> str:
    """Where people look at a repository."""
    return f"{call.base}/{repo.full_name}"


def association(repo: Repository, author: User) -> str:
    """What somebody is to a repository (`author_association`)."""
    if author is repo.owner:
        return "OWNER"
    return "MEMBER" if repo.can_push(author) else "NONE"


def repository(call: Call, repo: Repository) -> dict[str, Any]:
    """The repository, with what the token's owner may do."""
    role = repo.role_of(call.viewer)
    url = api_url(call, repo)
    opened = [i for i in repo.issues.values() if i.state == "open"]
    return {
        "id": repo.id,
        "node_id": repo.node_id,
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.is_private,
        "visibility": repo.visibility,
        "owner": accounts.user(call, repo.owner),
        "html_url": f"{call.base}/{repo.full_name}",
        "description": repo.description,
        "fork": repo.parent is not None,
        "url": url,
        "issues_url": f"{url}/issues{{/number}}",
        "pulls_url": f"{url}/pulls{{/number}}",
        "git_url": f"git://{call.base.partition('://')[2]}/{repo.full_name}.git",
        "clone_url": f"{call.base}/{repo.full_name}.git",
        "default_branch": repo.default_branch,
        "open_issues_count": len(opened),
        "open_issues": len(opened),
        "has_issues": repo.has_issues,
        "has_projects": True,
        "archived": repo.archived,
        "disabled": False,
        "created_at": stamp(repo.created_at),
        "updated_at": stamp(repo.updated_at),
        "pushed_at": stamp(repo.pushed_at),
        "allow_merge_commit": repo.allow_merge_commit,
        "allow_squash_merge": repo.allow_squash_merge,
        "allow_rebase_merge": repo.allow_rebase_merge,
        "delete_branch_on_merge": repo.delete_branch_on_merge,
        "permissions": {
            "admin": role == "admin",
            "maintain": role in {"admin", "maintain"},
            "push": repo.can_push(call.viewer),
            "triage": repo.can_triage(call.viewer),
            "pull": True,
        },
    }
