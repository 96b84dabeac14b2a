"""The state of the world and its repositories, with the lock to hold while you read or change it.

Each subject (issues, pull requests, checks, boards) keeps its state in its own tables, so that this module
does not import the subjects.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeVar

from lifecycle.sandbox.accounts.state import App, Installation, Role, Token, User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.git.store.importing import (
    NewCommit,
    NewRef,
    Origin,
    found,
    import_all,
    signature,
)
from lifecycle.sandbox.git.store.repository import BareRepository

PUSHERS: frozenset[Role] = frozenset({"admin", "maintain", "write"})
TRIAGERS: frozenset[Role] = PUSHERS | {"triage"}
Visibility = Literal["public", "private"]


class Tables:
    """Base of a subject's state of a repository or of the world: a dataclass, empty at first."""

    __slots__ = ()

    @classmethod
    def of(cls, owner: Repository | World) -> Self:
        """The subject's tables of that repository or world."""
        tables: Self | None = owner.tables.get(cls)
        if tables is None:
            tables = owner.tables[cls] = cls()
        return tables


class Lagging(Protocol):
    """An object that lists may omit for some reads after its creation."""

    id: int
    hidden_for: int


Shown = TypeVar("Shown", bound=Lagging)


@dataclass(slots=True, eq=False)
class Repository:
    """One repository. `roles` overrides a user's own role, by login in lower case."""

    id: int
    world: World = field(repr=False)
    owner: User
    name: str
    description: str | None
    default_branch: str
    visibility: Visibility = "public"
    archived: bool = False
    has_issues: bool = True
    allow_merge_commit: bool = True
    allow_squash_merge: bool = True
    allow_rebase_merge: bool = True
    allow_auto_merge: bool = True
    delete_branch_on_merge: bool = False
    allow_update_branch: bool = False
    allow_forking: bool = True
    has_projects: bool = True
    has_wiki: bool = True
    is_template: bool = False
    homepage: str | None = None
    topics: list[str] = field(default_factory=list)
    parent: Repository | None = field(default=None, repr=False)
    forks: list[Repository] = field(default_factory=list, repr=False)
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)
    pushed_at: datetime = field(default_factory=now)
    roles: dict[str, Role] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict, repr=False)
    """The files of the first commit, by path, until the git repository is made."""
    bundle: str | None = field(default=None, repr=False)
    """The whole git repository instead of `files`, as base64 of a git bundle."""
    last_number: int = 0

    tables: dict[type, Any] = field(default_factory=dict, repr=False)
    """The subjects' state of this repository, see `Tables`."""
    _git: BareRepository | None = field(default=None, repr=False)
    _heads: dict[str, str] | None = field(default=None, repr=False)

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    @property
    def key(self) -> str:
        """The full name in lower case: GitHub ignores the case of names."""
        return self.full_name.lower()

    @property
    def node_id(self) -> str:
        """The repository's global id."""
        return node_id("R", 0, self.id)

    @property
    def is_private(self) -> bool:
        """Whether only users with a role in it can see it."""
        return self.visibility == "private"

    @property
    def git(self) -> BareRepository:
        """The bare repository; it is made at the first access.

        Raises:
            SandboxError: git is missing or too old.
        """
        if self._git is None:
            self._git, _ = self._found_git()
        return self._git

    def grow_git(self, wanted: Sequence[NewCommit | NewRef]) -> None:
        """Make commits and refs, all at once, and the repository itself if it is new.

        Raises:
            ActionRefused: git refuses one of them.
        """
        self._heads = None
        if self._git is not None:
            import_all(self._git, wanted)
        elif wanted:
            self._git, self._heads = self._found_git(wanted)

    def _found_git(
        self, wanted: Sequence[NewCommit | NewRef] = ()
    ) -> tuple[BareRepository, dict[str, str] | None]:
        is_new = not self.has_git
        path = self.world.folder / f"{self.id}.git"
        origin = self._origin() if is_new else Origin()
        git, heads = found(path, self.default_branch, origin, wanted)
        if is_new:
            self.bundle = None
        return git, heads

    def _origin(self) -> Origin:
        if self.bundle:
            return Origin(bundle=self.bundle)
        if self.parent is not None:
            return Origin(parent=self.parent.git)
        if not self.files:
            return Origin()
        ref = f"refs/heads/{self.default_branch}"
        who = signature(self._first_author(), self.created_at)
        return Origin(first=NewCommit(ref, "Initial commit", who, self.files))

    def _first_author(self) -> User:
        """The owner, or for an organization the first person of the world."""
        if self.owner.kind == "user":
            return self.owner
        people = (user for user in self.world.users.values() if user.kind == "user")
        return next(people, self.owner)

    @property
    def has_git(self) -> bool:
        """Whether the bare repository exists, made by this process or an earlier one."""
        return self._git is not None or (self.world.folder / f"{self.id}.git" / "HEAD").exists()

    @property
    def heads(self) -> dict[str, str]:
        """Every ref and its commit, as last read."""
        if self._heads is None:
            self._heads = self.git.refs()
        return self._heads

    @heads.setter
    def heads(self, refs: dict[str, str]) -> None:
        self._heads = refs

    def role_of(self, user: User) -> Role | None:
        """A user's role here; None for a private repository that the user cannot see."""
        if user is self.owner:
            return "admin"
        role = self.roles.get(user.login.lower())
        if role is not None:
            return role
        if self.is_private and user not in self.owner.members:
            return None
        return user.role

    def can_push(self, user: User) -> bool:
        """Whether this user may write here."""
        return user.kind != "organization" and self.role_of(user) in PUSHERS

    def can_triage(self, user: User) -> bool:
        """Whether this user may label, assign and close here."""
        return user.kind != "organization" and self.role_of(user) in TRIAGERS

    def touch(self) -> None:
        """Note a change for which a merge may be waiting; `automerge.settle` checks it."""
        if self not in self.world.unsettled:
            self.world.unsettled.append(self)

    def new_id(self, prefix: str) -> tuple[int, str]:
        """Take a new number; return it with the global id made from it."""
        number = next(self.world.serial)
        return number, node_id(prefix, self.id, number)

    def next_number(self) -> int:
        """Take and return the number of the next issue or pull request."""
        self.last_number += 1
        return self.last_number


