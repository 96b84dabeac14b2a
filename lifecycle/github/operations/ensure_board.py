"""Operations on the items of a Projects v2 board: add, remove, archive, set fields.

The board object keeps the ids of fields and options, and renews them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from lifecycle.core import errors
from lifecycle.core.values.shapes import Ensured, ItemFacts, Value
from lifecycle.github.board.board_client import GitHubBoard, option_of
from lifecycle.github.client.client_common import Json, nodes, part, text
from lifecycle.github.failures import AskedRequest, sentence
from lifecycle.github.operations.inputs import Guarded, demands, same
from lifecycle.github.operations.unclear_writes import fitted, removed, settled

if TYPE_CHECKING:
    from lifecycle.core.values.model import BoardField, BoardSchema, Repository
    from lifecycle.github.client.graph import GraphClient

_CHOICES = {"SINGLE_SELECT", "ITERATION"}


class BoardOperations(Guarded[GitHubBoard]):
    """Operations on one board's items. `number` is that of an issue or pull request in the repository.

    Every request is GraphQL and costs one point. To write a field, or to see whether its name exists,
    1 more for each 50 fields of the board reads their ids, once for each object.

    Args:
        board: the board, which keeps the ids of its fields.
        graph: GraphQL.
        repository: where the issues and pull requests are.
    """

    def __init__(self, board: GitHubBoard, graph: GraphClient, repository: Repository) -> None:
        super().__init__(board)
        self._graph = graph
        self._repository = repository

    @demands
    def item(self, number: int) -> ItemFacts | None:
        """The item of an issue or pull request with all its values, or None. One request.

        None, too, if there is no such board: GitHub is asked for the issue's cards. `ensure_item` tells.

        Raises:
            Refused: the number is not an int.
            NotFound: there is no such issue or pull request.
            MissingScope: the token may not see boards.
        """
        return self._find(number)[1]

    def ensure_item(self, number: int) -> Ensured[ItemFacts]:
        """The issue or pull request is on the board, archived or not.

        Requests: unchanged 1, else 2. For an item just added, only Status and Agent are shown.
        Source: https://docs.github.com/graphql/reference/mutations#addprojectv2itembyid

        Raises:
            NotFound: there is no such issue, pull request or board.
            MissingScope: the token may not write boards.
            Rejected, Transient: as everywhere.
        """
        content, item = self._find(number)
        if item is not None:
            return Ensured(item, changed=False)

        def write() -> ItemFacts:
            added = self._calls.add(content)
            shown = {"Status": added.status, "Agent": added.agent}
            values: dict[str, Value] = {name: value for name, value in shown.items() if value}
            choices = frozenset({"Status"} & values.keys())
            return ItemFacts(added.id, number, content, added.is_archived, values, choices)

        return settled(write, lambda: self.item(number))

    def ensure_no_item(self, number: int) -> Ensured[None]:
        """The issue or pull request is not on the board; its values there are lost.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/graphql/reference/mutations#deleteprojectv2item

        Raises:
            NotFound, MissingScope: as `item`.
            Rejected, Transient: as everywhere.
        """
        find = partial(self.item, number)
        return removed(find(), partial(self._changed, "remove_item"), find, errors.ItemMissing)

    def ensure_field(self, number: int, name: str, value: Value | None) -> Ensured[ItemFacts]:
        """A field of the item holds this value, or none.

        Args:
            number: the issue or pull request, which has to be on the board.
            name: the field's name; an exact match is preferred to one that differs in case.
            value: what the field's kind takes: a text, a number (int or float), a `datetime.date`, an
                option's name or an iteration's title (these two in any case); None, or an empty
                text, clears the field.

        Requests: unchanged 1, else 2.
        Sources: https://docs.github.com/graphql/reference/mutations#updateprojectv2itemfieldvalue and
        https://docs.github.com/graphql/reference/mutations#clearprojectv2itemfieldvalue

        Raises:
            UnknownOption: there is no such field, option or iteration; the sentence names all there are.
            Refused: the field takes another kind of value.
            ItemMissing: the item is not on the board. ItemArchived: it is archived there.
            Rejected: GitHub accepted the value but shows another; or the field is the issue's own.
        """
        item = self._there(number)
        if item.is_archived:
            raise errors.ItemArchived(sentence("archived-card", number=number))
        wanted = None if isinstance(value, str) and not value.strip() else value
        if wanted is None and _holds(item, name, wanted):  # a misspelt name is empty, too
            self._calls.with_schema(partial(_field, name=name))

        def differs(now: ItemFacts) -> str:
            values = {"wanted": _said(wanted), "shown": _said(_shown(now.values, name))}
            return sentence("field-differs", name=name, number=number, **values)

        write, read = partial(self._field_written, item, name, wanted), partial(self.item, number)
        return fitted(item, lambda now: _holds(now, name, wanted), write, read, differs)

    def ensure_archived(self, number: int) -> Ensured[ItemFacts]:
        """The item is archived.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/graphql/reference/mutations#archiveprojectv2item

        Raises:
            ItemMissing: it is not on the board.
        """
        return self._archived(number, archived=True)

    def ensure_unarchived(self, number: int) -> Ensured[ItemFacts]:
        """The item is not archived.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/graphql/reference/mutations#unarchiveprojectv2item

        Raises:
            ItemMissing: it is not on the board.
        """
        return self._archived(number, archived=False)

    def _archived(self, number: int, *, archived: bool) -> Ensured[ItemFacts]:
        item = self._there(number)

        def write() -> ItemFacts:
            data = self._changed("archive_item" if archived else "unarchive_item", item)
            return self._answered(item, data, "item")

        read = partial(self.item, number)
        return fitted(item, lambda now: now.is_archived == archived, write, read)

    def _there(self, number: int) -> ItemFacts:
        item = self.item(number)
        if item is None:
            where = {"number": number, "project": self._calls.project}
            raise errors.ItemMissing(sentence("not-on-board", **where))
        return item

    def _find(self, number: int) -> tuple[str, ItemFacts | None]:
        """The global id of an issue or pull request, and its item on the board, archived or not.

        Source: https://docs.github.com/graphql/reference/objects#projectv2item

        Raises:
            NotFound: there is no such issue or pull request.
        """
        subject = f"the card of #{number} on {self._calls.project}"
        variables = {**self._repository.variables, "number": number}
        data = self._graph.change("find_item", variables, subject=subject)
        content = part(data, "repository.issueOrPullRequest")
        content_id = text(content, "id")
        node = next(filter(self._calls.project.has, nodes(content, "projectItems")), None)
        return content_id, _item(node, number, content_id) if node is not None else None

    def _field_written(self, item: ItemFacts, name: str, value: Value | None) -> ItemFacts:
        """Set a field or clear its value (an empty text would not clear it); may be applied twice.

        Source: https://docs.github.com/graphql/reference/input-objects#projectv2fieldvalue
        """

        def content(schema: BoardSchema) -> Json:
            field = _field(schema, name)
            if field.kind not in _WANTED:
                kind = field.kind.lower()
                raise errors.Rejected(sentence("not-writable", field=field, kind=kind))
            return {"field": field.id} | ({} if value is None else {"value": _input(field, value)})

        document = "clear_item_field" if value is None else "set_item_field"
        return self._answered(item, self._changed(document, item, content), "projectV2Item")

    def _changed(
        self, name: str, item: ItemFacts, content: Callable[[BoardSchema], Json] = lambda _: {}
    ) -> Json:
        """The answer of a mutation on an item; `content` gives the variables that need the board's ids."""

        def act(schema: BoardSchema) -> Json:
            variables = {"project": schema.project_id, "item": item.id, **content(schema)}
            subject = f"the card of #{item.number} on {self._calls.project}"
            return self._calls.ask(name, variables, subject)

        return self._calls.with_schema(act)

    def _answered(self, item: ItemFacts, data: Json, key: str) -> ItemFacts:
        """The item as the answer of a mutation shows it."""
        asked = AskedRequest(f"the card of #{item.number} on {self._calls.project}", is_write=True)
        shown, number, content = [*data.values()], item.number, item.content_id
        return self._graph.shaped(asked, lambda: _item(shown[0][key], number, content))


