"""Add, edit, move, archive and remove the cards of boards (Projects v2).

Source:
https://docs.github.com/issues/planning-and-tracking-with-projects/automating-your-project/using-the-api-to-manage-projects
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.ids import node_id, option_id
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.boards.state import DraftIssue, Field, Item, Option, Project
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.repositories.state import Repository, World

ARCHIVED = "The item is archived and cannot be updated"


class BoardRefused(ActionRefused):
    """A change that the board's state does not allow; its type in GraphQL is VALIDATION."""

    kind = "VALIDATION"


def new_option(field: Field, name: str, turn: int) -> Option:
    """An option of a field; another `turn` gives another id."""
    return Option(option_id(field.id, name, turn), name)


def add_item(world: World, project: Project, content: Issue | DraftIssue, by: User) -> Item:
    """The card of an issue on the board, made if there is none.

    An archived card stays archived. The board's list may omit a new one for as many reads as the world's
    lag says.
    """
    item = project.item_of(content)
    if item is None:
        number = next(world.serial)
        item_id = node_id("PVTI", project.owner.id, number)
        item = Item(item_id, number, project, content, by, hidden_for=world.lag.get("items", 0))
        project.put(item)
        world.register(item.id, item)
        project.updated_at = now()
    return item


def add_draft(
    world: World, project: Project, title: str, body: str, assignees: Iterable[User], by: User
) -> Item:
    """Add a card with a draft issue, which is in no repository."""
    number, when = next(world.serial), now()
    draft = DraftIssue(
        number, node_id("DI", project.owner.id, number), _titled(title), body, by, when, when,
        list(assignees),
    )  # fmt: skip
    world.register(draft.node_id, draft)
    return add_item(world, project, draft, by)


def edit_draft(
    draft: DraftIssue, *, title: str | None, body: str | None, assignees: list[User] | None
) -> None:
    """Change title, body and assignees of a draft; None leaves a value unchanged."""
    draft.title = draft.title if title is None else _titled(title)
    draft.body = draft.body if body is None else body
    draft.assignees = draft.assignees if assignees is None else assignees
    draft.updated_at = now()


def convert_draft(item: Item, repo: Repository, by: User) -> Issue:
    """Turn a draft into an issue; the card stays the same, with its values.

    Raises:
        BoardRefused: The card has an issue already, or is archived.
    """
    draft = item.content
    demand_active(item)
    if not isinstance(draft, DraftIssue):
        raise BoardRefused("The item is not a draft issue and cannot be converted")
    issue = issues.new_issue(repo, by, draft.title, draft.body)
    issues.assign(issue, [user.login for user in draft.assignees], by)
    del item.project.cards[draft.node_id]
    repo.world.forget(draft.node_id)
    item.content, item.updated_at = issue, now()
    item.project.cards[issue.node_id] = item
    return issue


def remove_item(world: World, item: Item) -> None:
    """Remove a card from its board; its draft, if any, is deleted."""
    item.project.take(item)
    item.project.updated_at = now()
    world.forget(item.id)
    if isinstance(item.content, DraftIssue):
        world.forget(item.content.node_id)


def archive(item: Item, *, archived: bool) -> None:
    """Archive or restore a card; a second call changes nothing."""
    item.archived, item.updated_at = archived, now()


def move_item(item: Item, after: Item | None) -> None:
    """Move a card right after another one of the same board, or to the beginning.

    Raises:
        BoardRefused: One of them is archived, or both are the same card.
    """
    demand_active(item)
    if after is item:
        raise BoardRefused("The item cannot be positioned after itself")
    if after is not None:
        demand_active(after)
    item.project.move(item, after)
    item.project.updated_at = now()


def demand_active(item: Item) -> None:
    """Refuse a change of an archived card.

    Raises:
        BoardRefused: It is archived.
    """
    if item.archived:
        raise BoardRefused(ARCHIVED)


def _titled(title: str) -> str:
    if not title.strip():
        raise BoardRefused("Title can't be blank")
    return title
