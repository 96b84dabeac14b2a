"""Users, organizations and bots."""

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
    found = call.world.user(login)
    if found is None or found.kind == "organization":
        raise not_found(f"Could not resolve to a User with the login of '{login}'.")
    return found


def _organization(call: Call, login: str) -> User:
    found = call.world.user(login)
    if found is None or found.kind != "organization":
        raise not_found(f"Could not resolve to an Organization with the login of '{login}'.")
    return found


def ordered(
    things: list[Any], order: dict[str, str] | None, keys: dict[str, Callable[[Any], Any]]
) -> list[Any]:
    """Things in the order that was asked for; as they are without one."""
    if order is None:
        return things
    return sorted(things, key=keys[order["field"]], reverse=order["direction"] == "DESC")


REPOSITORY_ORDERS: dict[str, Callable[[Repository], Any]] = {
    "CREATED_AT": lambda one: (one.created_at, one.id),
    "UPDATED_AT": lambda one: (one.updated_at, one.id),
    "PUSHED_AT": lambda one: (one.pushed_at, one.id),
    "NAME": lambda one: one.key,
    "STARGAZERS": lambda one: one.id,
}
REPOSITORY_FILTERS: dict[str, Callable[[Repository], Any]] = {
    "privacy": lambda one: one.visibility.upper(),
    "visibility": lambda one: one.visibility.upper(),
    "isFork": lambda one: one.parent is not None,
    "isArchived": lambda one: one.archived,
    "isLocked": lambda _: False,
    "hasIssuesEnabled": lambda one: one.has_issues,
}


def _repositories(call: Call, owner: User, **given: Any) -> dict[str, Any]:
    """An account's repositories: of its own, or also those where it may do something."""
    whose = set(given.pop("ownerAffiliations", None) or ["OWNER", "COLLABORATOR"])
    given.pop("affiliations", None)
    wanted = {name: given.pop(name, None) for name in REPOSITORY_FILTERS}
    asked = {name: value for name, value in wanted.items() if value is not None}
    found = [
        one
        for one in call.world.repositories.values()
        if access.sees(call.token, one)
        and not whose.isdisjoint(map(str.upper, access.affiliations(one, owner)))
        and all(REPOSITORY_FILTERS[name](one) == value for name, value in asked.items())
    ]
    return connection(ordered(found, given.pop("orderBy", None), REPOSITORY_ORDERS), **given)


def _one_repository(call: Call, owner: User, name: str) -> Repository | None:
    return access.repository(call.world, call.token, f"{owner.login}/{name}")


def _organizations(call: Call, person: User, **given: Any) -> dict[str, Any]:
    users = call.world.users.values()
    return connection(
        [one for one in users if one.kind == "organization" and person in one.members], **given
    )


def _organization_of(call: Call, person: User, login: str) -> User | None:
    found = call.world.user(login)
    return found if found and person in found.members else None


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
        "membersWithRole": lambda _, org, **given: connection(org.members, **given),
        "viewerIsAMember": lambda c, org: c.viewer in org.members,
        "viewerCanCreateRepositories": lambda c, org: c.viewer in org.members,
        "team": lambda *_, slug: None,  # noqa: ARG005  there are no teams
        "teams(orderBy)": lambda *_, **__: connection([], first=1),
    },
    # An author is `slug`; REST, and `viewer`, which is a User, say `slug[bot]`.
    "Bot": {**ACTOR, "login": lambda _, bot: bot.login.removesuffix("[bot]")},
}
PLAIN = {
    "User": f"{ACTOR_PLAIN} name",
    "Organization": f"{ACTOR_PLAIN} name",
    "Bot": ACTOR_PLAIN.replace(" login", ""),
    "Team": "id name slug organization",
    "Project": "id name number resourcePath",
}
