"""Pull requests of a seed, with reviews, threads and ways to a merge."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from lifecycle.sandbox.issues.state import IssueState
from lifecycle.sandbox.pulls.state import MergeMethod, QueueState, ReviewState
from lifecycle.sandbox.seed.form.issues import SeedComment, SeedEvent
from lifecycle.sandbox.seed.form.people import Form


class SeedReview(Form, frozen=True):
    """A review, of the present head unless a commit is named."""

    author: str
    state: ReviewState
    body: str = ""
    sha: str | None = None
    id: int | None = None
    submitted_at: datetime | None = None


class SeedReviewComment(Form, frozen=True):
    """A comment in a review thread; `review` is that review's id."""

    author: str
    body: str
    review: int | None = None
    reply_to: int | None = None
    diff_hunk: str = ""
    id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedThread(Form, frozen=True):
    """A review thread about a place of the diff."""

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
    """A merge that is to happen by itself."""

    enabled_by: str
    enabled_at: datetime
    method: MergeMethod
    title: str | None = None
    message: str | None = None


class SeedQueueEntry(Form, frozen=True):
    """A place in the merge queue; the order of the queue is that of `enqueued_at` and the id."""

    enqueuer: str
    enqueued_at: datetime
    state: QueueState = "QUEUED"
    head_sha: str | None = None
    base_sha: str | None = None
    id: int | None = None


class SeedPull(Form, frozen=True):
    """A pull request from the branch `head` of `head_repository`, by default its own.

    Whoever names `head_sha` and `base_sha` says that git need not be asked.
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
