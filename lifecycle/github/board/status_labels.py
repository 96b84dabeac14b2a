"""A task's Status as a label of its issue, if the board cannot be seen: `status: in review`.

Labels say less than a board: there is no Agent (the assignee and the lease say who is at work), no Priority
and no order. A board that can be read is always used instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from lifecycle.core.errors import AlreadyExists, NotFound, Rejected, UnknownOption
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.values import model
from lifecycle.core.values.priorities import SPELLINGS, STATUSES
from lifecycle.core.values.shapes import LabelFacts
from lifecycle.github.client.client_common import Json, nodes, text
from lifecycle.github.failures import AskedRequest, sentence
from lifecycle.github.pulls.issue_calls import IssueCalls

if TYPE_CHECKING:
    from lifecycle.core.ports import Cache
    from lifecycle.github.client.graph import GraphClient
    from lifecycle.github.client.rest import Calls

PREFIX = "status: "
_COLOURS = {"Todo": "d4c5f9", "In Progress": "fbca04", "In Review": "1d76db", "Done": "0e8a16"}
PUT_ON = "label_put_on"
"""The cache's key for the last label that was added to an issue; a worktree has one claim."""
_OPEN = {"todo": "Todo", "inProgress": "In Progress", "inReview": "In Review"}
"""The aliases of list_labelled_issues.graphql; completed tasks are closed and not listed."""


@dataclass(frozen=True)
class StatusLabels:
    """The names of the labels: the prefix, then the Status in lower case."""

    prefix: str = PREFIX

    @cached_property
    def _statuses(self) -> Mapping[str, str]:
        """Each Status by its label, ignoring case."""
        return {self.name(status).casefold(): status for status in STATUSES}

    def name(self, status: str) -> str:
        """The label of a Status.

        Raises:
            UnknownOption: there is no label for it; the sentence names the existing ones.
        """
        spelling = SPELLINGS.get(status.casefold())
        if spelling is None:
            names = ", ".join(STATUSES)
            raise UnknownOption(sentence("no-status-label", status=status, names=names))
        return f"{self.prefix}{spelling.lower()}"

    def all_in(self, labels: Iterable[str]) -> list[str]:
        """Those of an issue's labels that give a Status.

        Only the four that `name` returns: another label with this prefix (`status: blocked`) is somebody's
        own, has no meaning here, and is left alone.
        """
        return [label for label in labels if label.casefold() in self._statuses]

    def item(self, issue: int, labels: Iterable[str]) -> model.BoardItem:
        """An issue's labels as the card that they represent; several give no Status, as none does."""
        names = self.all_in(labels)
        status = self._statuses[names[0].casefold()] if len(names) == 1 else None
        return model.BoardItem(f"{model.LABELS_ITEM}{issue}", status)


def labels_of(issue: Json) -> list[str]:
    """The names of a GraphQL issue's labels, [] if none were asked for."""
    return [text(label, "name") for label in nodes(issue, "labels")]


