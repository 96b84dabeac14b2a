"""The state of pull requests: what an issue lacks, reviews, threads, auto-merge, the merge queue."""

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
    """A submitted review, of the head that the pull request had then; `PENDING` is not submitted."""

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
    """Why it is folded away, as GitHub words it; None if it is not."""


@dataclass(slots=True, eq=False)
class ReviewThread:
    """A conversation about one place of the diff, or with no `line` about a whole file.

    `line` was named when the head was `sha`; of an outdated thread, the head has changed that line.
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
    """A merge that happens by itself as soon as the base's rules let it."""

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
    """The commit that the queue tests: the base with this and all before it merged."""
    base_sha: str | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """How large a pull request is at a (base, head)."""

    pair: tuple[str, str]
    commits: int
    files: int
    additions: int
    deletions: int


@dataclass(slots=True, eq=False)
class PullRequest:
    """What a pull request has beside its issue half. `head_sha` stays when the branch is gone.

    `head_repository` is another than the base's for a fork, and None when the fork was deleted.
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
    """The (head, base) that a reader asked about last; GitHub computes after the first question."""

    @property
    def repository(self) -> Repository:
        """The repository of its base, where it lives."""
        return self.issue.repository

    @property
    def number(self) -> int:
        """The number that it shares with its issue."""
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
        """How many reads of lists will still miss it."""
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
    """How many of `pulls` that table knows; `checks.suites` and a push keep it."""
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
