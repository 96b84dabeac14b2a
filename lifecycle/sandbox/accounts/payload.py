"""The JSON of users, organizations and bots in REST's answers."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.wire.call import Call, links

TYPES = {"organization": "Organization", "bot": "Bot", "user": "User"}


def page_url(call: Call, person: User) -> str:
    """The address of an account's page; a bot's is that of its App."""
    if person.kind == "bot":
        return f"{call.web}/apps/{person.login.removesuffix('[bot]')}"
    return f"{call.web}/{person.login}"


def user(call: Call, person: User) -> dict[str, Any]:
    """The JSON of a user, organization or bot within other objects; made once in a request."""
    return call.once(("user", person.id, person.kind), lambda: _user(call, person))


def _user(call: Call, person: User) -> dict[str, Any]:
    url = f"{call.base}/users/{quote(person.login)}"
    return {
        **attributes(person, "login id node_id"),
        "avatar_url": avatar_url(call, person),
        "gravatar_id": "",
        "url": url,
        "html_url": page_url(call, person),
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": TYPES[person.kind],
        "user_view_type": "public",
        "site_admin": False,
    }


def avatar_url(call: Call, person: User) -> str:
    """The address of an account's picture, which is not served."""
    return f"{call.web}/avatars/u/{person.id}?v=4"


def _owned(call: Call, person: User) -> tuple[int, int]:
    """The numbers of public and private repositories that an account owns."""
    owned = [repo for repo in call.world.repositories.values() if repo.owner is person]
    private = sum(repo.is_private for repo in owned)
    return len(owned) - private, private


def public_user(call: Call, person: User) -> dict[str, Any]:
    """The JSON of one user or bot, as everybody sees it."""
    public, _ = _owned(call, person)
    return {
        **user(call, person),
        "name": person.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": person.email,
        **dict.fromkeys(("hireable", "bio", "twitter_username"), None),
        "public_repos": public,
        **dict.fromkeys(("public_gists", "followers", "following"), 0),
        "created_at": stamp(person.created_at),
        "updated_at": stamp(person.created_at),
    }


def viewer(call: Call) -> dict[str, Any]:
    """The JSON of the authenticated user, as only they see it."""
    person = call.viewer
    _, private = _owned(call, person)
    return {
        **public_user(call, person),
        "notification_email": person.email,
        "user_view_type": "private",
        "private_gists": 0,
        "total_private_repos": private,
        "owned_private_repos": private,
        "disk_usage": 0,
        "collaborators": 0,
        "two_factor_authentication": True,
        "plan": {"name": "free", "space": 976_562_499, "collaborators": 0, "private_repos": 10_000},
    }


def organization(call: Call, org: User) -> dict[str, Any]:
    """The JSON of an organization in lists."""
    url = f"{call.base}/orgs/{org.login}"
    return {
        **attributes(org, "login id node_id"),
        "url": url,
        **links(url, "repos events hooks issues"),
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": avatar_url(call, org),
        "description": None,
    }


def full_organization(call: Call, org: User) -> dict[str, Any]:
    """The JSON of one organization."""
    public, private = _owned(call, org)
    answer = {
        **organization(call, org),
        "name": org.name,
        **dict.fromkeys(("company", "blog", "location"), None),
        "email": org.email,
        "twitter_username": None,
        "is_verified": False,
        "has_organization_projects": True,
        "has_repository_projects": True,
        "public_repos": public,
        **dict.fromkeys(("public_gists", "followers", "following"), 0),
        "html_url": page_url(call, org),
        "created_at": stamp(org.created_at),
        "updated_at": stamp(org.created_at),
        "archived_at": None,
        "type": "Organization",
    }
    if call.viewer in org.members:
        answer |= {
            "total_private_repos": private,
            "owned_private_repos": private,
            **dict.fromkeys(("private_gists", "disk_usage", "collaborators"), 0),
            "billing_email": None,
            "default_repository_permission": "read",
            "members_can_create_repositories": True,
            "two_factor_requirement_enabled": False,
            "web_commit_signoff_required": False,
            "plan": {"name": "free", "space": 976_562_499, "private_repos": 10_000,
                     "filled_seats": len(org.members), "seats": 0},
        }  # fmt: skip
    return answer


def membership(call: Call, org: User, person: User) -> dict[str, Any]:
    """The JSON of a person's membership in an organization: admin if their own role is admin."""
    url = f"{call.base}/orgs/{org.login}"
    return {
        "url": f"{url}/memberships/{person.login}",
        "state": "active",
        "role": "admin" if person.role == "admin" else "member",
        "organization_url": url,
        "direct_membership": True,
        "enterprise_teams_providing_indirect_membership": [],
        "user": user(call, person),
        "organization": organization(call, org),
        "permissions": {"can_create_repository": True},
    }
