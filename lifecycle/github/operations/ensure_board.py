"""Items of a Projects v2 board, kept as they are wanted: there or not, archived or not, their fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from functools import partial

from lifecycle.core.errors import ItemArchived, ItemMissing, Rejected
from lifecycle.core.values.shapes import Ensured, ItemFacts, Value
from lifecycle.github.board.board_items import BoardItems
from lifecycle.github.operations.unclear_writes import redacts, removed, same, settled


@redacts
class BoardOperations:
    """What may be asked of one board. `number` is an issue's or pull request's of the repository.

    Every request is GraphQL's, and costs one point. Where a field has to be written, and where one is
    said to be empty, 1 more for each 50 fields of the board tells their ids, once for each object.
    """

    def __init__(self, items: BoardItems) -> None:
        self._items = items

    def item(self, number: int) -> ItemFacts | None:
        """The item of an issue or pull request with all that is set on it, or None. One request.

        Raises:
            NotFound: there is no such issue or pull request.
            MissingScope: the token may not see boards.
        """
        return self._items.find(number)[1]

    def ensure_item(self, number: int) -> Ensured[ItemFacts]:
        """The issue or pull request is on the board, archived or not.

        Requests: unchanged 1, else 2. Of an item just added, only Status and Agent are shown.
        Source: https://docs.github.com/graphql/reference/mutations#addprojectv2itembyid

        Raises:
            NotFound: there is no such issue, pull request or board.
            MissingScope: the token may not write boards.
            Rejected, Transient: as everywhere.
        """
        content, found = self._items.find(number)
        if found is not None:
            return Ensured(found, changed=False)

        def write() -> ItemFacts:
            made = self._items.board.add(content)
            shown = {"Status": made.status, "Agent": made.agent}
            values: dict[str, Value] = {name: value for name, value in shown.items() if value}
            choices = frozenset({"Status"} & values.keys())
            return ItemFacts(made.id, number, content, made.is_archived, values, choices)

        return settled(write, lambda: self.item(number))

    def ensure_no_item(self, number: int) -> Ensured[None]:
        """The issue or pull request is not on the board; its values there are lost.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/graphql/reference/mutations#deleteprojectv2item
        """
        found = self.item(number)
        if found is None:
            return Ensured(None, changed=False)
        remove = partial(self._items.remove, found)
        removed(remove, lambda: self.item(number) is None, ItemMissing)
        return Ensured(None, changed=True)

    def ensure_field(self, number: int, name: str, value: Value | None) -> Ensured[ItemFacts]:
        """A field of the item holds this value, or none.

        Args:
            number: the issue or pull request, which has to be on the board.
            name: the field's; exactly, else in any case.
            value: a text, a number (int or float), a `datetime.date`, an option's name or an
                iteration's title (these two in any case), as the field wants it; None, or an empty
                text, clears.

        Requests: unchanged 1, else 2.
        Sources: https://docs.github.com/graphql/reference/mutations#updateprojectv2itemfieldvalue and
        https://docs.github.com/graphql/reference/mutations#clearprojectv2itemfieldvalue

        Raises:
            UnknownOption: there is no such field, option or iteration; the sentence names all.
            Refused: the field takes another kind of value.
            ItemMissing: it is not on the board. ItemArchived: it is archived there.
            Rejected: GitHub took the value and shows another; or the field is the issue's own.
        """
        found = self._writable(number)
        wanted = None if isinstance(value, str) and not value.strip() else value
        if _holds(found, name, wanted):
            if wanted is None:
                self._items.field(name)  # a misspelt field is empty, too
            return Ensured(found, changed=False)

        def write() -> ItemFacts:
            if wanted is None:
                return self._items.clear(found, name)
            return self._items.write(found, name, wanted)

        def is_done(now: ItemFacts) -> bool:
            return _holds(now, name, wanted)

        now = self._settled(number, write, is_done)
        if not is_done(now):
            shown = _shown(now.values, name)
            raise Rejected(
                f"GitHub took {name} {_said(wanted)} for the card of #{number} and shows {_said(shown)}, "
                "so the board is not as it should be; look there for a workflow that moves the card."
            )
        return Ensured(now, changed=True)

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
        found = self._there(number)
        if found.is_archived == archived:
            return Ensured(found, changed=False)
        now = self._settled(
            number,
            lambda: self._items.archive(found, archived=archived),
            lambda one: one.is_archived == archived,
        )
        return Ensured(now, changed=True)

    def _there(self, number: int) -> ItemFacts:
        found = self.item(number)
        if found is None:
            raise ItemMissing(
                f"#{number} is not on {self._items.board.project}, so nothing was changed; put it there "
                "first: ensure_item."
            )
        return found

    def _writable(self, number: int) -> ItemFacts:
        found = self._there(number)
        if found.is_archived:
            raise ItemArchived(
                f"The card of #{number} is archived on the board and was left as it is; bring it back "
                "first: ensure_unarchived."
            )
        return found

    def _settled(
        self, number: int, write: Callable[[], ItemFacts], is_done: Callable[[ItemFacts], bool]
    ) -> ItemFacts:
        def look() -> ItemFacts | None:
            now = self.item(number)
            return now if now is not None and is_done(now) else None

        return settled(write, look).now


def _shown(values: Mapping[str, Value], name: str) -> Value | None:
    """The value of a field: of exactly this name, else in any case."""
    folded = {known.casefold(): value for known, value in values.items()}
    return values.get(name, folded.get(name.casefold()))


def _said(value: Value | None) -> str:
    return "(empty)" if value is None else f'"{value}"'


def _holds(item: ItemFacts, name: str, wanted: object) -> bool:
    """True if a field need not be written. Options and iterations are compared in any case."""
    shown = _shown(item.values, name)
    if isinstance(wanted, bool):
        return False  # no field holds one: the writing refuses it, where 1.0 would be the same
    if isinstance(shown, str) and isinstance(wanted, str):
        is_choice = name.casefold() in {one.casefold() for one in item.choices}
        one, other = (shown.casefold(), wanted.casefold()) if is_choice else (shown, wanted)
        return same(one, other)
    if isinstance(shown, date) and isinstance(wanted, date):
        return shown.isoformat()[:10] == wanted.isoformat()[:10]
    return shown == wanted
