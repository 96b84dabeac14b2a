"""One repository on GitHub, and the operations on it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Self

from lifecycle.core.errors import NoToken
from lifecycle.core.ports import Clock
from lifecycle.core.redact import keep_secret
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.values import configured
from lifecycle.core.values.model import Repository
from lifecycle.github.auth.find_token import TokenPlace, find
from lifecycle.github.board.board_client import ProjectRef
from lifecycle.github.client.client_common import Keeper, Sending, Token
from lifecycle.github.client.rest import Calls
from lifecycle.github.clients import GitHubClients
from lifecycle.github.failures import sentence
from lifecycle.github.operations.ensure_attached import CommentOperations, LabelOperations
from lifecycle.github.operations.ensure_board import BoardOperations
from lifecycle.github.operations.ensure_commits import (
    CheckOperations,
    RefOperations,
    StatusOperations,
)
from lifecycle.github.operations.ensure_issues import IssueOperations, RelationOperations
from lifecycle.github.operations.ensure_merge import MergeOperations
from lifecycle.github.operations.ensure_pulls import PullOperations
from lifecycle.github.operations.inputs import demands
from lifecycle.github.pulls.issue_calls import IssueCalls
from lifecycle.github.pulls.pull_calls import PullCalls
from lifecycle.settings import config, readers
from lifecycle.storage import store

_GIVEN = "the token= of this call"


class GitHub:
    """One repository, and operations on it that may be repeated.

        with GitHub("octo-org/hello-service") as hub:
            hub.comments.ensure_comment(42, "report", "All is well.")

    Each operation reads, compares, and writes only the difference; it returns an `Ensured`: what is
    true now, and whether this call changed it. Its docstring says how many requests it makes.

    Args:
        repository: `owner/name`.
        token: the token; by default it is found as everywhere in this project (GH_TOKEN, the user's
            file, gh).
        api_url: the address of REST; by default it is found as everywhere (GITHUB_API_URL, the user's
            file).
        graphql_url: the address of GraphQL; beside REST unless given.
        environment: the variables; those of the process unless given.
        clock: time; the system's unless given.
        seconds: how long all calls on this object may take together; None for no limit.

    Nothing is read before the first call. One object serves one thread; it is a context manager that
    closes its connections.

    Raises:
        BadConfig: `repository` does not have the form `owner/name`.
    """

    @demands
    def __init__(
        self,
        repository: str,
        *,
        token: str | None = None,
        api_url: str | None = None,
        graphql_url: str | None = None,
        environment: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        seconds: float | None = 60.0,
    ) -> None:
        self.repository: Repository = readers.repository("repository", repository)
        variables = {"GITHUB_API_URL": api_url, "GITHUB_GRAPHQL_URL": graphql_url}
        self._environment = dict(os.environ if environment is None else environment)
        if api_url:
            self._environment.pop("GITHUB_GRAPHQL_URL", None)
        self._environment |= {name: value for name, value in variables.items() if value}
        self._given = token
        self._deadline = Deadline.of_object(clock or SystemClock(), seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def __repr__(self) -> str:
        return f"GitHub({str(self.repository)!r})"

    def disconnect(self) -> None:
        """Close the connections; the object stays usable."""
        if "_clients" in self.__dict__:
            self._clients.close()

    @cached_property
    def issues(self) -> IssueOperations:
        """Issues: one for a key, text, state, assignees, milestone. Raises NoToken, BadConfig."""
        return IssueOperations(IssueCalls(self._calls))

    @cached_property
    def comments(self) -> CommentOperations:
        """Comments on issues and pull requests, each known by a key."""
        return CommentOperations(IssueCalls(self._calls))

    @cached_property
    def labels(self) -> LabelOperations:
        """The repository's labels, and those of issues and pull requests."""
        return LabelOperations(IssueCalls(self._calls))

    @cached_property
    def relations(self) -> RelationOperations:
        """What blocks an issue, and what it is divided into."""
        return RelationOperations(IssueCalls(self._calls))

    @cached_property
    def pulls(self) -> PullOperations:
        """Pull requests: open once, text, draft, reviewers, closed."""
        return PullOperations(PullCalls(self._calls, self._clients.graph))

    @cached_property
    def merging(self) -> MergeOperations:
        """Merging pull requests, now or by GitHub, and bringing branches up to their bases."""
        return MergeOperations(PullCalls(self._calls, self._clients.graph))

    @cached_property
    def checks(self) -> CheckOperations:
        """Check runs. Only a token of an app (that of Actions too) may write them."""
        return CheckOperations(self._calls)

    @cached_property
    def statuses(self) -> StatusOperations:
        """Commit statuses."""
        return StatusOperations(self._calls)

    @cached_property
    def refs(self) -> RefOperations:
        """Branches, tags and other refs."""
        return RefOperations(self._calls)

    @demands
    def board(self, number: int, *, owner: str = "") -> BoardOperations:
        """A Projects v2 board, of a user or an organisation.

        Args:
            number: the number in the board's address.
            owner: its owner's login; "" for the repository's owner.

        Raises:
            Refused: the number is not an int, or the owner is not a text.
        """
        project = ProjectRef(owner or self.repository.owner, number)
        board, graph = self._clients.board(project), self._clients.graph  # its ids are kept there
        return BoardOperations(board, graph, self.repository)

    @cached_property
    def _calls(self) -> Calls:
        return self._clients.calls(self.repository)

    @cached_property
    def _clients(self) -> GitHubClients:
        """Clients with the current token; an App's is renewed before it expires, and after a refusal."""
        kept, lines = Keeper(self._found, self._deadline.clock), ("GqlLine", "PyGithubLine")
        return GitHubClients(self._addresses, Sending(kept, self._deadline, by_library=lines))

    @cached_property
    def _addresses(self) -> configured.Addresses:
        return config.addresses(self._environment)

    def _found(self) -> Token:
        if self._given is None:
            around = (self._environment, self._addresses, store.worktree_root(Path.cwd()))
            return find(TokenPlace(*around, lambda: self.repository, self._deadline))
        if not self._given.strip():
            raise NoToken(sentence("empty-token"))
        way = f"Set it again: gh auth token{config.gh_option(self._addresses.api_url)}"
        value = readers.token(_GIVEN, self._given.strip(), way)
        keep_secret(value)
        return Token(value, _GIVEN)
