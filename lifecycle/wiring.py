"""The composition root: one worktree's world, each part built when it is first touched."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifecycle import config
from lifecycle.deadline import Deadline
from lifecycle.errors import BadConfig, NoToken
from lifecycle.model import Repository
from lifecycle.ports import Board, Clock, Forge

if TYPE_CHECKING:
    from lifecycle.git import GitRepository


class StateCache:
    """Fits `ports.Cache`: a part of state.json, durable at the engine's next commit."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    def get(self, key: str) -> object | None:
        """What was put there, or None."""
        found: object | None = self.state.get("cache", {}).get(key)
        return found

    def put(self, key: str, value: object) -> None:
        """Remember a JSON value; None forgets it."""
        self.state.setdefault("cache", {})[key] = value


class World:
    """What one wake may touch. Building it costs nothing; touching a part builds that part.

    Args:
        root: the worktree root.
        environment: where settings and the token are read from.
        clock: time.
        deadline: when everything has to be over.
        state: state.json's content, for the cache of ids.
    """

    def __init__(
        self,
        root: Path,
        environment: Mapping[str, str],
        clock: Clock,
        deadline: Deadline,
        state: dict[str, Any],
    ) -> None:
        self.root = root
        self.environment = environment
        self.clock = clock
        self.deadline = deadline
        self.cache = StateCache(state)

    def close(self) -> None:
        """Close the connections that were opened; the next request opens others."""
        for client in ("_graph", "_rest"):
            if client in self.__dict__:
                self.__dict__[client].close()

    @cached_property
    def settings(self) -> config.Settings:
        """The settings; raises BadConfig."""
        return config.load(self.root, self.environment)

    @cached_property
    def git(self) -> GitRepository:
        """Git in this worktree."""
        from lifecycle.git import GitRepository

        return GitRepository(self.root, self.deadline, self.environment)

    @cached_property
    def head(self) -> Repository:
        """The repository that branches are pushed to; raises BadConfig."""
        from lifecycle.git import head_repository

        try:
            return head_repository(self.git, self.settings.remote, self.settings.api_url)
        except BadConfig:
            if self.settings.repository is None:
                raise
            return self.settings.repository

    @cached_property
    def base(self) -> Repository:
        """The repository of issues and pull requests; raises BadConfig."""
        return self.settings.repository or self.head

    @cached_property
    def forge(self) -> Forge:
        """Issues, pull requests, checks; raises NoToken, BadConfig."""
        from lifecycle.github.forge import GitHubForge

        return GitHubForge(self.base, self._project, graph=self._graph, rest=self._rest)

    @cached_property
    def board(self) -> Board | None:
        """The project board, or None if none is configured; raises NoToken, BadConfig."""
        from lifecycle.github.board import GitHubBoard

        if self._project is None:
            return None
        return GitHubBoard(self._project, self._graph, self.cache)

    @cached_property
    def _project(self) -> Any:
        from lifecycle.github.board import ProjectRef

        number = self.settings.project_number
        if number is None:
            return None
        return ProjectRef(self.settings.project_owner or self.base.owner, number)

    @cached_property
    def _graph(self) -> Any:
        from lifecycle.github.graph import GraphClient

        token, source = self._token
        return GraphClient(self.settings.graphql_url, token, self.deadline, token_source=source)

    @cached_property
    def _rest(self) -> Any:
        from lifecycle.github.rest import RestClient

        token, source = self._token
        return RestClient(self.settings.api_url, token, self.deadline, token_source=source)

    @property
    def _token(self) -> tuple[str, str]:
        found = config.token(self.environment)
        if found is None:
            raise NoToken(
                "No GitHub token: neither GH_TOKEN nor GITHUB_TOKEN is set, so nothing was asked of "
                "GitHub and the claim was kept. Set one, for example: export GH_TOKEN=$(gh auth token)"
            )
        return found
