"""The board of a sweep: every card with its issue, in the board's order; 100 a request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lifecycle.core.errors import Transient
from lifecycle.core.values.survey import BoardTooLarge, Swept
from lifecycle.github.board.board_client import ProjectRef, project_in
from lifecycle.github.client.batches import Batches
from lifecycle.github.client.nodes import Json, part
from lifecycle.github.failures.failures import AnswerProblem, AskedRequest
from lifecycle.github.pulls import translate
from lifecycle.github.sweep.sweep_nodes import is_hidden_mention, next_page, swept
from lifecycle.github.sweep.sweep_status import UNSEEN, Sight

if TYPE_CHECKING:
    from lifecycle.github.client.graph import GraphClient

AT_ONCE = 100
"""Cards in one request."""
_CARDS = ("repositoryOwner", "projectV2", "items", "nodes")


class Cards:
    """Reads a board.

    Args:
        project: which.
        graph: GraphQL.
        sight: told whether the board can be seen.
    """

    def __init__(self, project: ProjectRef, graph: GraphClient, sight: Sight) -> None:
        self._project = project
        self._graph = graph
        self._sight = sight
        self._batches = Batches(graph.deadline, AT_ONCE)

    def all(self, at_most: int | None = None) -> Iterator[Swept]:
        """Every issue's card, archived ones left out, and what is no issue or is not shown.

        Source: https://docs.github.com/graphql/reference/objects#projectv2itemcontent

        Args:
            at_most: how many cards are worth reading; of a larger board one page is asked for.

        Raises:
            BoardTooLarge: there are more; nothing was yielded.
            NotFound, MissingScope, NoPermission, Unsupported: the board cannot be read; if labels may
                take its place, issues are read with those from now on.
        """
        after: str | None = None
        while True:
            size = self._batches.size
            try:
                page = self._batches.attempt(size, partial(self._page, size, after))
            except UNSEEN as error:
                self._sight.learn(error)
                raise
            if isinstance(page, Transient):
                if size == 1:
                    raise page
                continue
            self._sight.shown()
            found, after, total = page
            if at_most is not None and total > at_most:
                raise BoardTooLarge(total)
            yield from found
            if after is None:
                return

    def _page(self, size: int, after: str | None) -> tuple[list[Swept], str | None, int]:
        """The next cards, where the ones after them begin, and how many there are in all."""
        subject = f"the cards of {self._project}"
        variables = {
            "owner": self._project.owner,
            "number": self._project.number,
            "first": size,
            "after": after,
        }
        reply = self._graph.execute("survey_cards", variables, subject=subject)
        problems = tuple(one for one in reply.problems if not _is_bearable(one))
        whole = replace(reply, problems=problems)
        project = project_in(self._project, self._graph.failures, whole, subject)
        if problems or not isinstance(part(project, "items").get("nodes"), list):
            failures, asked = self._graph.failures, AskedRequest(subject)
            raise failures.of_problems(problems, asked) if problems else failures.of_nonsense(asked)
        items = part(project, "items")
        found = [_swept(one) for one in items["nodes"] if _is_shown(one or {})]
        total = int(items.get("totalCount") or 0)
        return found, next_page(items, self._graph.failures, subject), total


def _is_shown(card: Json) -> bool:
    return "number" in part(card, "content") and not card.get("isArchived")


def _swept(card: Json) -> Swept:
    return swept(part(card, "content"), translate.board_item(card), None, None)


def _is_bearable(problem: AnswerProblem) -> bool:
    """True if only a card's content is hidden, or a mention of it: that is nobody's to repair here."""
    is_content = problem.path[:4] == _CARDS and problem.path[5:] == ("content",)
    return is_content or is_hidden_mention(problem)
