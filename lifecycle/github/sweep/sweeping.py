"""Many repositories at once: 25 repositories, or 100 issues or cards, in one GraphQL request.

Requests are made one after the other, as GitHub asks.
Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#avoid-concurrent-requests
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lifecycle.core.values.model import Repository
from lifecycle.core.values.survey import Holding, Swept
from lifecycle.github.board.status_fallback import Choice
from lifecycle.github.sweep.sweep_cards import Cards
from lifecycle.github.sweep.sweep_holdings import Holdings
from lifecycle.github.sweep.sweep_issues import IssueSweep
from lifecycle.github.sweep.sweep_status import Sight

if TYPE_CHECKING:
    from lifecycle.github.board.board_client import ProjectRef
    from lifecycle.github.client.graph import GraphClient
    from lifecycle.github.client.rest import RestClient


class GitHubSurvey:
    """Fits `ports.Survey`.

    What is too much for GitHub is asked for in halves. A limit of a few seconds is waited out; a
    longer one, an outage and the deadline raise Transient, with the seconds to wait where GitHub names
    them. What was read until then has been yielded.

    Args:
        graph: GraphQL, for nearly everything; it counts requests and points.
        rest: REST, for leases that GraphQL hides.
        project: the board, or None.
        choice: whether labels take the place of a board that cannot be seen; None if they never do.
    """

    def __init__(
        self,
        graph: GraphClient,
        rest: RestClient,
        project: ProjectRef | None,
        choice: Choice | None,
    ) -> None:
        sight = Sight(project, choice or Choice.never(project, graph.deadline.clock))
        self._holdings = Holdings(graph, rest)
        self._issues = IssueSweep(graph, sight)
        self._cards = Cards(project, graph, sight) if project is not None else None

    def holdings(self, repositories: Sequence[Repository]) -> Iterator[Holding]:
        """One for each, in their order; one that cannot be read carries its `problem`."""
        return self._holdings.of(repositories)

    def holdings_of(self, owner: str) -> Iterator[Holding]:
        """One for each repository of a user or an organisation that is neither archived nor a fork.

        Raises:
            NotFound: GitHub shows no such owner.
        """
        return self._holdings.of_owner(owner)

    def repositories_of(self, owner: str) -> Iterator[Repository]:
        """The names of the same, a hundred in one request.

        Raises:
            NotFound: GitHub shows no such owner.
        """
        return self._holdings.names_of_owner(owner)

    def cards(self, at_most: int | None = None) -> Iterator[Swept]:
        """Every issue on the board, archived cards left out, page by page in the board's order.

        Drafts, pull requests and what the token may not see are left out.

        Args:
            at_most: how many cards are worth reading, drafts and all; None for however many there are.

        Raises:
            BoardTooLarge: there are more; one page was asked for, and nothing was yielded.
            NotFound, MissingScope, NoPermission, Unsupported: the board cannot be read; if labels may
                take its place, `issues_of` and `issues` read those from then on.
            ValueError: no board is configured.
        """
        if self._cards is None:
            raise ValueError("no board is configured, so it has no cards")
        return self._cards.all(at_most)

    def issues_of(self, holdings: Iterable[Holding], since: float) -> Iterator[Swept]:
        """The open issues that are assigned, and those that were closed and changed since then.

        Holdings with a problem are passed over. What could not be read of a repository comes as one
        value with its `problem`.
        """
        return self._issues.of(holdings, since)

    def issues(self, wanted: Iterable[tuple[str, int]]) -> Iterator[Swept]:
        """Issues by repository and number; those that GitHub does not know are left out."""
        return self._issues.named(wanted)
