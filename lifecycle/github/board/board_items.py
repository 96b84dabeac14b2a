"""Items of a Projects v2 board with all that is set on them, read and written one by one.

Ids of fields and options are the board's, which keeps and renews them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from lifecycle.core.errors import (
    ItemMissing,
    NotFound,
    Refused,
    Rejected,
    UnknownOption,
    did_you_mean,
)
from lifecycle.core.values.shapes import ItemFacts, Value
from lifecycle.github.board.board_client import option_of
from lifecycle.github.client.client_common import Json, nodes, part, text
from lifecycle.github.failures.failure_case import AskedRequest
from lifecycle.github.pulls.translate import is_on_board

if TYPE_CHECKING:
    from lifecycle.core.values.model import BoardField, BoardSchema, Repository
    from lifecycle.github.board.board_client import GitHubBoard
    from lifecycle.github.client.graph import GraphClient

_CHOICES = {"SINGLE_SELECT", "ITERATION"}


class BoardItems:
    """The items that one repository's issues and pull requests have on a board.

    Args:
        board: the board, which keeps the ids of its fields.
        graph: GraphQL.
        repository: where the issues and pull requests are.
    """

    def __init__(self, board: GitHubBoard, graph: GraphClient, repository: Repository) -> None:
        self.board = board
        self._graph = graph
        self._repository = repository

    def find(self, number: int) -> tuple[str, ItemFacts | None]:
        """The global id of an issue or pull request, and its item on the board, archived or not.

        Source: https://docs.github.com/graphql/reference/objects#projectv2item

        Raises:
            NotFound: there is no such issue or pull request.
        """
        subject = f"the card of #{number} on {self.board.project}"
        variables = {
            "owner": self._repository.owner,
            "name": self._repository.name,
            "number": number,
        }
        reply = self._graph.read("find_item", variables, subject=subject)
        for problem in reply.problems:
            raise self._graph.failures.of_problem(problem, AskedRequest(subject))
        content = part(part(reply.data, "repository"), "issueOrPullRequest")
        if not text(content, "id"):
            raise NotFound(
                f"GitHub shows no issue or pull request #{number} in {self._repository}, so nothing was "
                "changed; check the number."
            )
        content_id = text(content, "id")
        for node in nodes(content, "projectItems"):
            if is_on_board(node, self.board.project.owner, self.board.project.number):
                return content_id, _item(node, number, content_id)
        return content_id, None

    def field(self, name: str) -> BoardField:
        """A field by its name; UnknownOption names those that there are.

        The ids that are known are renewed once if they hold no such field.
        """
        return self.board.with_schema(partial(_field, name=name))

    def write(self, item: ItemFacts, name: str, value: Value) -> ItemFacts:
        """Set a field and return the item as the answer shows it; may be applied twice.

        Sources: https://docs.github.com/graphql/reference/mutations#updateprojectv2itemfieldvalue and
        https://docs.github.com/graphql/reference/input-objects#projectv2fieldvalue

        Raises:
            UnknownOption: there is no such field, option or iteration; the sentence names all.
            Refused: the field takes another kind of value.
            ItemArchived, ItemMissing: the item cannot be written.
        """

        def act(schema: BoardSchema) -> Json:
            field = _field(schema, name)
            content = {"field": field.id, "value": _input(field, value)}
            return self._ask("set_item_field", schema, item, content)

        return self._shown(item, self.board.with_schema(act), "projectV2Item")

    def clear(self, item: ItemFacts, name: str) -> ItemFacts:
        """Take a field's value away; an empty text would not.

        Source: https://docs.github.com/graphql/reference/mutations#clearprojectv2itemfieldvalue
        """

        def act(schema: BoardSchema) -> Json:
            content = {"field": _writable(_field(schema, name)).id}
            return self._ask("clear_item_field", schema, item, content)

        return self._shown(item, self.board.with_schema(act), "projectV2Item")

    def archive(self, item: ItemFacts, *, archived: bool) -> ItemFacts:
        """Archive an item or bring it back.

        Sources: https://docs.github.com/graphql/reference/mutations#archiveprojectv2item and
        https://docs.github.com/graphql/reference/mutations#unarchiveprojectv2item
        """
        name = "archive_item" if archived else "unarchive_item"
        reply = self.board.with_schema(lambda schema: self._ask(name, schema, item, {}))
        return self._shown(item, reply, "item")

    def remove(self, item: ItemFacts) -> None:
        """Take an item off the board with all its values; ItemMissing if it is gone.

        Source: https://docs.github.com/graphql/reference/mutations#deleteprojectv2item
        """
        self.board.with_schema(lambda schema: self._ask("remove_item", schema, item, {}))

    def _ask(self, name: str, schema: BoardSchema, item: ItemFacts, content: Json) -> Json:
        variables = {"project": schema.project_id, "item": item.id, **content}
        subject = f"the card of #{item.number} on {self.board.project}"
        return self.board.ask(name, variables, subject, absent=(item.id, ItemMissing))

    def _shown(self, item: ItemFacts, data: Json, key: str) -> ItemFacts:
        payload = next(iter(data.values()), None)
        node = part(payload if isinstance(payload, Mapping) else {}, key)
        if not text(node, "id"):
            subject = f"the card of #{item.number} on {self.board.project}"
            raise self._graph.failures.of_nonsense(AskedRequest(subject, is_write=True))
        return _item(node, item.number, item.content_id)


def _field(schema: BoardSchema, name: str) -> BoardField:
    """The field of this name: exactly, else without regard to case."""
    by_case = {field.name.casefold(): field for field in reversed(schema.fields)}
    found = schema.field(name) or by_case.get(name.casefold())
    if found is None:
        names = ", ".join(field.name for field in schema.fields) or "none"
        raise UnknownOption(
            f'The board "{schema.title}" has no field "{name}", so the card was left as it is; its '
            f"fields are: {names}.{did_you_mean(name, by_case)}"
        )
    return found


def _writable(field: BoardField) -> BoardField:
    if field.kind not in {"TEXT", "NUMBER", "DATE", *_CHOICES}:
        raise Rejected(
            f"The board's field {field.name} ({field.kind.lower()}) shows what the issue or pull request "
            "says, so it was left as it is; change it there."
        )
    return field


def _input(field: BoardField, value: Value) -> dict[str, Any]:
    """The value as `ProjectV2FieldValue` wants it for a field of this kind."""
    kind = _writable(field).kind
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "NUMBER" and is_number and math.isfinite(cast(float, value)):
        return {"number": float(cast(float, value))}
    if kind == "DATE" and isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, str) and kind == "TEXT":
        return {"text": value}
    if isinstance(value, str) and kind in _CHOICES:
        key = "singleSelectOptionId" if kind == "SINGLE_SELECT" else "iterationId"
        return {key: option_of(field, value)}
    raise Refused(
        f"The board's field {field.name} is of the kind {kind.lower().replace('_', ' ')} and cannot hold "
        f"{value!r}, so nothing was done; give {_WANTED[kind]}."
    )


_WANTED = {
    "NUMBER": "a finite number",
    "DATE": "a datetime.date",
    "TEXT": "a text",
    "SINGLE_SELECT": "the name of an option",
    "ITERATION": "the title of an iteration",
}


def _item(node: Json, number: int, content_id: str) -> ItemFacts:
    values: dict[str, Value] = {}
    choices = set()
    for one in nodes(node, "fieldValues"):
        name, value = text(part(one, "field"), "name"), _value(one)
        if name and value not in (None, ""):
            values[name] = value
        if name and ("name" in one or "title" in one):  # asked of options and iterations only
            choices.add(name)
    is_archived = bool(node.get("isArchived"))
    return ItemFacts(text(node, "id"), number, content_id, is_archived, values, frozenset(choices))


def _value(one: Json) -> Value | None:
    """The value of one field, whatever its kind; None for what cannot be read."""
    if isinstance(one.get("number"), (int, float)):
        return float(one["number"])
    if text(one, "date"):
        try:
            return date.fromisoformat(text(one, "date")[:10])
        except ValueError:
            return None
    return text(one, "text") or text(one, "name") or text(one, "title")
