"""The clients of one token's owner, and the objects built on them; only this module makes them."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from lifecycle.core.errors import LifecycleError
from lifecycle.core.values.configured import Addresses, Settings
from lifecycle.core.values.shapes import CardWords
from lifecycle.github.board.board_client import AGENT, STATUS, GitHubBoard, ProjectRef
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import Calls, RestClient

if TYPE_CHECKING:
    from lifecycle.core.values.model import Repository
    from lifecycle.github.board.status_fallback import Choice, EitherBoard
    from lifecycle.github.client.client_common import Sending
    from lifecycle.github.operations.joint_writes import JointWrites
    from lifecycle.github.pulls.check_reports import GitHubCheckReports
    from lifecycle.github.pulls.forge import GitHubForge
    from lifecycle.github.sweep.sweeping import GitHubSurvey

PRIORITY = "Priority"
"""The field with a card's urgency, a single-select."""


class GitHubClients:
    """Clients for GraphQL and REST, and the objects built on them; making one sends nothing.

    Args:
        addresses: GitHub's addresses.
        sending: how the clients send.
        settings: whether labels may take a board's place, and their names.
        project: the board, or None.
    """

    def __init__(
        self,
        addresses: Addresses,
        sending: Sending,
        settings: Settings | None = None,
        project: ProjectRef | None = None,
    ) -> None:
        self.addresses = addresses
        self.tokens = sending.tokens
        self.project = project
        self._settings = settings or Settings()
        self._cache = sending.cache
        self.rest = RestClient(addresses.api_url, sending)
        self.graph = GraphClient(addresses.graphql_url, sending)

    def close(self) -> None:
        """Close the open connections; the next request opens others."""
        self.graph.close()
        self.rest.close()

    @property
    def spent(self) -> tuple[int, int]:
        """How many requests were made so far, and how many points GraphQL's cost."""
        return self.graph.requests + self.rest.requests, self.graph.points

    @property
    def server_time(self) -> float | None:
        """GitHub's clock at its last answer, None if it is not known."""
        return max(self.graph.server_time, self.rest.server_time) or None

    def calls(self, repository: Repository) -> Calls:
        """The REST calls of a repository; GraphQL says who owns the token if REST may not be asked."""
        return Calls(self.rest, repository, self.forge(repository).viewer)

    def forge(self, repository: Repository) -> GitHubForge:
        """Issues, pull requests and checks of a repository, with its cards on the board."""
        from lifecycle.github.pulls.forge import GitHubForge

        return GitHubForge(Calls(self.rest, repository), self.graph, self.choice, self._own_board)

    def reports(self, repository: Repository) -> GitHubCheckReports:
        """Reads the reports of failed checks of a repository."""
        from lifecycle.github.pulls.check_reports import GitHubCheckReports

        return GitHubCheckReports(self.graph, Calls(self.rest, repository))

    @cached_property
    def survey(self) -> GitHubSurvey:
        """Reads many repositories at once."""
        from lifecycle.github.sweep.sweeping import GitHubSurvey

        return GitHubSurvey(self.graph, self.rest, self.choice)

    @property
    def _own_board(self) -> GitHubBoard | None:
        return self.board(self.project) if self.project is not None else None

    def board(self, project: ProjectRef) -> GitHubBoard:
        """The client for a board, whoever owns it."""
        return GitHubBoard(project, self.graph, self._cache)

    def either_board(self, repository: Repository) -> EitherBoard:
        """Where the Status is kept.

        The project's board, labels, or the board with labels for a token that cannot see it.
        """
        from lifecycle.github.board.status_fallback import EitherBoard
        from lifecycle.github.board.status_labels import LabelsBoard

        calls = Calls(self.rest, repository)
        labels = LabelsBoard(self.choice.names, self.graph, calls, self._cache)
        return EitherBoard(self.choice, self._own_board, labels)

    @property
    def joint(self) -> JointWrites:
        """Sends several writes in one request; the card among them if there is a board."""
        from lifecycle.github.operations.joint_writes import JointWrites

        return JointWrites(self.graph, self._own_board)

    @cached_property
    def choice(self) -> Choice:
        """Decides whether labels take the place of the board."""
        from lifecycle.github.board.status_fallback import Choice
        from lifecycle.github.board.status_labels import StatusLabels

        use, names = self._settings.labels_use, StatusLabels(self._settings.labels_prefix)
        clock, board = self.graph.deadline.clock, self._own_board
        probe = partial(board.schema, refresh=True) if board is not None else None
        return Choice(self.project, use, names, self.tokens, self._cache, clock, probe)

    def card_of(self, repository: Repository, number: int) -> CardWords | None:
        """An issue's values on the board; None without a board or a card.

        Requests: 1; none if labels take the board's place.

        Raises:
            As `BoardOperations.item`, unless the error makes labels take the board's place.
        """
        from lifecycle.github.operations.ensure_board import BoardOperations

        if self.project is None or not self.choice.tries_board:
            return None
        try:
            item = BoardOperations(self.board(self.project), self.graph, repository).item(number)
        except LifecycleError as error:
            if self.choice.gives_up(error):
                return None
            raise
        if item is None or item.is_archived:
            return None
        words = {name: str(item.values[name]) for name in item.choices if name in item.values}
        return CardWords(words.get(PRIORITY), words.get(STATUS), str(item.values.get(AGENT, "")))
