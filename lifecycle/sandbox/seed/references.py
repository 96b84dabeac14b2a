"""Turn a name in a seed (login, number, `owner/name#number`) into its object, and back.

Most forms and entities have fields of the same name and type.
"""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar, cast

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import SeedError
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.issues.state import Issue, IssueTables, Label, Milestone
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.seed.form_content import Form, SeedComment, SeedEvent


def moment(time: datetime | None) -> datetime:
    """A time of a seed in UTC, or the present."""
    if time is None:
        return now()
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def account(world: World, login: str) -> User:
    """The account of that login.

    Raises:
        SeedError: There is none.
    """
    user = world.user(login)
    if user is None:
        raise SeedError(f"The seed names {login!r}, but has no such user or organization.")
    return user


def account_or_none(world: World, login: str | None) -> User | None:
    """The account of that login, or None if none is named."""
    return account(world, login) if login else None


def issue_named(repo: Repository, name: str | int) -> Issue:
    """The issue of that number, here or, as `owner/name#number`, elsewhere.

    Raises:
        SeedError: There is none.
    """
    where, _, number = str(name).rpartition("#")
    target = repo.world.repository(where) if where else repo
    issues = IssueTables.of(target).issues if target is not None else {}
    if not number.isdecimal() or int(number) not in issues:
        raise SeedError(f"The seed names the issue {name!r} in {repo.full_name}: there is none.")
    return issues[int(number)]


def name_of(issue: Issue) -> str:
    """The name of an issue in a seed, `owner/name#number`."""
    return f"{issue.repository.full_name}#{issue.number}"


def about_of(repo: Repository, about: dict[str, Any]) -> dict[str, Any]:
    """The data of an event, with each name (`{user: maria}`) replaced by its entity."""
    return {key: _thing(repo, value) for key, value in about.items()}


def _thing(repo: Repository, value: Any) -> Any:
    tables = IssueTables.of(repo)
    if not isinstance(value, dict) or len(value) != 1:
        return value
    kind, name = next(iter(value.items()))
    if kind == "user":
        return account(repo.world, name)
    if kind == "label":
        return tables.labels.get(str(name).lower(), name)
    if kind == "milestone":
        return tables.milestones.get(name, name)
    return issue_named(repo, name) if kind == "issue" else value


def names_in(about: dict[str, Any]) -> dict[str, Any]:
    """The reverse of `about_of`: each entity replaced by its name; None values are left out."""
    return {key: _name(value) for key, value in about.items() if value is not None}


def _name(value: Any) -> Any:
    if isinstance(value, User):
        return {"user": value.login}
    if isinstance(value, Label):
        return {"label": value.name}
    if isinstance(value, Milestone):
        return {"milestone": value.number}
    return {"issue": name_of(value)} if isinstance(value, Issue) else value


def identity(repo: Repository, prefix: str, number: int | None) -> dict[str, Any]:
    """`id` and `node_id` for a new entity: from the seed's number, or without one from a new number."""
    if number is None:
        number, node = repo.new_id(prefix)
        return {"id": number, "node_id": node}
    return {"id": number, "node_id": node_id(prefix, repo.id, number)}


def author(repo: Repository, login: str | None) -> User:
    """The account of that login, or the first person of the world if none is named."""
    if login:
        return account(repo.world, login)
    return next(user for user in repo.world.users.values() if user.kind == "user")


E = TypeVar("E")
F = TypeVar("F", bound=Form)


@cache
def _alike(kind: Any, form: type[Form]) -> tuple[tuple[str, bool], ...]:
    """The names that an entity's class and its form share, and whether each is a required time."""
    known = {field.name: field.type == "datetime" for field in dataclasses.fields(kind)}
    return tuple((name, known[name]) for name in form.__struct_fields__ if name in known)


def grown(kind: type[E], seed: Form, /, **special: Any) -> E:
    """Make the entity of a form: `special` as given, its other fields from the keys of the same name.

    Lists and mappings are copied, since the world changes and the seed does not.
    """
    values, entity_type = dict(special), cast("Any", kind)
    for name, is_time in _alike(entity_type, type(seed)):
        if name not in special:
            value = getattr(seed, name)
            if isinstance(value, (list, dict)):
                value = value.copy()
            values[name] = moment(value) if is_time else value
    return kind(**values)


def registered(
    repo: Repository, prefix: str, number: int | None, kind: type[E], seed: Form, /, **special: Any
) -> E:
    """Make the entity of a form as `grown` does, with its ids, and register it in the world by them."""
    ids = identity(repo, prefix, number)
    entity = grown(kind, seed, **ids, **special)
    repo.world.register(ids["node_id"], entity)
    return entity


def plain(form: type[F], entity: object, **special: Any) -> F:
    """Make the form of an entity: `special` as given, other keys from attributes of the same name."""
    names = [name for name in form.__struct_fields__ if name not in special]
    return form(**{name: getattr(entity, name) for name in names}, **special)


def login(user: User | None) -> str | None:
    """The name of a user in a seed, the login; None for nobody."""
    return user.login if user else None


def halves(issue: Issue) -> dict[str, Any]:
    """The shared keys of the forms of issues and pull requests that `plain` cannot copy."""
    return {
        "author": issue.author.login,
        "labels": [label.name for label in issue.labels],
        "assignees": [user.login for user in issue.assignees],
        "milestone": issue.milestone.number if issue.milestone else None,
        "closed_by": login(issue.closed_by),
        "assigned_at": None,  # the events contain it
    }


def comments_of(issue: Issue) -> list[SeedComment]:
    """The comments of an issue or a pull request."""
    return [plain(SeedComment, comment, author=comment.author.login) for comment in issue.comments]


def events_of(issue: Issue) -> list[SeedEvent]:
    """The events of an issue or a pull request."""
    return [
        plain(SeedEvent, event, actor=event.actor.login, about=names_in(event.about))
        for event in issue.events
    ]
