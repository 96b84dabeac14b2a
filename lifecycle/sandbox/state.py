"""The world in memory: what the embedded GitHub remembers.

One lock guards it all, and whoever reads or writes holds it. These are entities, which change;
values that cross a boundary (seeds, faults, log entries) are frozen. Two entities are equal only
if they are the same one (`eq=False`).
"""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from lifecycle.sandbox.errors import ActionRefused
from lifecycle.sandbox.ids import node_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lifecycle.sandbox.gitrepo import BareRepository

Role = Literal["admin", "write", "read"]
TokenKind = Literal["classic", "fine-grained", "app"]
OwnerKind = Literal["user", "organization"]
CheckStatus = Literal["queued", "in_progress", "completed", "waiting", "requested", "pending"]
Conclusion = Literal[
    "success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required",
    "stale", "startup_failure",
]  # fmt: skip
StatusState = Literal["error", "failure", "pending", "success"]
ReviewState = Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"]


class Lagging(Protocol):
    """Something that lists may miss for a while after its creation."""

    id: int
    hidden_for: int


Shown = TypeVar("Shown", bound=Lagging)


def now() -> datetime:
    """The present in UTC at GitHub's resolution, one second."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(slots=True, eq=False)
class User:
    """Who owns, writes and merges; an organization is one that never acts."""

    id: int
    login: str
    name: str
    kind: OwnerKind
    role: Role

    @property
    def node_id(self) -> str:
        """The global id, `U_…` or `O_…`."""
        return node_id("O" if self.kind == "organization" else "U", 0, self.id)

    @property
    def can_push(self) -> bool:
        """Whether this user may write to the repository."""
        return self.kind == "user" and self.role in {"admin", "write"}


@dataclass(slots=True, eq=False)
class Token:
    """A credential. `scopes` are OAuth scopes (classic) or `name:level` permissions.

    An `app`'s is nobody's, as the one of Actions is not: `user` is then the app's bot.
    """

    value: str = field(repr=False)
    user: User
    kind: TokenKind
    scopes: frozenset[str]
    used: dict[str, int] = field(default_factory=dict)

    @property
    def refusal(self) -> str:
        """GitHub's words for a token of permissions that lacks one."""
        name = "integration" if self.kind == "app" else "personal access token"
        return f"Resource not accessible by {name}"

    def may(self, permission: str) -> bool:
        """Whether it grants, say, `issues:write`; every token reads a public repository."""
        name, level = permission.split(":")
        if self.kind != "classic":
            return f"{name}:write" in self.scopes or (level == "read" or permission in self.scopes)
        return level == "read" or bool(self.scopes & {"repo", "public_repo"})


@dataclass(slots=True, eq=False)
class Comment:
    """One comment of an issue or a pull request."""

    id: int
    author: User
    body: str
    created_at: datetime
    hidden_for: int = 0


@dataclass(slots=True, eq=False)
class Issue:
    """An issue, or the issue half of a pull request: they share one numbering."""

    id: int
    node_id: str
    number: int
    title: str
    body: str | None
    author: User
    created_at: datetime
    updated_at: datetime
    state: Literal["open", "closed"] = "open"
    state_reason: Literal["completed", "not_planned", "duplicate", "reopened"] | None = None
    labels: list[str] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    closed_at: datetime | None = None
    closed_by: User | None = None
    hidden_for: int = 0


@dataclass(slots=True, eq=False)
class Review:
    """A submitted review, of the head that the pull request had then."""

    id: int
    node_id: str
    author: User
    state: ReviewState
    body: str
    sha: str
    submitted_at: datetime


@dataclass(slots=True, eq=False)
class PullRequest:
    """The half of a pull request that an issue has not. `head_sha` outlives its branch."""

    id: int
    node_id: str
    issue: Issue
    head: str
    base: str
    head_sha: str
    base_sha: str
    draft: bool
    merged_at: datetime | None = None
    merged_by: User | None = None
    merge_sha: str | None = None
    reviews: list[Review] = field(default_factory=list)
    mergeable: bool | None = None
    judged: tuple[str, str] | None = None
    """The (head, base) that a reader asked about last; GitHub computes after the first question."""

    @property
    def number(self) -> int:
        """The number that it shares with its issue."""
        return self.issue.number

    @property
    def is_open(self) -> bool:
        """Whether it is neither closed nor merged."""
        return self.issue.state == "open"

    @property
    def hidden_for(self) -> int:
        """How many reads of lists will still miss it."""
        return self.issue.hidden_for

    @hidden_for.setter
    def hidden_for(self, reads: int) -> None:
        self.issue.hidden_for = reads


@dataclass(slots=True, eq=False)
class CheckRun:
    """A check run on a commit; a re-run is another one beside it."""

    id: int
    sha: str
    name: str
    workflow: str | None
    event: str
    status: str
    conclusion: str | None
    started_at: datetime | None
    completed_at: datetime | None
    run_id: int

    @property
    def key(self) -> tuple[str, str | None, str]:
        """What a re-run has in common with the run that it supersedes."""
        return (self.name, self.workflow, self.event)


