"""GitHub, asked for facts only: each question has a time of its own, and none is a write."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from lifecycle.app.wiring import JsonStateCache
from lifecycle.core.errors import LifecycleError, Transient
from lifecycle.core.timing.deadline import Deadline
from lifecycle.core.values.checks import Checks
from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import BoardSchema, Repository, RepositoryAccess, TokenFacts
from lifecycle.github.client.calls import Calls
from lifecycle.github.pulls import rest_checks

if TYPE_CHECKING:
    from lifecycle.github.auth.tokens import Token
    from lifecycle.github.board.board_client import ProjectRef
    from lifecycle.github.client.graph import GraphClient
    from lifecycle.github.client.rest import RestClient

T = TypeVar("T")

ANSWER_SECONDS = 8.0
"""How long one question may take, asked again included."""

_WHOLE = 1.0
"""Seconds from which on a time is named in a sentence."""

_GRACE = 0.5


class GitHubFacts:
    """What a token shows of GitHub.

    Args:
        settings: where GitHub answers.
        token: what is asked with.
        deadline: of all questions together.

    Every method raises Transient, Rejected or Refused. After one question to which no answer came, the
    others are not asked: they would cost the same time, and say the same.
    """

    def __init__(self, settings: Settings, token: Token, deadline: Deadline) -> None:
        self._settings = settings
        self._token = token
        self._deadline = deadline
        self._silence: LifecycleError | None = None

    @property
    def is_silent(self) -> bool:
        """True once a question went without an answer."""
        return self._silence is not None

    def close(self) -> None:
        """Close the connections, unless somebody still waits on one."""
        if self.is_silent:
            return
        for name in ("_rest", "_graph"):
            if name in self.__dict__:
                self.__dict__[name].close()

    def token_facts(self) -> TokenFacts:
        """Whose token it is, and what it was given."""
        return self._ask(self._rest.token_facts)

    def access(self, repository: Repository) -> RepositoryAccess:
        """What the token's owner may do in a repository."""
        return self._ask(lambda: self._rest.repository_access(repository))

    def checks(self, repository: Repository, sha: str) -> Checks:
        """The checks of a commit, as far as the token shows them."""
        return self._ask(lambda: rest_checks.read(Calls(self._rest, repository), sha))

    def board(self, project: ProjectRef) -> BoardSchema:
        """The board's fields and options as they are now; nothing is kept of them."""
        from lifecycle.github.board.board_client import GitHubBoard

        board = GitHubBoard(project, self._graph, JsonStateCache({}))
        return self._ask(lambda: board.schema(refresh=True))

    def is_closed(self, project: ProjectRef) -> bool:
        """True if somebody closed the board."""
        named = {"owner": project.owner, "number": project.number, "after": None}
        ask = partial(self._graph.execute, "discover_board", named, subject=f"the board, {project}")
        owner = self._ask(ask).data.get("repositoryOwner") or {}
        return bool((owner.get("projectV2") or {}).get("closed"))

    def _ask(self, act: Callable[[], T]) -> T:
        """Ask on a thread of its own: some waits, as for a name server, cannot be interrupted."""
        if self._silence is not None:
            raise self._silence
        seconds = min(ANSWER_SECONDS, max(self._deadline.left, 0.1))
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(act())
            except BaseException as error:  # noqa: BLE001 -- raised again on the asking thread
                answer.set_exception(error)

        try:
            with self._deadline.keeping(max(self._deadline.left - seconds, 0.0)):
                threading.Thread(target=run, daemon=True).start()
                return answer.result(seconds + _GRACE)
        except TimeoutError:
            within = f"{seconds:.0f} seconds" if seconds >= _WHOLE else "the time that was left"
            self._silence = Transient(f"GitHub gave no answer within {within}.")
            raise self._silence from None
        except Transient as error:
            self._silence = error
            raise

    @cached_property
    def _rest(self) -> RestClient:
        from lifecycle.github.client.rest import RestClient

        token = self._token
        return RestClient(
            self._settings.api_url,
            token.value,
            self._deadline,
            token_source=token.source,
            on_refused=token.renew,
        )

    @cached_property
    def _graph(self) -> GraphClient:
        from lifecycle.github.client.graph import GraphClient

        token = self._token
        return GraphClient(
            self._settings.graphql_url,
            token.value,
            self._deadline,
            token_source=token.source,
            on_refused=token.renew,
        )