@dataclass(frozen=True, slots=True)
class Link:
    """A download; `until` is its end, in seconds of the monotonic clock."""

    data: bytes = field(repr=False)
    content_type: str
    until: float


@dataclass(slots=True, eq=False)
class World:
    """The whole state of the sandbox. `folder` is the folder for bare repositories."""

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
    tables: dict[type, Any] = field(default_factory=dict, repr=False)
    """The subjects' state of the world, see `Tables`."""
    nodes: dict[str, Any] = field(default_factory=dict, repr=False)
    """Every object that has a global id, by that id."""
    unsettled: list[Repository] = field(default_factory=list, repr=False)
    """Repositories with a change for which a merge may be waiting; see pulls/merging/automerge.py."""
    links: dict[str, Link] = field(default_factory=dict, repr=False)
    """Downloads that need no token for some time, by path."""
    lag: Counter[str] = field(default_factory=Counter)
    """How many reads omit a new object: lists of `pulls`, `issues`, `comments`, `items`; `reads` are
    those by number."""
    ahead: float = 0.0
    """How many seconds its clock is ahead of the machine's."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    serial: Iterator[int] = field(default_factory=lambda: itertools.count(1_000_001))

    @property
    def home(self) -> Repository:
        """The first repository, used if none is named."""
        return next(iter(self.repositories.values()))

    def register(self, node_id: str, node: Any) -> None:
        """Register an object under its global id."""
        self.nodes[node_id] = node

    def forget(self, node_id: str) -> None:
        """Remove an object from the register of global ids."""
        self.nodes.pop(node_id, None)

    def repository(self, full_name: str) -> Repository | None:
        """The repository of that full name, ignoring case."""
        return self.repositories.get(full_name.lower())

    def user(self, login: str) -> User | None:
        """The user, organization or bot of that login, ignoring case."""
        return self.users.get(login.lower())

    def human(self, login: str) -> User:
        """The user who acts.

        Raises:
            ActionRefused: There is no such login, or it is an organization's, which does not act.
        """
        user = self.user(login)
        if user is None or user.kind == "organization":
            raise ActionRefused(f"There is no user {login!r} in this world; nothing was done.")
        return user

    def visible(self, entries: Iterable[Shown], seen: set[object]) -> list[Shown]:
        """The entries that a list shows now; a new one is omitted for as many reads as its lag says.

        Args:
            entries: All entries.
            seen: The keys that this request counted already: one request counts as one read.
        """
        shown = []
        for entry in entries:
            key = ("lag", entry.id)
            if key in seen:
                continue
            if entry.hidden_for > 0:
                seen.add(key)
                entry.hidden_for -= 1
                continue
            shown.append(entry)
        return shown
