"""What the checks look at: one worktree, its settings, and GitHub, each read once and when needed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.errors import BadConfig, LifecycleError
from lifecycle.core.ports import Clock
from lifecycle.core.timing.deadline import Deadline
from lifecycle.core.values import configured
from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import Repository, RepositoryAccess, TokenFacts
from lifecycle.settings import config
from lifecycle.setup.doctor.examine_client import ClientSetup
from lifecycle.setup.doctor.github_facts import GitHubFacts

if TYPE_CHECKING:
    from lifecycle.github.auth.tokens import Token

SECONDS = 24.0
"""How long all checks may take together; a person waits for them."""

_NOWHERE = Path(os.devnull)
"""A root in which no project's file can lie."""


class Examined:
    """One worktree under examination. Nothing is read before a check asks for it.

    Args:
        root: the worktree's root, or None outside of any.
        environment: settings and the token are read from here.
        clock: time.
    """

    def __init__(self, root: Path | None, environment: Mapping[str, str], clock: Clock) -> None:
        self.is_worktree = root is not None
        self.root = root or Path.cwd()
        self.environment = environment
        self.clock = clock
        self.deadline = Deadline.after(clock, SECONDS)
        self.claim_store = ClaimStore(self.root, clock)
        self.client = ClientSetup.read(self.root, environment)
        self.is_tracker_silent = False  # its own check found that it does not answer
        self.asked_at = 0.0  # when GitHub answered what it says of the token

    def close(self) -> None:
        """Close the connections that were opened."""
        hub = self.__dict__.get("hub")
        if isinstance(hub, GitHubFacts):
            hub.close()

    @cached_property
    def world(self) -> WorktreeWorld:
        """Git and the repository, with the settings as far as they can be used."""
        world = WorktreeWorld(self.root, self.environment, self.clock, self.deadline, {})
        world.settings = self.settings
        return world

    @property
    def settings(self) -> Settings:
        """The settings; where a file is broken, what can be known without the project's."""
        return self._loaded[0]

    @property
    def settings_problem(self) -> BadConfig | None:
        """Why the settings cannot be used, or None if they can."""
        return self._loaded[1]

    @property
    def is_lost(self) -> bool:
        """True if not even GitHub's address is known: then no token is sent anywhere."""
        return self._loaded[2]

    @cached_property
    def _loaded(self) -> tuple[Settings, BadConfig | None, bool]:
        """The settings, what is wrong with them, and whether that leaves GitHub's address unknown."""
        try:
            return config.load(self.root, self.environment), None, False
        except BadConfig as error:
            problem = error
        try:
            return config.load(_NOWHERE, self.environment), problem, False
        except BadConfig:
            return Settings(), problem, True

    @cached_property
    def base(self) -> Repository | None:
        """The repository of issues and PRs; None if it is not known, which other checks explain."""
        try:
            return self.world.base if self.is_worktree else None
        except LifecycleError:
            return None

    @property
    def web(self) -> str:
        """Where people and git find the GitHub that is talked to, as the beginning of a URL."""
        parts = urlsplit(self.addresses.api_url)
        return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"

    @property
    def addresses(self) -> configured.Addresses:
        """Where GitHub answers; as configured where git cannot be asked for the remote."""
        try:
            return self.world.addresses
        except LifecycleError:
            return configured.Addresses(self.settings.api_url, self.settings.graphql_url)

    @cached_property
    def token(self) -> Token | LifecycleError:
        """The token, or why there is none."""
        try:
            return self.world.token
        except LifecycleError as error:
            return error

    @property
    def token_source(self) -> str:
        """Where the token comes from, or would if it could be used."""
        if not isinstance(self.token, LifecycleError):
            return self.token.source
        names = config.TOKEN_VARIABLES
        return next((n for n in names if self.environment.get(n, "").strip()), "token_command")

    @cached_property
    def hub(self) -> GitHubFacts | LifecycleError:
        """GitHub, or why nothing can be asked of it."""
        if self.settings_problem is not None and self.is_lost:
            return self.settings_problem
        if isinstance(self.token, LifecycleError):
            return self.token
        where = self.addresses
        settings = replace(self.settings, api_url=where.api_url, graphql_url=where.graphql_url)
        return GitHubFacts(settings, self.token, self.deadline)

    @cached_property
    def facts(self) -> TokenFacts | LifecycleError:
        """What GitHub says of the token, or why it says nothing."""
        if not isinstance(self.hub, GitHubFacts):
            return self.hub
        try:
            facts = self.hub.token_facts()
        except LifecycleError as error:
            return error
        self.asked_at = self.clock.now()
        return facts

    @property
    def asking(self) -> GitHubFacts | None:
        """GitHub, for as long as it answers; that it does not is said once, where it was noticed."""
        hub = self.hub if isinstance(self.facts, TokenFacts) else None
        return hub if isinstance(hub, GitHubFacts) and not hub.is_silent else None

    @cached_property
    def access(self) -> RepositoryAccess | LifecycleError | None:
        """What may be done in the repository, or why that is not known; None if it cannot be asked."""
        if self.base is None or self.asking is None:
            return None
        try:
            return self.asking.access(self.base)
        except LifecycleError as error:
            return error