def _field(schema: BoardSchema, name: str) -> BoardField:
    """The field of this name: exactly, else without regard to case."""
    by_case = {field.name.casefold(): field for field in reversed(schema.fields)}
    match = schema.field(name) or by_case.get(name.casefold())
    if match is None:
        names = ", ".join(field.name for field in schema.fields) or "none"
        words = {"name": name, "names": names, "near": errors.did_you_mean(name, by_case)}
        raise errors.UnknownOption(sentence("no-field", board=schema, **words))
    return match


def _input(field: BoardField, value: Value) -> dict[str, Any]:
    """The value as `ProjectV2FieldValue` needs it for a field of this kind."""
    kind = field.kind
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "NUMBER" and is_number and math.isfinite(cast(float, value)):
        return {"number": float(cast(float, value))}
    if kind == "DATE" and isinstance(value, date):
        return {"date": value.isoformat()[:10]}  # of a datetime, only the day is compared
    if isinstance(value, str) and kind == "TEXT":
        return {"text": value}
    if isinstance(value, str) and kind in _CHOICES:
        key = "singleSelectOptionId" if kind == "SINGLE_SELECT" else "iterationId"
        return {key: option_of(field, value)}
    words = {"kind": kind.lower().replace("_", " "), "value": repr(value), "wanted": _WANTED[kind]}
    raise errors.Refused(sentence("other-kind", field=field, **words))


