"""GraphQL's fields of users, organizations and bots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.sandbox.accounts import payload as payloads
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import connection, not_found


def _user(call: Call, login: str) -> User:
    user = call.world.user(login)
    if user is None or user.kind == "organization":
        raise not_found(f"Could not resolve to a User with the login of '{login}'.")
    return user


def _organization(call: Call, login: str) -> User:
    organization = call.world.user(login)
    if organization is None or organization.kind != "organization":
        raise not_found(f"Could not resolve to an Organization with the login of '{login}'.")
    return organization


def ordered(
    entries: list[Any], order: dict[str, str] | None, keys: dict[str, Callable[[Any], Any]]
) -> list[Any]:
    """Sort entries by GraphQL's `field` and `direction`; without an order they stay unchanged."""
    if order is None:
        return entries
    return sorted(entries, key=keys[order["field"]], reverse=order["direction"] == "DESC")


REPOSITORY_ORDERS: dict[str, Callable[[Repository], Any]] = {
    "CREATED_AT": lambda repo: (repo.created_at, repo.id),
    "UPDATED_AT": lambda repo: (repo.updated_at, repo.id),
    "PUSHED_AT": lambda repo: (repo.pushed_at, repo.id),
    "NAME": lambda repo: repo.key,
    "STARGAZERS": lambda repo: repo.id,
}
REPOSITORY_FILTERS: dict[str, Callable[[Repository], Any]] = {
    "privacy": lambda repo: repo.visibility.upper(),
    "visibility": lambda repo: repo.visibility.upper(),
    "isFork": lambda repo: repo.parent is not None,
    "isArchived": lambda repo: repo.archived,
    "isLocked": lambda _: False,
    "hasIssuesEnabled": lambda repo: repo.has_issues,
}


def _repositories(call: Call, owner: User, **arguments: Any) -> dict[str, Any]:
    """A page of an account's repositories: by default those that it owns or collaborates on."""
    whose = set(arguments.pop("ownerAffiliations", None) or ["OWNER", "COLLABORATOR"])
    arguments.pop("affiliations", None)
    wanted = {name: arguments.pop(name, None) for name in REPOSITORY_FILTERS}
    asked = {name: value for name, value in wanted.items() if value is not None}
    repositories = [
        repo
        for repo in call.world.repositories.values()
        if access.sees(call.token, repo)
        and not whose.isdisjoint(map(str.upper, access.affiliations(repo, owner)))
        and all(REPOSITORY_FILTERS[name](repo) == value for name, value in asked.items())
    ]
    return connection(
        ordered(repositories, arguments.pop("orderBy", None), REPOSITORY_ORDERS), **arguments
    )


def _one_repository(call: Call, owner: User, name: str) -> Repository | None:
    return access.repository(call.world, call.token, f"{owner.login}/{name}")


def _organizations(call: Call, person: User, **arguments: Any) -> dict[str, Any]:
    users = call.world.users.values()
    return connection(
        [user for user in users if user.kind == "organization" and person in user.members],
        **arguments,
    )


def _organization_of(call: Call, person: User, login: str) -> User | None:
    organization = call.world.user(login)
    return organization if organization and person in organization.members else None


ACTOR: dict[str, Any] = {
    "avatarUrl(size)": lambda c, user, **_: payloads.avatar_url(c, user),
    "resourcePath": lambda _, user: f"/{user.login}",
    "url": payloads.page_url,
}
ACTOR_PLAIN = "id databaseId login createdAt"
OWNER: dict[str, Any] = {
    **ACTOR,
    "email": lambda _, user: user.email or "",
    "repositories(ownerAffiliations, affiliations, privacy, visibility, isFork, isArchived, isLocked, "
    "hasIssuesEnabled, orderBy)": _repositories,
    "repository": _one_repository,
    "projects(orderBy, states)": lambda *_, **__: connection([], first=1),
}  # fmt: skip
RESOLVERS: dict[str, dict[str, Any]] = {
    "Query": {
        "viewer": lambda c, _: c.viewer,
        "user": lambda c, _, login: _user(c, login),
        "organization": lambda c, _, login: _organization(c, login),
        "repositoryOwner": lambda c, _, login: c.world.user(login),
    },
    "User": {
        **OWNER,
        "isViewer": lambda c, user: user is c.viewer,
        "organizations": _organizations,
        "organization": _organization_of,
    },
    "Organization": {
        **OWNER,
        "membersWithRole": lambda _, org, **arguments: connection(org.members, **arguments),
        "viewerIsAMember": lambda c, org: c.viewer in org.members,
        "viewerCanCreateRepositories": lambda c, org: c.viewer in org.members,
        "team": lambda *_, slug: None,  # noqa: ARG005  there are no teams
        "teams(orderBy)": lambda *_, **__: connection([], first=1),
    },
    # An author is `slug`; in REST, and for `viewer`, which is a User, it is `slug[bot]`.
    "Bot": {**ACTOR, "login": lambda _, bot: bot.login.removesuffix("[bot]")},
}
PLAIN = {
    "User": f"{ACTOR_PLAIN} name",
    "Organization": f"{ACTOR_PLAIN} name",
    "Bot": ACTOR_PLAIN.replace(" login", ""),
    "Team": "id name slug organization",
    "Project": "id name number resourcePath",
}
