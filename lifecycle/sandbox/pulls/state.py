"""The state of pull requests: the half beside their issue, reviews, threads, auto-merge, merge queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.repositories.state import Repository, Tables

ReviewState = Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"]
MergeMethod = Literal["merge", "squash", "rebase"]
QueueState = Literal["QUEUED", "AWAITING_CHECKS", "MERGEABLE", "UNMERGEABLE", "LOCKED"]


@dataclass(slots=True, eq=False)
class Review:
    """A review, of the head at that time; `PENDING` means that it is not submitted."""

    id: int
    node_id: str
    pull: PullRequest = field(repr=False)
    author: User
    state: ReviewState
    body: str
    sha: str
    submitted_at: datetime
    edited_at: datetime | None = None
    minimized: str | None = None


@dataclass(slots=True, eq=False)
class ReviewComment:
    """A comment on a line of a pull request's diff."""

    id: int
    node_id: str
    thread: ReviewThread = field(repr=False)
    review: Review | None = field(repr=False)
    author: User
    body: str
    created_at: datetime
    updated_at: datetime
    diff_hunk: str = ""
    reply_to: ReviewComment | None = field(default=None, repr=False)
    minimized: str | None = None
    """Why it is minimized, in GitHub's word; None if it is not."""


@dataclass(slots=True, eq=False)
class ReviewThread:
    """A conversation about one place in the diff, or without a `line` about a whole file.

    `line` is in the head `sha`; if the thread is outdated, a later head has changed that line.
    """

    id: int
    node_id: str
    pull: PullRequest = field(repr=False)
    path: str
    line: int | None
    sha: str
    side: Literal["LEFT", "RIGHT"] = "RIGHT"
    comments: list[ReviewComment] = field(default_factory=list)
    resolved_by: User | None = None
    is_outdated: bool = False
    start_line: int | None = None
    start_side: Literal["LEFT", "RIGHT"] | None = None


@dataclass(slots=True, eq=False)
class AutoMerge:
    """A merge that happens by itself as soon as the base's rules allow it."""

    enabled_by: User
    enabled_at: datetime
    method: MergeMethod
    title: str | None = None
    message: str | None = None


@dataclass(slots=True, eq=False)
class QueueEntry:
    """A pull request's place in the merge queue of its base."""

    id: int
    node_id: str
    pull: PullRequest = field(repr=False)
    enqueuer: User
    enqueued_at: datetime
    state: QueueState = "QUEUED"
    head_sha: str | None = None
    """The commit that the queue tests: the base with this and all earlier entries merged."""
    base_sha: str | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """The size of a pull request for a (base, head)."""

    pair: tuple[str, str]
    commits: int
    files: int
    additions: int
    deletions: int


@dataclass(slots=True, eq=False)
class PullRequest:
    """A pull request without its issue half. `head_sha` stays if the branch is deleted.

    `head_repository` differs from the base's for a fork, and is None if the fork was deleted.
    """

    id: int
    node_id: str
    issue: Issue
    head: str
    base: str
    head_sha: str
    base_sha: str
    draft: bool
    head_repository: Repository | None = field(default=None, repr=False)
    head_owner: User | None = None
    merged_at: datetime | None = None
    merged_by: User | None = None
    merge_sha: str | None = None
    reviews: list[Review] = field(default_factory=list)
    threads: list[ReviewThread] = field(default_factory=list)
    requested_reviewers: list[User] = field(default_factory=list)
    auto_merge: AutoMerge | None = None
    queue_entry: QueueEntry | None = None
    maintainer_can_modify: bool = False
    mergeable: bool | None = None
    test_merge_sha: str | None = None
    """The commit at refs/pull/N/merge."""
    measure: Measure | None = None
    judged: tuple[str, str] | None = None
    """The (head, base) that a reader last asked about; GitHub computes after the first question."""

    @property
    def repository(self) -> Repository:
        """The repository of its base, to which it belongs."""
        return self.issue.repository

    @property
    def number(self) -> int:
        """The number that it shares with its issue half."""
        return self.issue.number

    @property
    def is_open(self) -> bool:
        """Whether it is neither closed nor merged."""
        return self.issue.state == "open"

    @property
    def is_cross_repository(self) -> bool:
        """Whether its head is in another repository than its base."""
        return self.head_repository is not self.repository

    @property
    def hidden_for(self) -> int:
        """How many more reads of lists omit it."""
        return self.issue.hidden_for

    @hidden_for.setter
    def hidden_for(self, reads: int) -> None:
        self.issue.hidden_for = reads


@dataclass(slots=True, eq=False)
class PullTables(Tables):
    """The pull requests of a repository."""

    pulls: dict[int, PullRequest] = field(default_factory=dict, repr=False)
    pulls_by_head: dict[str, PullRequest] = field(default_factory=dict, repr=False)
    pulls_indexed: int = 0
    """The number of `pulls` in that table; `checks.suites` and a push update it."""
    queues: dict[str, list[QueueEntry]] = field(default_factory=dict, repr=False)
    """The merge queue of each base branch, first to merge first."""

    def pull(self, number: int) -> PullRequest:
        """The pull request of that number.

        Raises:
            ActionRefused: There is none.
        """
        try:
            return self.pulls[number]
        except KeyError:
            raise ActionRefused(f"There is no pull request {number}; nothing was done.") from None


def pull_of(issue: Issue) -> PullRequest | None:
    """The pull request whose issue half this is, or None for a real issue."""
    return PullTables.of(issue.repository).pulls.get(issue.number) if issue.is_pull else None
