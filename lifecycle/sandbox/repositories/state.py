"""Repositories: their people, rules, issues, pull requests and checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.git.store.importing import import_all

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from lifecycle.sandbox.accounts.state import Role, User
    from lifecycle.sandbox.checks.state import (
        Arrival,
        CheckRun,
        CheckSuite,
        CommitStatus,
        PlannedCheck,
        Workflow,
    )
    from lifecycle.sandbox.git.store.importing import NewCommit, NewRef
    from lifecycle.sandbox.git.store.repository import BareRepository
    from lifecycle.sandbox.issues.state import Issue, Label, Milestone
    from lifecycle.sandbox.pulls.state import PullRequest, QueueEntry
    from lifecycle.sandbox.repositories.world import World

PUSHERS: frozenset[Role] = frozenset({"admin", "maintain", "write"})
TRIAGERS: frozenset[Role] = PUSHERS | {"triage"}
Visibility = Literal["public", "private"]


@dataclass(slots=True, eq=False)
class Protection:
    """What a branch (an exact name or a pattern of fnmatch) demands: classic protection or a ruleset.

    `contexts` are the names of checks that have to pass; `strict` wants the head up to date.
    A ruleset has a `ruleset_id` and a name; classic protection has neither.
    """

    pattern: str
    contexts: tuple[str, ...] = ()
    strict: bool = False
    approvals: int = 0
    dismiss_stale: bool = False
    conversation_resolution: bool = False
    enforce_admins: bool = False
    allow_force_pushes: bool = False
    merge_queue: bool = False
    ruleset_id: int | None = None
    name: str = ""
    requires_pull: bool = False
    code_owners: bool = False
    last_push_approval: bool = False
    linear_history: bool = False
    allow_deletions: bool = False
    block_creations: bool = False
    enforcement: Literal["active", "evaluate", "disabled"] = "active"
    includes: tuple[str, ...] = ()
    """Of a ruleset, instead of the pattern: `~ALL`, `~DEFAULT_BRANCH`, `refs/heads/PATTERN`."""
    excludes: tuple[str, ...] = ()
    app_ids: dict[str, int] = field(default_factory=dict)
    """The app from which the check of a context has to come, where it matters."""
    id: int = 0
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)

    has_checks: bool = False
    """Whether checks are demanded although none is named."""

    @property
    def demands_checks(self) -> bool:
        """Whether checks are demanded at all."""
        return self.has_checks or bool(self.contexts)

    @property
    def demands_pull(self) -> bool:
        """Whether a change has to come by a pull request."""
        return self.requires_pull or self.approvals > 0


@dataclass(slots=True, eq=False)
class Repository:
    """One repository. `roles` overrides, by login in lower case, what a user's own role says."""

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
    """What the first commit holds, for as long as nobody asked for the git repository."""
    bundle: str | None = field(default=None, repr=False)
    """The whole of its git instead, as base64 of a git bundle."""
    labels: dict[str, Label] = field(default_factory=dict, repr=False)
    """By name in lower case: GitHub compares them so."""
    milestones: dict[int, Milestone] = field(default_factory=dict, repr=False)
    issues: dict[int, Issue] = field(default_factory=dict, repr=False)
    pulls: dict[int, PullRequest] = field(default_factory=dict, repr=False)
    suites: list[CheckSuite] = field(default_factory=list, repr=False)
    checks: dict[str, list[CheckRun]] = field(default_factory=dict, repr=False)
    """By commit, oldest first."""
    statuses: dict[str, list[CommitStatus]] = field(default_factory=dict, repr=False)
    """By commit, oldest first."""
    protections: list[Protection] = field(default_factory=list, repr=False)
    workflows: dict[str, Workflow] = field(default_factory=dict, repr=False)
    """By name."""
    suites_by_sha: dict[str, list[CheckSuite]] = field(default_factory=dict, repr=False)
    suites_by_run: dict[int, CheckSuite] = field(default_factory=dict, repr=False)
    suites_indexed: int = 0
    """How many of `suites` the two tables above know; `checks.suites` keeps them."""
    pulls_by_head: dict[str, PullRequest] = field(default_factory=dict, repr=False)
    pulls_indexed: int = 0
    """How many of `pulls` that table knows; `checks.suites` and a push keep it."""
    queues: dict[str, list[QueueEntry]] = field(default_factory=dict, repr=False)
    """The merge queue of each base branch, first to merge first."""
    required_approvals: int = 0
    plans: tuple[PlannedCheck, ...] = ()
    arrivals: list[Arrival] = field(default_factory=list, repr=False)
    rollup_reads: dict[str, int] = field(default_factory=dict, repr=False)
    announced: set[str] = field(default_factory=set, repr=False)
    last_number: int = 0
    gone: set[int] = field(default_factory=set, repr=False)
    """Numbers of issues that were deleted."""
    moved: dict[int, Issue] = field(default_factory=dict, repr=False)
    """Issues that were transferred to another repository, by the number that they had here."""

    _git: BareRepository | None = field(default=None, repr=False)
    _heads: dict[str, str] | None = field(default=None, repr=False)

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    @property
    def key(self) -> str:
        """The full name in lower case: GitHub does not tell case apart."""
        return self.full_name.lower()

    @property
    def node_id(self) -> str:
        """The repository's global id."""
        return node_id("R", 0, self.id)

    @property
    def is_private(self) -> bool:
        """Whether only its people see it."""
        return self.visibility == "private"

    @property
    def git(self) -> BareRepository:
        """The bare repository, which is made when it is first asked for.

        Raises:
            SandboxError: git is missing or too old.
        """
        if self._git is None:
            from lifecycle.sandbox.git.store.founding import found

            self._git, _ = found(self)
        return self._git

    def grow_git(self, wanted: Sequence[NewCommit | NewRef]) -> None:
        """Make commits and refs, all at once, with the repository itself if it is new.

        Raises:
            ActionRefused: git does not take one of them.
        """
        self._heads = None
        if self._git is not None:
            import_all(self._git, wanted)
        elif wanted:
            from lifecycle.sandbox.git.store.founding import found

            self._git, self._heads = found(self, wanted)

    @property
    def has_git(self) -> bool:
        """Whether the bare repository was made already, by this process or by one before."""
        return self._git is not None or (self.world.folder / f"{self.id}.git" / "HEAD").exists()

    @property
    def heads(self) -> dict[str, str]:
        """Every ref and its commit, as they were when the world last looked."""
        if self._heads is None:
            self._heads = self.git.refs()
        return self._heads

    @heads.setter
    def heads(self, refs: dict[str, str]) -> None:
        self._heads = refs

    def role_of(self, user: User) -> Role | None:
        """What a user may do here, or None where only its people may look and this is none."""
        if user is self.owner:
            return "admin"
        given = self.roles.get(user.login.lower())
        if given is not None:
            return given
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
        """Something happened here that a waiting merge may have waited for."""
        if self not in self.world.unsettled:
            self.world.unsettled.append(self)

    def new_id(self, prefix: str) -> tuple[int, str]:
        """A number never given before, and the global id that goes with it."""
        number = next(self.world.serial)
        return number, node_id(prefix, self.id, number)

    def next_number(self) -> int:
        """The number of the next issue or pull request; it is taken with that."""
        self.last_number += 1
        return self.last_number

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
