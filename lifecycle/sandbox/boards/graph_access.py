"""What GraphQL refuses about boards."""

from __future__ import annotations

from lifecycle.sandbox.boards.access import is_granted, role_in
from lifecycle.sandbox.boards.state import BoardTables, DraftIssue, Field, Item, Project
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import forbidden, no_node, no_permission


def is_shown(call: Call, project: Project) -> bool:
    """Whether lists of boards have it."""
    return role_in(call.token, project) is not None and reaches(call, project)


def reaches(call: Call, project: Project, level: str = "read") -> bool:
    """Whether the token may; of a classic one the scopes were looked at before anything ran."""
    return call.token.kind == "classic" or is_granted(call.token, project.owner, level)


def readable(call: Call, project: Project) -> Project:
    """A board that is there for the token's user.

    Raises:
        Refusal: FORBIDDEN, the token's permissions do not reach it.
    """
    if not reaches(call, project):
        raise forbidden(call.token)
    return project


def changeable(call: Call, project: Project, *, admin: bool = False) -> Project:
    """A board that is to be changed.

    Args:
        call: The request.
        project: The board.
        admin: Whether writing its cards is not enough.

    Raises:
        Refusal: NOT_FOUND if it cannot be seen, FORBIDDEN if it can.
    """
    role = role_in(call.token, project)
    if role is None:
        raise no_node(project.id)
    if not reaches(call, project, "write"):
        raise forbidden(call.token)
    if role == "READER" or (admin and role != "ADMIN"):
        raise no_permission(call)
    return project


def board_of(call: Call, thing: object) -> Project | None:
    """The board that a thing belongs to, or is; None if it is no part of one."""
    if isinstance(thing, Project):
        return thing
    if isinstance(thing, Item):
        return thing.project
    if isinstance(thing, Field):
        return next(
            (one for one in BoardTables.of(call.world).projects if thing in one.fields), None
        )
    if isinstance(thing, DraftIssue):
        return next(
            (one for one in BoardTables.of(call.world).projects if one.item_of(thing)), None
        )
    return None