_WANTED = {
    "NUMBER": "a finite number",
    "DATE": "a datetime.date",
    "TEXT": "a text",
    "SINGLE_SELECT": "the name of an option",
    "ITERATION": "the title of an iteration",
}


def _item(node: Json, number: int, content_id: str) -> ItemFacts:
    named = {text(entry, "field.name"): entry for entry in nodes(node, "fieldValues")}
    shown = {name: _value(entry) for name, entry in named.items() if name}
    values = {name: value for name, value in shown.items() if value is not None and value != ""}
    # Names and titles are asked of options and iterations only.
    choices = frozenset(name for name in shown if {"name", "title"} & named[name].keys())
    is_archived = bool(node.get("isArchived"))
    return ItemFacts(text(node, "id"), number, content_id, is_archived, values, choices)


def _value(node: Json) -> Value | None:
    """The value of one field of any kind; None if it cannot be read."""
    if isinstance(node.get("number"), (int, float)):
        return float(node["number"])
    if text(node, "date"):
        try:
            return date.fromisoformat(text(node, "date")[:10])
        except ValueError:
            return None
    return text(node, "text") or text(node, "name") or text(node, "title")


def _shown(values: Mapping[str, Value], name: str) -> Value | None:
    """The value of a field: of exactly this name, else in any case."""
    folded = {field_name.casefold(): value for field_name, value in values.items()}
    return values.get(name, folded.get(name.casefold()))


def _said(value: Value | None) -> str:
    return "(empty)" if value is None else f'"{value}"'


def _holds(item: ItemFacts, name: str, wanted: object) -> bool:
    """True if a field holds the value already. Options and iterations are compared in any case."""
    shown = _shown(item.values, name)
    if isinstance(wanted, bool):
        return False  # the write refuses it; in a comparison, True would equal 1.0
    if isinstance(shown, str) and isinstance(wanted, str):
        is_choice = name.casefold() in {choice.casefold() for choice in item.choices}
        first, second = (shown.casefold(), wanted.casefold()) if is_choice else (shown, wanted)
        return same(first, second)
    if isinstance(shown, date) and isinstance(wanted, date):
        return shown.isoformat()[:10] == wanted.isoformat()[:10]
    return shown == wanted
