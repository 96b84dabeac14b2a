"""Who sees a board, who may change it, and with which token.

A classic token may do what its user may, if it has the scope. A fine-grained or an app's token needs the
permission `organization_projects`, and reaches only organizations' boards
(https://github.com/jonathan-vella/azure-agentic-infraops/issues/541). The token of GitHub Actions
sees no board at all (https://github.com/blombard/move-to-next-iteration/issues/1 and
https://docs.github.com/issues/planning-and-tracking-with-projects/automating-your-project/automating-projects-using-actions).
"""

from __future__ import annotations

from lifecycle.sandbox.accounts.state import Token, User
from lifecycle.sandbox.boards.state import (
    BoardTables,
    DraftIssue,
    Field,
    Item,
    Project,
    ProjectRole,
)
from lifecycle.sandbox.repositories.access import sees
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import forbidden, no_node, no_permission

LEVELS = ("read", "write", "admin")
SCOPES = {"read": {"read:project", "project"}, "write": {"project"}, "admin": {"project"}}


def role_in(token: Token, project: Project) -> ProjectRole | None:
    """The role of the token's user on a board; None if they cannot see it.

    An app has no user: only its permissions decide.
    """
    if token.kind in {"classic", "fine-grained"}:
        return project.role_of(token.user)
    if token.kind != "app":
        return None
    return "ADMIN" if "organization_projects:admin" in token.scopes else "WRITER"


def is_granted(token: Token, owner: User, level: str = "read") -> bool:
    """Whether a token's scopes or permissions let it read, write or administer an owner's boards.

    In GraphQL, a classic token's scopes are checked elsewhere, on the whole document.
    """
    if token.kind == "classic":
        return bool(token.scopes & SCOPES[level])
    wanted = {f"organization_projects:{rank}" for rank in LEVELS[LEVELS.index(level) :]}
    return owner.kind == "organization" and bool(token.scopes & wanted)


def is_open(token: Token, item: Item) -> bool:
    """Whether the token can see a card's issue or pull request; if not, the card is redacted.

    Source:
    https://docs.github.com/issues/planning-and-tracking-with-projects/automating-your-project/using-the-api-to-manage-projects#finding-information-about-items-in-a-project
    """
    content = item.content
    return isinstance(content, DraftIssue) or sees(token, content.repository)


def is_shown(call: Call, project: Project) -> bool:
    """Whether lists of boards show this one to the token."""
    return role_in(call.token, project) is not None and reaches(call, project)


def reaches(call: Call, project: Project, level: str = "read") -> bool:
    """Whether the token's permissions allow `level`; a classic token's scopes were checked before."""
    return call.token.kind == "classic" or is_granted(call.token, project.owner, level)


def readable(call: Call, project: Project) -> Project:
    """Return a board that the token's user can see, if the token may read it.

    Raises:
        Refusal: FORBIDDEN, the token's permissions do not reach it.
    """
    if not reaches(call, project):
        raise forbidden(call.token)
    return project


def changeable(call: Call, project: Project, *, admin: bool = False) -> Project:
    """Return a board that the token may change.

    Args:
        call: The request.
        project: The board.
        admin: Whether the user has to be an admin of the board, not only a writer.

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


def board_of(call: Call, part: object) -> Project | None:
    """The board that a card, field or draft is a part of, or the board itself; else None."""
    if isinstance(part, Project):
        return part
    if isinstance(part, Item):
        return part.project
    if isinstance(part, Field):
        return next(
            (project for project in BoardTables.of(call.world).projects if part in project.fields),
            None,
        )
    if isinstance(part, DraftIssue):
        return next(
            (project for project in BoardTables.of(call.world).projects if project.item_of(part)),
            None,
        )
    return None
