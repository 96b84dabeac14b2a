"""Add, change and delete the fields of a board, and set cards' values in them.

Sources:
https://docs.github.com/issues/planning-and-tracking-with-projects/automating-your-project/using-the-api-to-manage-projects
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
"""By type of field: the key of its value, and the value's name in GitHub's refusal."""


def set_value(item: Item, field: Field, typed_value: Mapping[str, Any], by: User) -> None:
    """Set a card's value; there is no precondition, the last write wins.

    Args:
        item: The card.
        field: A field of its board.
        typed_value: One of `text`, `number`, `date` (YYYY-MM-DD), `singleSelectOptionId` or
            `iterationId`, with its value; an empty text keeps the present one.
        by: The user who sets it.

    Raises:
        BoardRefused: The card is archived, several values are given, the field has no value of the
            board's own, or the value is of another type or refers to nothing.
    """
    _demand_writable(item, field)
    if sum(typed_value.get(key_name) is not None for key_name, _ in WANTED.values()) > 1:
        raise BoardRefused("Only 1 value can be updated at a time")
    key, kind = WANTED[field.data_type]
    value = typed_value.get(key)
    if value is None:
        raise BoardRefused(f"Did not receive {kind} to update a field of type {_name(field)}")
    text = _checked(field, value)
    if text:
        item.give(field.id, text, by)
    item.updated_at = now()


def _checked(field: Field, value: Any) -> str:
    """A value in the form in which the card stores it."""
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
    """Remove a card's value in a field; if it has none, only its time of change is set.

    Raises:
        BoardRefused: The card is archived, or the field has no value of the board's own.
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
        world: The world in which it is registered.
        project: The board.
        name: A name that is free on this board, ignoring case.
        kind: Its type.
        options: For a single select field: `name`, `color`, `description`.
        iterations: For an iteration field: `startDate`, `duration` (days), `iterations`.

    Raises:
        BoardRefused: The name is taken or empty, or a single select field has no options.
    """
    _demand_name(project, name)
    if kind == "SINGLE_SELECT" and not options:
        raise BoardRefused("Options can't be blank")
    number = next(world.serial)
    field = Field(node_id(PREFIXES.get(kind, "PVTF"), project.owner.id, number), number, name, kind)
    field.options = _options(world, field, options)
    if kind == "ITERATION":
        field.iterations = _iterations(world, field, iterations or {})
    project.fields.append(field)
    world.register(field.id, field)
    project.updated_at = now()
    return field


def _demand_name(project: Project, name: str) -> None:
    if not name.strip():
        raise BoardRefused("Name can't be blank")
    if any(field.name.lower() == name.lower() for field in project.fields):
        raise BoardRefused("Name has already been taken")


def _options(world: World, field: Field, specs: Sequence[Mapping[str, Any]]) -> list[Option]:
    names = [spec["name"].lower() for spec in specs]
    if len(set(names)) < len(names):
        raise BoardRefused("Options must have unique names")
    turn = next(world.serial)
    return [
        Option(
            new_option(field, spec["name"], turn).id,
            spec["name"],
            spec.get("color") or "GRAY",
            spec.get("description") or "",
        )
        for spec in specs
    ]


def _iterations(world: World, field: Field, configuration: Mapping[str, Any]) -> list[Iteration]:
    """The configured iterations, or by default three, one after the other."""
    turn = next(world.serial)
    start = _day(str(configuration.get("startDate") or now().date().isoformat()))
    length = int(configuration.get("duration") or 14)
    spans = configuration.get("iterations") or [
        {"title": f"Iteration {n + 1}", "startDate": start + timedelta(days=n * length),
         "duration": length}
        for n in range(3)
    ]  # fmt: skip
    iterations = []
    for span in spans:
        day = _day(str(span["startDate"]))
        is_over = day + timedelta(days=span["duration"]) <= now().date()
        key = new_option(field, f"{span['title']} {day}", turn).id
        iterations.append(Iteration(key, span["title"], day.isoformat(), span["duration"], is_over))
    return iterations


def update_field(
    world: World,
    project: Project,
    field: Field,
    *,
    name: str | None = None,
    options: Sequence[Mapping[str, Any]] | None = None,
    iterations: Mapping[str, Any] | None = None,
) -> None:
    """Rename a field, or replace all of its options or iterations.

    The new ones have new ids, even under the same names, and cards lose their values. An empty
    list of options is ignored.

    Raises:
        BoardRefused: It shows a value of the content, not the board's own, or the name is taken.
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
    """Delete a field from its board, with all values.

    Raises:
        BoardRefused: It shows a value of the content, not the board's own.
    """
    if field.data_type not in WRITABLE:
        raise BoardRefused(f"The field of type {_name(field)} cannot be deleted")
    project.fields.remove(field)
    _forget_values(project, field)
    world.forget(field.id)
