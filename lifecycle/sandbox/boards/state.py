"""The state of boards (Projects v2): their fields and items."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.repositories.state import Repository, Tables

FieldType = Literal[
    "TITLE", "ASSIGNEES", "LABELS", "LINKED_PULL_REQUESTS", "MILESTONE", "REPOSITORY", "REVIEWERS",
    "PARENT_ISSUE", "SUB_ISSUES_PROGRESS", "TRACKS", "TRACKED_BY", "ISSUE_TYPE",
    "TEXT", "NUMBER", "DATE", "SINGLE_SELECT", "ITERATION",
]  # fmt: skip
ProjectRole = Literal["READER", "WRITER", "ADMIN"]
WRITABLE = {"TEXT", "NUMBER", "DATE", "SINGLE_SELECT", "ITERATION"}
"""The types of fields with a value of their own; the others show a value of the content."""


@dataclass(slots=True, eq=False)
class Option:
    """A choice of a single select field."""

    id: str
    name: str
    color: str = "GRAY"
    description: str = ""


@dataclass(slots=True, eq=False)
class Iteration:
    """A span of an iteration field; `start` is a day, `duration` a number of days."""

    id: str
    title: str
    start: str
    duration: int
    completed: bool = False


@dataclass(slots=True, eq=False)
class Field:
    """A column of the board."""

    id: str
    number: int
    name: str
    data_type: FieldType
    options: list[Option] = field(default_factory=list)
    iterations: list[Iteration] = field(default_factory=list)
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)


@dataclass(slots=True, eq=False)
class DraftIssue:
    """A draft on a board, which is not an issue yet."""

    id: int
    node_id: str
    title: str
    body: str
    creator: User
    created_at: datetime
    updated_at: datetime
    assignees: list[User] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mark:
    """Who first set a card's value, when that was, and when it last changed."""

    creator: User
    created_at: datetime
    updated_at: datetime


@dataclass(slots=True, eq=False)
class Item:
    """A card: an issue, a pull request or a draft on the board, with its values by field id.

    A value is text in GitHub's form: the text, the number or day as written, an option's or iteration's
    id. Each has a mark.
    """

    id: str
    number: int
    project: Project = field(repr=False)
    content: Issue | DraftIssue
    creator: User
    values: dict[str, str] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict, repr=False)
    archived: bool = False
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)
    hidden_for: int = 0
    """How many more reads of the board's list omit it."""

    @property
    def id_in_lists(self) -> tuple[str, int]:
        """The key under which a request counts this item once: one request is one read."""
        return ("item", self.number)

    def give(self, field_id: str, value: str, by: User) -> None:
        """Set the card's value in a field; if it is unchanged, so is its mark."""
        before, when = self.marks.get(field_id), now()
        if before is None or self.values.get(field_id) != value:
            first = before or Mark(by, when, when)
            self.marks[field_id] = replace(first, updated_at=when)
        self.values[field_id] = value
        self.updated_at = when

    def drop(self, field_id: str) -> None:
        """Remove the card's value in a field, if it has one."""
        self.values.pop(field_id, None)
        self.marks.pop(field_id, None)
        self.updated_at = now()


@dataclass(slots=True, eq=False)
class Project:
    """A Projects v2 board of a user or an organization."""

    id: str
    database_id: int
    number: int
    title: str
    owner: User
    creator: User | None = None
    fields: list[Field] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    repositories: list[Repository] = field(default_factory=list, repr=False)
    is_public: bool = False
    closed_at: datetime | None = None
    short_description: str | None = None
    readme: str | None = None
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)
    cards: dict[str, Item] = field(default_factory=dict, repr=False)
    """The items by the global id of their content, for quick access on a large board."""
    collaborators: dict[str, ProjectRole] = field(default_factory=dict)
    """The roles of single users, by login in lower case."""
    is_template: bool = False
    fresh: list[Item] = field(default_factory=list, repr=False)
    """The items that the list still omits for some reads."""

    def role_of(self, user: User) -> ProjectRole | None:
        """A user's role on the board; None if they cannot see it.

        Everybody reads a public board. A private one belongs to its owner; the organization's members may
        write it, as that is the base role of a new board.
        Source:
        https://docs.github.com/issues/planning-and-tracking-with-projects/managing-your-project/managing-access-to-your-projects
        """
        if user is self.owner:
            return "ADMIN"
        role = self.collaborators.get(user.login.lower())
        if role is not None:
            return role
        if user in self.owner.members:
            return "ADMIN" if user.role == "admin" else "WRITER"
        return "READER" if self.is_public else None

    def shown(self, seen: set[object]) -> list[Item]:
        """The items that a list shows now, in their order, without archived and too recent ones.

        Args:
            seen: The keys of the items that this request counted already.
        """
        missing = set()
        for item in list(self.fresh):
            if item.id_in_lists not in seen:
                if item.hidden_for == 0:
                    self.fresh.remove(item)
                    continue
                seen.add(item.id_in_lists)
                item.hidden_for -= 1
            missing.add(item)
        if not missing and not any(item.archived for item in self.items):
            return self.items
        return [item for item in self.items if not item.archived and item not in missing]

    def field_named(self, name: str) -> Field | None:
        """The field of that name (exact, as GitHub compares), or None."""
        return next((f for f in self.fields if f.name == name), None)

    def item_of(self, content: Issue | DraftIssue) -> Item | None:
        """The card of an issue, archived or not, or None."""
        return self.cards.get(content.node_id)

    def put(self, item: Item) -> None:
        """Add a card at the end."""
        self.items.append(item)
        self.cards[item.content.node_id] = item
        if item.hidden_for:
            self.fresh.append(item)

    def take(self, item: Item) -> None:
        """Remove a card."""
        self.items.remove(item)
        del self.cards[item.content.node_id]
        if item in self.fresh:
            self.fresh.remove(item)

    def move(self, item: Item, after: Item | None) -> None:
        """Move a card right after another one, or to the beginning."""
        self.items.remove(item)
        self.items.insert(self.items.index(after) + 1 if after else 0, item)


@dataclass(slots=True, eq=False)
class BoardTables(Tables):
    """The boards of a world."""

    projects: list[Project] = field(default_factory=list)

    def first(self) -> Project:
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
