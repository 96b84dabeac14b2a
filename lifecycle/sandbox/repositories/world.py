"""The whole world, and the lock to hold while looking at it or changing it."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from lifecycle.sandbox.base.errors import ActionRefused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from lifecycle.sandbox.accounts.state import App, Installation, Token, User
    from lifecycle.sandbox.boards.state import Project
    from lifecycle.sandbox.repositories.state import Repository


class Lagging(Protocol):
    """Something that lists may miss for a while after its creation."""

    id: int
    hidden_for: int


Shown = TypeVar("Shown", bound=Lagging)


@dataclass(frozen=True, slots=True)
class Link:
    """Something to download; `until` is a moment of the clock that never runs backwards."""

    data: bytes = field(repr=False)
    content_type: str
    until: float


@dataclass(slots=True, eq=False)
class World:
    """All that the sandbox knows. `folder` is where bare repositories are made."""

    folder: Path
    users: dict[str, User] = field(default_factory=dict)
    """Users, organizations and bots by login in lower case."""
    tokens: dict[str, Token] = field(default_factory=dict)
    apps: dict[str, App] = field(default_factory=dict)
    """By slug."""
    installations: dict[int, Installation] = field(default_factory=dict)
    repositories: dict[str, Repository] = field(default_factory=dict)
    """By full name in lower case, in the order of the seed."""
    renamed: dict[str, Repository] = field(default_factory=dict)
    """Former full names in lower case."""
    projects: list[Project] = field(default_factory=list)
    nodes: dict[str, Any] = field(default_factory=dict, repr=False)
    """Everything that has a global id, by it."""
    unsettled: list[Repository] = field(default_factory=list, repr=False)
    """Where something happened that a waiting merge may have waited for; see pulls/merging/automerge.py."""
    links: dict[str, Link] = field(default_factory=dict, repr=False)
    """What can be downloaded for a while without a token, by path."""
    lag: Counter[str] = field(default_factory=Counter)
    """How many reads miss what is new: lists of `pulls`, `issues`, `comments`, `items`; `reads` are
    those by number."""
    ahead: float = 0.0
    """How many seconds its clock is ahead of the machine's."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    serial: Iterator[int] = field(default_factory=lambda: itertools.count(1_000_001))

    @property
    def home(self) -> Repository:
        """The first repository: the one that is meant where none is named."""
        return next(iter(self.repositories.values()))

    def register(self, node_id: str, thing: Any) -> None:
        """Let a thing be found by its global id."""
        self.nodes[node_id] = thing

    def forget(self, node_id: str) -> None:
        """Let it not be found any more."""
        self.nodes.pop(node_id, None)

    def repository(self, full_name: str) -> Repository | None:
        """The repository of that full name, whose case does not matter."""
        return self.repositories.get(full_name.lower())

    def user(self, login: str) -> User | None:
        """The user, organization or bot of that login, whose case does not matter."""
        return self.users.get(login.lower())

    def human(self, login: str) -> User:
        """The user who acts.

        Raises:
            ActionRefused: Nobody is called that, or it is an organization, which does not act.
        """
        user = self.user(login)
        if user is None or user.kind == "organization":
            raise ActionRefused(f"There is no user {login!r} in this world; nothing was done.")
        return user

    def board(self) -> Project:
        """The first board.

        Raises:
            ActionRefused: The seed made none.
        """
        if not self.projects:
            raise ActionRefused("This world has no project board; nothing was done.")
        return self.projects[0]

    def project(self, owner: User, number: int) -> Project | None:
        """The board of that owner and number, or None."""
        return next((p for p in self.projects if p.owner is owner and p.number == number), None)

    def visible(self, things: Iterable[Shown], seen: set[object]) -> list[Shown]:
        """What a list shows now: a fresh thing is missing from as many reads as its lag says.

        Args:
            things: What there is.
            seen: What this request counted already, so that one request counts as one read.
        """
        shown = []
        for thing in things:
            key = ("lag", thing.id)
            if key in seen:
                continue
            if thing.hidden_for > 0:
                seen.add(key)
                thing.hidden_for -= 1
                continue
            shown.append(thing)
        return shown
