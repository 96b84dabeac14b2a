"""What most entities have in common with their forms: fields of the same name and type."""

from __future__ import annotations

from typing import Any, TypeVar

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.seed.form import Form, SeedComment, SeedEvent
from lifecycle.sandbox.seed.references import names_in

F = TypeVar("F", bound=Form)


def plain(form: type[F], thing: object, **special: Any) -> F:
    """The form of a thing: `special` as given, the rest from the attributes of the same name."""
    names = [name for name in form.__struct_fields__ if name not in special]
    return form(**{name: getattr(thing, name) for name in names}, **special)


def login(user: User | None) -> str | None:
    """How a seed names somebody, or nobody."""
    return user.login if user else None


def halves(issue: Issue) -> dict[str, Any]:
    """What the form of an issue and of a pull request say alike, where it is no plain field."""
    return {
        "author": issue.author.login,
        "labels": [label.name for label in issue.labels],
        "assignees": [user.login for user in issue.assignees],
        "milestone": issue.milestone.number if issue.milestone else None,
        "closed_by": login(issue.closed_by),
        "assigned_at": None,  # the events tell it
    }


def comments_of(issue: Issue) -> list[SeedComment]:
    """The comments of an issue or a pull request."""
    return [plain(SeedComment, one, author=one.author.login) for one in issue.comments]


def events_of(issue: Issue) -> list[SeedEvent]:
    """The past of an issue or a pull request."""
    return [
        plain(SeedEvent, one, actor=one.actor.login, about=names_in(one.about))
        for one in issue.events
    ]