@dataclass(slots=True, eq=False)
class CommitStatus:
    """A commit status; only the newest of a context counts."""

    id: int
    sha: str
    context: str
    state: str
    description: str | None
    created_at: datetime


@dataclass(slots=True, eq=False)
class Option:
    """A choice of a single select field."""

    id: str
    name: str


@dataclass(slots=True, eq=False)
class Field:
    """A column of the board."""

    id: str
    name: str
    data_type: Literal["TITLE", "ASSIGNEES", "TEXT", "SINGLE_SELECT"]
    options: list[Option] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Item:
    """A card: an issue or pull request on the board, with its values by field id."""

    id: str
    issue: Issue
    values: dict[str, str] = field(default_factory=dict)
    archived: bool = False


@dataclass(slots=True, eq=False)
class Project:
    """A Projects v2 board."""

    id: str
    number: int
    title: str
    owner: User
    fields: list[Field] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)

    def field_named(self, name: str) -> Field | None:
        """The field of that name (exact, as GitHub compares), or None."""
        return next((f for f in self.fields if f.name == name), None)

    def item_of(self, issue: Issue) -> Item | None:
        """The card of an issue, archived or not, or None."""
        return next((i for i in self.items if i.issue is issue), None)


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """A check that each new head of a pull request gets, after so many reads of its checks.

    With `context` it is a commit status in `state`; with `name` a check run. Two plans of the same
    name, workflow and event are two moments of one run: the later one updates the earlier.
    """

    name: str | None = None
    context: str | None = None
    status: CheckStatus = "completed"
    conclusion: Conclusion | None = "success"
    workflow: str | None = "CI"
    event: str = "pull_request"
    state: StatusState = "success"
    after_reads: int = 0


@dataclass(slots=True, eq=False)
class Arrival:
    """A planned check on its way to one head."""

    plan: PlannedCheck
    sha: str


@dataclass(slots=True, eq=False)
class World:
    """All that the sandbox knows, and the lock to hold while looking or changing."""

    owner: User
    name: str
    description: str
    default_branch: str
    git: BareRepository
    created_at: datetime = field(default_factory=now)
    users: dict[str, User] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    pulls: dict[int, PullRequest] = field(default_factory=dict)
    project: Project | None = None
    checks: list[CheckRun] = field(default_factory=list)
    statuses: list[CommitStatus] = field(default_factory=list)
    required_approvals: int = 0
    plans: tuple[PlannedCheck, ...] = ()
    arrivals: list[Arrival] = field(default_factory=list)
    rollup_reads: dict[str, int] = field(default_factory=dict)
    announced: set[str] = field(default_factory=set)
    heads: dict[str, str] = field(default_factory=dict)
    lag: dict[str, int] = field(default_factory=lambda: {"pulls": 0, "comments": 0})
    lock: threading.RLock = field(default_factory=threading.RLock)
    serial: Iterator[int] = field(default_factory=lambda: itertools.count(1_000_001))

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    @property
    def id(self) -> int:
        """The repository's number."""
        return 700_001

    @property
    def node_id(self) -> str:
        """The repository's global id."""
        return node_id("R", 0, self.id)

    def new_id(self, prefix: str) -> tuple[int, str]:
        """A number never given before, and the global id that goes with it."""
        number = next(self.serial)
        return number, node_id(prefix, self.id, number)

    def next_number(self) -> int:
        """The number of the next issue or pull request."""
        return max(self.issues, default=0) + 1

    def user(self, login: str) -> User | None:
        """The user of that login, whose case does not matter."""
        return self.users.get(login.lower())

    def human(self, login: str) -> User:
        """The user who acts.

        Raises:
            ActionRefused: Nobody is called that, or it is an organization, which does not act.
        """
        user = self.user(login)
        if user is None or user.kind != "user":
            raise ActionRefused(f"There is no user {login!r} in this world; nothing was done.")
        return user

    def issue(self, number: int) -> Issue:
        """The issue or pull request of that number.

        Raises:
            ActionRefused: There is none.
        """
        try:
            return self.issues[number]
        except KeyError:
            raise ActionRefused(f"There is no issue {number}; nothing was done.") from None

    def pull(self, number: int) -> PullRequest:
        """The pull request of that number.

        Raises:
            ActionRefused: There is none.
        """
        try:
            return self.pulls[number]
        except KeyError:
            raise ActionRefused(f"There is no pull request {number}; nothing was done.") from None

    def board(self) -> Project:
        """The board.

        Raises:
            ActionRefused: The seed made none.
        """
        if self.project is None:
            raise ActionRefused("This world has no project board; nothing was done.")
        return self.project

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
