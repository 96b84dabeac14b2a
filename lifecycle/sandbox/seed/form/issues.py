"""Issues of a seed, with labels, milestones, comments and events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from lifecycle.sandbox.issues.state import IssueState, StateReason
from lifecycle.sandbox.seed.form.people import Form


class SeedLabel(Form, frozen=True):
    """A label; without a colour it gets one that follows from its name."""

    name: str
    color: str | None = None
    description: str | None = None
    id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedMilestone(Form, frozen=True):
    """A milestone."""

    number: int
    title: str
    description: str | None = None
    creator: str | None = None
    state: IssueState = "open"
    due_on: datetime | None = None
    id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    closed_at: datetime | None = None


class SeedComment(Form, frozen=True):
    """A comment of an issue or a pull request."""

    author: str
    body: str
    id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    hidden_for: int = 0


class SeedEvent(Form, frozen=True):
    """Something that happened to an issue; `about` names people, labels and issues."""

    kind: str
    actor: str
    about: dict[str, Any] = {}
    id: int | None = None
    created_at: datetime | None = None


class SeedIssue(Form, frozen=True):
    """An issue that is there from the beginning. `parent` and `blocked_by` name other issues.

    `assigned_at` is when its assignees were assigned, by default when it was made; whoever writes
    `events` may say it there.
    """

    number: int
    title: str
    body: str | None = None
    author: str | None = None
    labels: list[str] = []
    assignees: list[str] = []
    state: IssueState = "open"
    state_reason: StateReason | None = None
    milestone: int | None = None
    comments: list[SeedComment] = []
    parent: str | int | None = None
    blocked_by: list[str | int] = []
    locked: bool = False
    lock_reason: str | None = None
    events: list[SeedEvent] = []
    id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    closed_at: datetime | None = None
    closed_by: str | None = None
    assigned_at: datetime | None = None
    hidden_for: int = 0
    unread_for: int = 0
    is_pinned: bool = False
    linked_branches: list[str] = []
