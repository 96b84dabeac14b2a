"""What happens to boards and their cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.sandbox.ids import node_id, option_id
from lifecycle.sandbox.state.boards import Item, Option

if TYPE_CHECKING:
    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.state.boards import Field, Project
    from lifecycle.sandbox.state.issues import Issue
    from lifecycle.sandbox.state.world import World


def new_option(field: Field, name: str, turn: int) -> Option:
    """An option of a field; another `turn` gives another id."""
    return Option(option_id(field.id, name, turn), name)


def add_item(world: World, project: Project, issue: Issue, by: User) -> Item:
    """The card of an issue on the board, made if there is none."""
    found = project.item_of(issue)
    if found is None:
        number = next(world.serial)
        found = Item(node_id("PVTI", project.owner.id, number), number, project, issue, by)
        project.put(found)
        world.register(found.id, found)
    return found
