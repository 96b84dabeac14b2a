"""What people do with the first board, by the control endpoint."""

from __future__ import annotations

from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.boards import actions as cards
from lifecycle.sandbox.boards.actions import add_item, new_option
from lifecycle.sandbox.boards.state import BoardTables, Field, Item
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.repositories.state import World
from lifecycle.sandbox.wire.site import At


def _field(world: World, name: str) -> Field:
    found = BoardTables.of(world).first().field_named(name)
    if found is None:
        raise ActionRefused(f"The board has no field {name!r}; nothing was done.")
    return found


def _card(at: At, issue: int) -> Item:
    found = BoardTables.of(at.world).first().item_of(IssueTables.of(at.repo).issue(issue))
    if found is None:
        raise ActionRefused(f"Issue {issue} is not on the board; nothing was done.")
    return found


def set_field(at: At, *, issue: int, field: str, value: str | None, by: str = "") -> None:
    """Move a card: set a field of an issue's item by name, or clear it."""
    column, card = _field(at.world, field), _card(at, issue)
    if value is None:
        card.drop(column.id)
        return
    if column.data_type == "SINGLE_SELECT":
        ids = {option.name: option.id for option in column.options}
        if value not in ids:
            raise ActionRefused(f"{field!r} has no option {value!r}; it has {', '.join(ids)}.")
        value = ids[value]
    card.give(column.id, value, at.human(by))


def archive_item(at: At, *, issue: int, archived: bool) -> None:
    """Archive an issue's card, or take it out of the archive."""
    _card(at, issue).archived = archived


def remove_item(at: At, *, issue: int) -> None:
    """Take an issue off the board."""
    cards.remove_item(at.world, _card(at, issue))


def put_item(at: At, *, issue: int) -> str:
    """Put an issue on the board."""
    return add_item(
        at.world,
        BoardTables.of(at.world).first(),
        IssueTables.of(at.repo).issue(issue),
        at.repo.owner,
    ).id


def add_option(at: At, *, field: str, name: str) -> str:
    """Add an option to a single select field."""
    column = _field(at.world, field)
    option = new_option(column, name, next(at.world.serial))
    column.options.append(option)
    return option.id


def rename_option(at: At, *, field: str, old: str, new: str) -> str:
    """Replace an option by one of another name and id; cards that had it keep it."""
    column = _field(at.world, field)
    option = next((o for o in column.options if o.name == old), None)
    if option is None:
        raise ActionRefused(f"{field!r} has no option {old!r}; nothing was renamed.")
    fresh = new_option(column, new, next(at.world.serial))
    for item in BoardTables.of(at.world).first().items:
        if item.values.get(column.id) == option.id:
            item.values[column.id] = fresh.id
    option.id, option.name = fresh.id, fresh.name
    return option.id


VERBS = (add_option, archive_item, put_item, remove_item, rename_option, set_field)
