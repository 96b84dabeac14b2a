"""The state of issues: comments, labels, milestones, events."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.repositories.state import Repository, Tables

IssueState = Literal["open", "closed"]
StateReason = Literal["completed", "not_planned", "duplicate", "reopened"]


@dataclass(slots=True, eq=False)
class Label:
    """A label of a repository. Its name may change; issues hold the label, not its name."""

    id: int
    node_id: str
    name: str
    color: str
    description: str | None = None
    default: bool = False
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)
    repository: Repository | None = field(default=None, repr=False)


@dataclass(slots=True, eq=False)
class Milestone:
    """A milestone of a repository, with a numbering of its own."""

    id: int
    node_id: str
    number: int
    title: str
    description: str | None
    creator: User
    created_at: datetime
    updated_at: datetime
    state: IssueState = "open"
    due_on: datetime | None = None
    closed_at: datetime | None = None
    repository: Repository | None = field(default=None, repr=False)


@dataclass(slots=True, eq=False)
class Comment:
    """One comment of an issue or a pull request."""

    id: int
    node_id: str
    issue: Issue = field(repr=False)
    author: User
    body: str
    created_at: datetime
    updated_at: datetime
    hidden_for: int = 0
    minimized: str | None = None
    """Why it is minimized, in GitHub's word; None if it is not."""


@dataclass(slots=True, eq=False)
class IssueEvent:
    """Something that happened to an issue: `closed`, `reopened`, `labeled`, `assigned` and so on.

    `about` has the data of the kind: a label, an assignee, an issue, a milestone's title.
    """

    id: int
    node_id: str
    kind: str
    actor: User
    created_at: datetime
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Issue:
    """An issue, or the issue half of a pull request: they share one numbering."""

    id: int
    node_id: str
    repository: Repository = field(repr=False)
    number: int
    title: str
    body: str | None
    author: User
    created_at: datetime
    updated_at: datetime
    state: IssueState = "open"
    state_reason: StateReason | None = None
    labels: list[Label] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    milestone: Milestone | None = None
    comments: list[Comment] = field(default_factory=list)
    events: list[IssueEvent] = field(default_factory=list, repr=False)
    closed_at: datetime | None = None
    closed_by: User | None = None
    locked: bool = False
    lock_reason: str | None = None
    parent: Issue | None = field(default=None, repr=False)
    sub_issues: list[Issue] = field(default_factory=list, repr=False)
    blocked_by: list[Issue] = field(default_factory=list, repr=False)
    blocking: list[Issue] = field(default_factory=list, repr=False)
    hidden_for: int = 0
    """How many more reads of lists omit it."""
    unread_for: int = 0
    """How many more reads by its number do not find it."""
    is_pull: bool = False
    is_pinned: bool = False
    linked_branches: list[str] = field(default_factory=list)
    """Names of branches of its repository that somebody linked to it."""

    def is_late(self) -> bool:
        """Count one read by number, and return whether it fails to find the issue."""
        if self.unread_for == 0:
            return False
        self.unread_for -= 1
        return True


@dataclass(slots=True, eq=False)
class IssueTables(Tables):
    """The issues of a repository with their labels and milestones."""

    labels: dict[str, Label] = field(default_factory=dict, repr=False)
    """By name in lower case, since GitHub ignores case here."""
    milestones: dict[int, Milestone] = field(default_factory=dict, repr=False)
    issues: dict[int, Issue] = field(default_factory=dict, repr=False)
    gone: set[int] = field(default_factory=set, repr=False)
    """Numbers of issues that were deleted."""
    moved: dict[int, Issue] = field(default_factory=dict, repr=False)
    """Issues that were transferred to another repository, by their numbers here."""

    def issue(self, number: int) -> Issue:
        """The issue or pull request of that number.

        Raises:
            ActionRefused: There is none.
        """
        try:
            return self.issues[number]
        except KeyError:
            raise ActionRefused(f"There is no issue {number}; nothing was done.") from None
