"""The content of a seed's repository: issues, pull requests and checks, with their parts."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

from lifecycle.sandbox.checks.state import Annotation, Step
from lifecycle.sandbox.issues.state import IssueState, StateReason
from lifecycle.sandbox.pulls.state import MergeMethod, QueueState, ReviewState


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a seed. An unknown key is an error: ignoring it would make another world."""


class SeedLabel(Form, frozen=True):
    """A label; without a colour, it gets one derived from its name."""

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
    minimized: str | None = None


class SeedEvent(Form, frozen=True):
    """Something that happened to an issue; `about` names people, labels and issues."""

    kind: str
    actor: str
    about: dict[str, Any] = {}
    id: int | None = None
    created_at: datetime | None = None


class SeedIssue(Form, frozen=True):
    """An issue that exists from the beginning. `parent` and `blocked_by` name other issues.

    `assigned_at` is the time at which its assignees were assigned, by default its creation; if you write
    `events`, you can give the time there.
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


class SeedReview(Form, frozen=True):
    """A review, by default of the present head."""

    author: str
    state: ReviewState
    body: str = ""
    sha: str | None = None
    id: int | None = None
    submitted_at: datetime | None = None
    edited_at: datetime | None = None
    minimized: str | None = None


class SeedReviewComment(Form, frozen=True):
    """A comment in a review thread; `review` is its review's id."""

    author: str
    body: str
    review: int | None = None
    reply_to: int | None = None
    diff_hunk: str = ""
    id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    minimized: str | None = None


class SeedThread(Form, frozen=True):
    """A review thread about a place in the diff."""

    path: str
    line: int | None = None
    sha: str | None = None
    side: Literal["LEFT", "RIGHT"] = "RIGHT"
    start_line: int | None = None
    start_side: Literal["LEFT", "RIGHT"] | None = None
    comments: list[SeedReviewComment] = []
    resolved_by: str | None = None
    is_outdated: bool = False
    id: int | None = None


class SeedAutoMerge(Form, frozen=True):
    """Auto-merge that is enabled for a pull request."""

    enabled_by: str
    enabled_at: datetime
    method: MergeMethod
    title: str | None = None
    message: str | None = None


class SeedQueueEntry(Form, frozen=True):
    """A place in the merge queue; the queue is ordered by `enqueued_at` and the id."""

    enqueuer: str
    enqueued_at: datetime
    state: QueueState = "QUEUED"
    head_sha: str | None = None
    base_sha: str | None = None
    id: int | None = None


class SeedPull(Form, frozen=True):
    """A pull request from the branch `head` of `head_repository`, by default its own.

    With `head_sha` and `base_sha`, git is not asked for them.
    """

    number: int
    title: str
    head: str
    base: str | None = None
    body: str | None = None
    author: str | None = None
    draft: bool = False
    labels: list[str] = []
    assignees: list[str] = []
    milestone: int | None = None
    comments: list[SeedComment] = []
    reviews: list[SeedReview] = []
    threads: list[SeedThread] = []
    requested_reviewers: list[str] = []
    state: IssueState = "open"
    merged_at: datetime | None = None
    merged_by: str | None = None
    merge_sha: str | None = None
    head_repository: str | None = None
    head_owner: str | None = None
    head_sha: str | None = None
    base_sha: str | None = None
    mergeable: bool | None = None
    test_merge_sha: str | None = None
    maintainer_can_modify: bool = False
    auto_merge: SeedAutoMerge | None = None
    queue_entry: SeedQueueEntry | None = None
    locked: bool = False
    lock_reason: str | None = None
    events: list[SeedEvent] = []
    id: int | None = None
    issue_id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    closed_at: datetime | None = None
    closed_by: str | None = None
    assigned_at: datetime | None = None
    hidden_for: int = 0
    unread_for: int = 0


class SeedWorkflow(Form, frozen=True):
    """A workflow of Actions; one that a check names need not be written here."""

    name: str
    state: Literal["active", "disabled_manually"] = "active"
    last_number: int = 0
    id: int | None = None
    created_at: datetime | None = None


class SeedWorkflowRun(Form, frozen=True):
    """A run of a workflow."""

    workflow: str
    event: str
    number: int = 1
    attempt: int = 1
    held: bool = False
    unread: bool = False
    actor: str | None = None
    id: int | None = None


class SeedSuite(Form, frozen=True):
    """A check suite, which check runs name by its id; a seed written by hand needs none."""

    id: int
    sha: str
    branch: str | None = None
    app: str = "github-actions"
    run: SeedWorkflowRun | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedCheckRun(Form, frozen=True):
    """A check run; check runs of one workflow, event and commit share a suite."""

    sha: str
    name: str
    status: str = "completed"
    conclusion: str | None = "success"
    workflow: str | None = None
    event: str = "pull_request"
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Annotation] = []
    actions: list[dict[str, Any]] = []
    external_id: str = ""
    details_url: str | None = None
    steps: list[Step] = []
    log: str | None = None
    log_is_gone: bool = False
    started_at: datetime | None = None
    completed_at: datetime | None = None
    attempt: int = 1
    id: int | None = None
    suite: int | None = None


class SeedStatus(Form, frozen=True):
    """A commit status."""

    sha: str
    context: str
    state: str
    description: str | None = None
    creator: str | None = None
    target_url: str | None = None
    id: int | None = None
    created_at: datetime | None = None