@dataclass(frozen=True, slots=True)
class LabelsBoard:
    """Labels in the place of a board: a column is a label, a card is an open issue with one.

    Args:
        names: the names of the labels.
        graph: for reading.
        calls: REST on the issues' repository, for writing.
        cache: remembers which labels exist, so that each is created once.
    """

    _names: StatusLabels
    _graph: GraphClient
    _calls: Calls
    _cache: Cache

    def schema(self) -> model.BoardSchema:
        """Status with its four labels; no request."""
        options = tuple((status, self._names.name(status)) for status in STATUSES)
        field = model.BoardField("labels", "Status", "SINGLE_SELECT", options)
        return model.BoardSchema("labels", f"labels of {self._calls.repository}", "", (field,))

    def put_on(self, number: int, status: str | None) -> model.BoardItem:
        """Add the label of `status` to an issue and remove the others.

        The new one is added first: a crash in between leaves two, which give no Status, so the write is
        repeated. One request, one more for each label that is removed, and one for a label's first use.
        Nothing is sent without a status.

        Sources: https://docs.github.com/rest/issues/labels#add-labels-to-an-issue and
        https://docs.github.com/rest/issues/labels#remove-a-label-from-an-issue

        Raises:
            UnknownOption: there is no label for this Status.
            NoPermission, NotFound: the token may not do this, or there is no such issue.
        """
        if status is None:
            return model.BoardItem(f"{model.LABELS_ITEM}{number}")
        name = self._names.name(status)
        self._see_to(name, status)
        labels = self._issues.add_labels(number, (name,))
        for label in self._names.all_in(labels):
            if label.casefold() != name.casefold():
                labels = self._taken_off(number, label, labels)
        item = self._names.item(number, labels)
        if (item.status or "").casefold() != status.casefold():
            shown = ", ".join(self._names.all_in(labels))
            raise Rejected(sentence("label-differs", name=name, number=number), evidence=shown)
        self._cache.put(PUT_ON, {"of": str(self._calls.repository), "issue": number, "name": name})
        return item

    @property
    def _issues(self) -> IssueCalls:
        return IssueCalls(self._calls)

    def take_back(self, number: int) -> None:
        """Remove the label that was added to an issue here, now that its card has the Status.

        One request if there is such a label, none otherwise; it is no error if somebody removed it already.

        Raises:
            NoPermission, Transient: as everywhere; the label stays known, for another attempt.
        """
        kept, its = self._cache.get(PUT_ON), {"of": str(self._calls.repository), "issue": number}
        if isinstance(kept, dict) and its.items() <= kept.items():
            self._taken_off(number, str(kept.get("name") or ""), ())
            self._cache.put(PUT_ON, None)

    def add(self, issue_id: str) -> model.BoardItem:
        """The labels of an issue as a card; nothing is written.

        Raises:
            NotFound: there is no such issue.
        """
        subject = f"the labels of an issue of {self._calls.repository}"
        node = self._graph.read("label_card", {"id": issue_id}, subject=subject).data.get("node")
        if not node or "number" not in node:
            raise NotFound(f"GitHub knows no such issue for {subject}, so nothing was changed.")
        return self._names.item(int(node["number"]), labels_of(node))

    def cards(self) -> tuple[model.Card, ...]:
        """Every open issue with a label of a Status, all pages."""
        cards: list[model.Card] = []
        after: dict[str, str] | None = {}
        while after is not None:
            page, after, _ = self._page(after)
            cards += page
        return tuple(cards)

    def brief(self) -> model.BoardBrief:
        """The first hundred open issues of each column, in one request."""
        cards, after, total = self._page({})
        name = f"labels of {self._calls.repository}"
        return model.BoardBrief(name, tuple(cards), total, after is None)

    def _see_to(self, name: str, status: str) -> None:
        """Create a label, unless this or somebody else has done so before."""
        key = f"labels:{str(self._calls.repository).casefold()}"
        kept = self._cache.get(key)
        created = [str(label) for label in kept] if isinstance(kept, list) else []
        if name in created:
            return
        colour = next(c for option, c in _COLOURS.items() if option.casefold() == status.casefold())
        with suppress(AlreadyExists):  # somebody else created it
            self._issues.create_label(LabelFacts(name, colour, "Kept by agent-lifecycle"))
        self._cache.put(key, [*created, name])

    def _taken_off(self, number: int, name: str, before: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return self._issues.remove_label(number, name)
        except NotFound:  # somebody else removed it
            return tuple(label for label in before if label != name)

    def _page(self, after: dict[str, str]) -> tuple[list[model.Card], dict[str, str] | None, int]:
        """Cards of the columns in `after` (of all, if it is empty), the next cursors, and the total."""
        subject = f"the labelled issues of {self._calls.repository}"
        variables = self._calls.repository.variables
        for alias, status in _OPEN.items():
            variables |= {
                alias: [self._names.name(status)],
                f"{alias}After": after.get(alias),
                f"{alias}More": not after or alias in after,
            }
        reply = self._graph.read("list_labelled_issues", variables, subject=subject)
        node = reply.data.get("repository")
        if not node or reply.problems:
            raise self._graph.failures.of_problems(reply.problems, AskedRequest(subject))
        parts = {alias: node[alias] for alias in _OPEN if node.get(alias)}
        cards = [self._card(n) for part in parts.values() for n in part.get("nodes") or []]
        pages = ((alias, part["pageInfo"]) for alias, part in parts.items())
        cursors = {alias: str(page["endCursor"]) for alias, page in pages if page["hasNextPage"]}
        total = sum(int(part.get("totalCount") or 0) for part in parts.values())
        return cards, cursors or None, total

    def _card(self, node: Json) -> model.Card:
        number, title, url = int(node["number"]), str(node["title"]), str(node["url"])
        item = self._names.item(number, labels_of(node))
        return model.Card(item, number, title, url, str(self._calls.repository), is_open=True)
