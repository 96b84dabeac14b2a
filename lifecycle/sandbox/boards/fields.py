"""What happens to a board's fields, and to the values that cards have in them.

Sources: https://docs.github.com/issues/planning-and-tracking-with-projects/automating-your-project/using-the-api-to-manage-projects
and, for the options and iterations that an update replaces,
https://github.com/github/awesome-copilot/issues/2684 and
https://github.com/github/github-mcp-server/issues/2953.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.boards.actions import BoardRefused, demand_active, new_option
from lifecycle.sandbox.boards.state import (
    WRITABLE,
    Field,
    FieldType,
    Item,
    Iteration,
    Option,
    Project,
)
from lifecycle.sandbox.repositories.state import World

PREFIXES = {"SINGLE_SELECT": "PVTSSF", "ITERATION": "PVTIF"}
WANTED = {
    "TEXT": ("text", "a text value"),
    "NUMBER": ("number", "a number value"),
    "DATE": ("date", "a date value"),
    "SINGLE_SELECT": ("singleSelectOptionId", "a single select option Id"),
    "ITERATION": ("iterationId", "an iteration Id"),
}
"""Of each type of field that takes a value: the key that holds it, and what it is called."""


def set_value(item: Item, field: Field, given: Mapping[str, Any], by: User) -> None:
    """Give a card a value; no precondition, the last write wins.

    Args:
        item: The card.
        field: A field of its board.
        given: `text`, `number`, `date` (YYYY-MM-DD), `singleSelectOptionId` or `iterationId`; an
            empty text leaves what is there.
        by: Who gives it.

    Raises:
        BoardRefused: The card is archived, several values are given, the field's value is not the
            board's to set, or the value is of another type or points to nothing.
    """
    _demand_writable(item, field)
    if sum(given.get(known) is not None for known, _ in WANTED.values()) > 1:
        raise BoardRefused("Only 1 value can be updated at a time")
    key, what = WANTED[field.data_type]
    value = given.get(key)
    if value is None:
        raise BoardRefused(f"Did not receive {what} to update a field of type {_name(field)}")
    text = _checked(field, value)
    if text:
        item.give(field.id, text, by)
    item.updated_at = now()


def _checked(field: Field, value: Any) -> str:
    """A value as the card keeps it."""
    if field.data_type == "SINGLE_SELECT":
        if value not in {option.id for option in field.options}:
            raise BoardRefused("The single select option Id does not belong to the field")
    elif field.data_type == "ITERATION":
        if value not in {iteration.id for iteration in field.iterations}:
            raise BoardRefused("The iteration Id does not belong to the field")
    elif field.data_type == "DATE":
        return _day(str(value)).isoformat()
    elif field.data_type == "NUMBER" and float(value) == int(value):
        return str(int(value))
    return str(value)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        raise BoardRefused(f"{text} is not a date of the form YYYY-MM-DD") from None


def clear_value(item: Item, field: Field) -> None:
    """Take a card's value away; without one nothing changes.

    Raises:
        BoardRefused: The card is archived, or the field's value is not the board's to clear.
    """
    _demand_writable(item, field)
    item.drop(field.id)


def _demand_writable(item: Item, field: Field) -> None:
    demand_active(item)
    if field.data_type not in WRITABLE:
        raise BoardRefused(f"The field of type {_name(field)} is currently not supported")


def _name(field: Field) -> str:
    return field.data_type.lower()


def add_field(
    world: World,
    project: Project,
    name: str,
    kind: FieldType,
    *,
    options: Sequence[Mapping[str, Any]] = (),
    iterations: Mapping[str, Any] | None = None,
) -> Field:
    """Add a field at the end.

    Args:
        world: Where it is registered.
        project: The board.
        name: Free on this board, whatever the case.
        kind: Its type.
        options: Of a single select field: `name`, `color`, `description`.
        iterations: Of an iteration field: `startDate`, `duration` (days), `iterations`.

    Raises:
        BoardRefused: The name is taken or empty, or a single select field has no options.
    """
    _demand_name(project, name)
    if kind == "SINGLE_SELECT" and not options:
        raise BoardRefused("Options can't be blank")
    number = next(world.serial)
    made = Field(node_id(PREFIXES.get(kind, "PVTF"), project.owner.id, number), number, name, kind)
    made.options = _options(world, made, options)
    if kind == "ITERATION":
        made.iterations = _iterations(world, made, iterations or {})
    project.fields.append(made)
    world.register(made.id, made)
    project.updated_at = now()
    return made


def _demand_name(project: Project, name: str) -> None:
    if not name.strip():
        raise BoardRefused("Name can't be blank")
    if any(one.name.lower() == name.lower() for one in project.fields):
        raise BoardRefused("Name has already been taken")


def _options(world: World, field: Field, given: Sequence[Mapping[str, Any]]) -> list[Option]:
    names = [one["name"].lower() for one in given]
    if len(set(names)) < len(names):
        raise BoardRefused("Options must have unique names")
    turn = next(world.serial)
    return [
        Option(
            new_option(field, one["name"], turn).id,
            one["name"],
            one.get("color") or "GRAY",
            one.get("description") or "",
        )
        for one in given
    ]


def _iterations(world: World, field: Field, given: Mapping[str, Any]) -> list[Iteration]:
    """The iterations that are given, or three one after the other, as a new field has them."""
    turn = next(world.serial)
    start = _day(str(given.get("startDate") or now().date().isoformat()))
    length = int(given.get("duration") or 14)
    spans = given.get("iterations") or [
        {"title": f"Iteration {n + 1}", "startDate": start + timedelta(days=n * length),
         "duration": length}
        for n in range(3)
    ]  # fmt: skip
    made = []
    for one in spans:
        day = _day(str(one["startDate"]))
        is_over = day + timedelta(days=one["duration"]) <= now().date()
        key = new_option(field, f"{one['title']} {day}", turn).id
        made.append(Iteration(key, one["title"], day.isoformat(), one["duration"], is_over))
    return made


def update_field(
    world: World,
    project: Project,
    field: Field,
    *,
    name: str | None = None,
    options: Sequence[Mapping[str, Any]] | None = None,
    iterations: Mapping[str, Any] | None = None,
) -> None:
    """Rename a field, or replace all of its options or iterations by new ones.

    What replaces has new ids, even under the same names, and cards lose what they had. An empty
    list of options is ignored.

    Raises:
        BoardRefused: It is none that the board made itself, or the name is taken.
    """
    if field.data_type not in WRITABLE:
        raise BoardRefused(f"The field of type {_name(field)} cannot be updated")
    if name is not None and name != field.name:
        _demand_name(project, name)
        field.name = name
    if options and field.data_type == "SINGLE_SELECT":
        field.options = _options(world, field, options)
        _forget_values(project, field)
    if iterations is not None and field.data_type == "ITERATION":
        field.iterations = _iterations(world, field, iterations)
        _forget_values(project, field)
    field.updated_at = now()


def _forget_values(project: Project, field: Field) -> None:
    for item in project.items:
        if field.id in item.values:
            item.drop(field.id)


def delete_field(world: World, project: Project, field: Field) -> None:
    """Take a field off its board, with all values.

    Raises:
        BoardRefused: It is none that the board made itself.
    """
    if field.data_type not in WRITABLE:
        raise BoardRefused(f"The field of type {_name(field)} cannot be deleted")
    project.fields.remove(field)
    _forget_values(project, field)
    world.forget(field.id)
