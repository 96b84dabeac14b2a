"""Frozen values: what is known of an issue, a pull request, its checks, a board.

No provider's type appears here, and nothing here reads a clock, a file or the network. Times are
seconds since the epoch (UTC) as floats; `None` means that GitHub did not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository by its two names, as in `owner/name`."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


class PullState(StrEnum):
    """A pull request's state, as GraphQL's PullRequestState spells it."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    MERGED = "MERGED"


class Bucket(StrEnum):
    """What a check run or a commit status amounts to, once its many values are sorted."""

    PASS = "pass"  # noqa: S105 -- a check's bucket, not a password
    FAIL = "fail"
    CANCELLED = "cancelled"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Check:
    """The newest run of one check on one commit."""

    name: str
    bucket: Bucket
    workflow: str = ""
    event: str = ""
    started_at: float | None = None
    url: str = ""
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class Checks:
    """All that has registered on one head commit, superseded runs already dropped.

    Attributes:
        sha: the head commit that they belong to.
        runs: one `Check` per (name, workflow, event).
        is_complete: False if GitHub did not show all of them, so that green cannot be concluded.
    """

    sha: str
    runs: tuple[Check, ...] = ()
    is_complete: bool = True

    def count(self, *buckets: Bucket) -> int:
        """How many runs lie in any of `buckets`."""
        return sum(run.bucket in buckets for run in self.runs)

    @property
    def failed(self) -> tuple[Check, ...]:
        """Failed and cancelled runs, in name order: a cancelled check counts as failed."""
        bad = [run for run in self.runs if run.bucket in (Bucket.FAIL, Bucket.CANCELLED)]
        return tuple(sorted(bad, key=lambda run: run.name))

    @property
    def is_green(self) -> bool:
        """True if at least one check registered, all are known, and every one passed."""
        return (
            self.is_complete
            and bool(self.runs)
            and all(run.bucket is Bucket.PASS for run in self.runs)
        )


@dataclass(frozen=True, slots=True)
class Review:
    """One submitted review.

    Attributes:
        id: GitHub's global id: another review of the same author has another one.
        author: a login, "" if the account is gone.
        state: as GraphQL's PullRequestReviewState spells it.
        sha: the head that it was given for, "" if GitHub does not know it any more.
    """

    id: str
    author: str
    state: str
    submitted_at: float | None = None
    url: str = ""
    sha: str = ""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One pull request. `checks` is None if they were not asked for.

    Attributes:
        review_decision: GitHub's own verdict, "" where the base branch requires no review: then
            changes may be requested all the same.
        changes_requested: the reviews that ask for changes now, each the last opinion of somebody
            who may write to the repository, the oldest first.
    """

    number: int
    url: str
    title: str
    state: PullState
    branch: str
    head_owner: str
    head_sha: str
    base: str = ""
    body: str = ""
    is_draft: bool = False
    mergeable: str = "UNKNOWN"
    merged_at: float | None = None
    checks: Checks | None = None
    review_decision: str = ""
    changes_requested: tuple[Review, ...] = ()


@dataclass(frozen=True, slots=True)
class Comment:
    """An issue comment."""

    id: int
    body: str


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue. `comments` is None if they were not asked for, else the newest hundred."""

    number: int
    id: str
    title: str
    url: str
    is_open: bool
    state_reason: str = ""
    assignees: tuple[str, ...] = ()
    comments: tuple[Comment, ...] | None = None


@dataclass(frozen=True, slots=True)
class BoardItem:
    """An issue's item on one project: its id and the two fields that the claim keeps true."""

    id: str
    status: str | None = None
    agent: str | None = None
    is_archived: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A board item together with the issue on it, for choosing the next task."""

    item: BoardItem
    number: int
    title: str
    url: str
    repository: str
    is_open: bool
    priority: str | None = None
    readiness: str | None = None
    dependencies: str | None = None


@dataclass(frozen=True, slots=True)
class BoardBrief:
    """A board as a session's first lines show it.

    Attributes:
        cards: every issue's card that was read, archived ones left out, in the board's order;
            `Card.url`, `readiness` and `dependencies` are not read.
        total: how many items the board has, drafts and pull requests among them.
        is_complete: False if the time was up before the last page: then counts are lower bounds.
    """

    title: str
    cards: tuple[Card, ...]
    total: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class BoardField:
    """A project field; `options` maps option names to ids, and is empty for a text field."""

    id: str
    name: str
    kind: str
    options: tuple[tuple[str, str], ...] = ()

    def option(self, name: str) -> str | None:
        """The id of the option called `name`: exactly, else without regard to case."""
        for wanted in (name, name.casefold()):
            for known, option_id in self.options:
                if wanted in (known, known.casefold()):
                    return option_id
        return None


@dataclass(frozen=True, slots=True)
class BoardSchema:
    """A project's ids: what has to be known before a field can be written. Cached in state.json."""

    project_id: str
    title: str
    url: str
    viewer: str
    fields: tuple[BoardField, ...]

    def field(self, name: str) -> BoardField | None:
        """The field called `name`, or None if the project has none."""
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True, slots=True)
class Look:
    """What one observation of a claim has to fetch; whatever is False costs nothing."""

    issue: int
    branch: str
    pr_number: int | None = None
    checks: bool = False
    comments: bool = False
    board: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """What GitHub showed in one read.

    Attributes:
        issue: None if GitHub knows no such issue (or hides it).
        by_number: the pull request that `Look.pr_number` named, or None if there is none.
        by_branch: the newest ten whose head branch has the claim's name, in any state, newest
            first, and from any owner: match `head_owner` before trusting one.
        item: the issue's item on the configured project, None if it has none or was not asked for.
        board_problem: why the board could not be read, as a sentence, or None.
    """

    repository: str
    default_branch: str
    issue: Issue | None
    by_number: PullRequest | None = None
    by_branch: tuple[PullRequest, ...] = ()
    item: BoardItem | None = None
    board_problem: str | None = None


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What GitHub and its own looks say about a token. Never the token itself.

    Attributes:
        login: whose it is, "" for a token that is no user's (an app's, or that of Actions).
        kind: `classic`, `fine-grained`, `oauth`, `app`, `actions` or `unknown`.
        scopes: the OAuth scopes, None where a token has permissions instead.
        server_time: GitHub's clock as it answered.
        limit, remaining: the REST requests of an hour, and how many are left.
        permissions: what GitHub said that it wants where it refused, "" if it said nothing.
    """

    login: str
    kind: str
    scopes: tuple[str, ...] | None = None
    server_time: float | None = None
    limit: int | None = None
    remaining: int | None = None
    permissions: str = ""


@dataclass(frozen=True, slots=True)
class RepositoryAccess:
    """What the token's owner may do in the repository, and what the repository is like.

    Attributes:
        name: as GitHub has it now: another one than asked for if it was renamed.
        can_push, can_triage: None if GitHub did not say, as for a token that is no user's. A
            token may still be allowed less than its owner.
    """

    name: str
    default_branch: str
    can_push: bool | None = None
    can_triage: bool | None = None
    is_private: bool = False
    has_issues: bool = True
    is_archived: bool = False
