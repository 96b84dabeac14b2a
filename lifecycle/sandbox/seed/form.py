"""The form of a seed: what may stand in one, and what is meant where something does not.

By hand one writes little: names and numbers. A dump writes the rest as well (ids, times), so that
the world made of it is the one that was dumped. People are named by login, repositories by
`owner/name`, issues of another repository by `owner/name#number`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from lifecycle.sandbox.state.accounts import AccountKind, Role, TokenKind
from lifecycle.sandbox.state.boards import FieldType, ProjectRole
from lifecycle.sandbox.state.checks import Annotation, PlannedCheck
from lifecycle.sandbox.state.issues import IssueState, StateReason
from lifecycle.sandbox.state.pulls import MergeMethod, QueueState, ReviewState
from lifecycle.sandbox.state.repositories import Visibility


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a seed. An unknown key is a mistake: to ignore it would give another world."""


class SeedUser(Form, frozen=True):
    """Somebody. `role` is what they may do where a repository says nothing of its own."""

    login: str
    name: str | None = None
    role: Role = "write"
    kind: AccountKind = "user"
    email: str | None = None
    id: int | None = None
    created_at: datetime | None = None


class SeedOrganization(Form, frozen=True):
    """An organization; its members see its private repositories."""

    login: str
    name: str | None = None
    members: list[str] = []
    id: int | None = None
    created_at: datetime | None = None


class SeedToken(Form, frozen=True):
    """A token of a user: OAuth scopes if classic, else `name:level` permissions.

    One of kind `app` is an installation's and one of kind `actions` a workflow's: `user` is the bot
    that acts, and nobody logs in. `repositories` limits a token of permissions.
    """

    token: str
    user: str
    scopes: list[str]
    kind: TokenKind = "classic"
    repositories: list[str] = []
    expires_at: datetime | None = None
    limit: int | None = None
    app: str | None = None


class SeedApp(Form, frozen=True):
    """A GitHub App. Its JWTs are verified with `public_key`, a PEM text."""

    slug: str
    id: int
    owner: str
    name: str | None = None
    client_id: str = ""
    public_key: str | None = None
    permissions: dict[str, str] = {}
    bot: str | None = None


class SeedInstallation(Form, frozen=True):
    """An app on an account; no repositories means all of them."""

    id: int
    app: str
    account: str
    repositories: list[str] = []
    suspended_at: datetime | None = None


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
    """An issue that is there from the beginning. `parent` and `blocked_by` name other issues."""

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
    hidden_for: int = 0
    is_pinned: bool = False
    linked_branches: list[str] = []


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
    hidden_for: int = 0


class SeedCommit(Form, frozen=True):
    """A commit: files by path, None deletes one."""

    message: str
    files: dict[str, str | None]
    author: str | None = None


class SeedBranch(Form, frozen=True):
    """A branch and its commits, on top of another branch."""

    name: str
    commits: list[SeedCommit] = []
    start: str | None = None


class SeedWorkflow(Form, frozen=True):
    """A workflow of Actions; one that is only heard of in a check need not be written."""

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
    actor: str | None = None
    id: int | None = None


class SeedSuite(Form, frozen=True):
    """A check suite, that check runs name by its id; by hand none is needed."""

    id: int
    sha: str
    branch: str | None = None
    app: str = "github-actions"
    run: SeedWorkflowRun | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedCheckRun(Form, frozen=True):
    """A check run; what belongs to one workflow, event and commit shares a suite."""

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
    log: str | None = None
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


class SeedProtection(Form, frozen=True):
    """What branches of a name or pattern demand: classic protection, or a ruleset with an id.

    A ruleset may say `includes` and `excludes` instead of the pattern.
    """

    pattern: str
    contexts: list[str] = []
    app_ids: dict[str, int] = {}
    has_checks: bool = False
    strict: bool = False
    requires_pull: bool = False
    approvals: int = 0
    dismiss_stale: bool = False
    code_owners: bool = False
    last_push_approval: bool = False
    conversation_resolution: bool = False
    linear_history: bool = False
    enforce_admins: bool = False
    allow_force_pushes: bool = False
    allow_deletions: bool = False
    block_creations: bool = False
    merge_queue: bool = False
    ruleset_id: int | None = None
    name: str = ""
    enforcement: Literal["active", "evaluate", "disabled"] = "active"
    includes: list[str] = []
    excludes: list[str] = []
    id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedRepository(Form, frozen=True):
    """A repository, `owner/name`, and the files of its first commit (path to text).

    `bundle` is the whole of its git, as base64 of a git bundle; then `files` and `branches` are
    not looked at. `gone` are numbers of deleted issues, `moved` says where transferred ones are.
    """

    name: str
    description: str | None = None
    default_branch: str = "main"
    visibility: Visibility = "public"
    fork_of: str | None = None
    roles: dict[str, Role] = {}
    files: dict[str, str] = msgspec.field(default_factory=lambda: {"README.md": "# Hello\n"})
    branches: list[SeedBranch] = []
    labels: list[SeedLabel] = []
    milestones: list[SeedMilestone] = []
    issues: list[SeedIssue] = []
    pulls: list[SeedPull] = []
    plans: list[PlannedCheck] = []
    workflows: list[SeedWorkflow] = []
    suites: list[SeedSuite] = []
    checks: list[SeedCheckRun] = []
    statuses: list[SeedStatus] = []
    protections: list[SeedProtection] = []
    required_approvals: int = 0
    renamed_from: list[str] = []
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
    topics: list[str] = []
    gone: list[int] = []
    moved: dict[int, str] = {}
    bundle: str | None = None
    id: int | None = None
    last_number: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    pushed_at: datetime | None = None


class SeedOption(Form, frozen=True):
    """A choice of a single select field, where more than its name matters."""

    name: str
    color: str = "GRAY"
    description: str = ""
    id: str | None = None


class SeedIteration(Form, frozen=True):
    """A span of an iteration field; `start` is a day, as 2026-01-31, `duration` is in days."""

    title: str
    start: str
    duration: int
    completed: bool = False
    id: str | None = None


class SeedField(Form, frozen=True):
    """A column of the board; only a SINGLE_SELECT has options, only an ITERATION iterations."""

    name: str
    type: FieldType
    options: list[str | SeedOption] = []
    iterations: list[SeedIteration] = []
    id: str | None = None
    number: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedDraft(Form, frozen=True):
    """A note on a board that is no issue yet."""

    title: str
    body: str = ""
    creator: str | None = None
    assignees: list[str] = []
    id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedItem(Form, frozen=True):
    """A card: the number of an issue (of `repository`, by default the first), or a draft.

    Values are by field name; an option or an iteration by its name.
    """

    issue: int | None = None
    values: dict[str, str | int | float] = {}
    archived: bool = False
    hidden_for: int = 0
    repository: str | None = None
    draft: SeedDraft | None = None
    creator: str | None = None
    id: str | None = None
    number: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedProject(Form, frozen=True):
    """A board, whose owner is the first repository's unless named."""

    number: int
    title: str
    fields: list[SeedField] = []
    items: list[SeedItem] = []
    owner: str | None = None
    repositories: list[str] | None = None
    is_public: bool = False
    is_template: bool = False
    collaborators: dict[str, ProjectRole] = {}
    creator: str | None = None
    short_description: str | None = None
    readme: str | None = None
    closed_at: datetime | None = None
    id: str | None = None
    database_id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedFault(Form, frozen=True, omit_defaults=True):
    """A fault of the catalogue by its name, and what is to be otherwise with it."""

    name: str
    method: str | None = None
    path: str | None = None
    operation: str | None = None
    when: Literal["before", "after"] | None = None
    count: int | None = None
    skip: int | None = None
    probability: float | None = None
    seed: int | None = None


class Seed(Form, frozen=True, kw_only=True):
    """A whole world. The first token is the one that the sandbox hands out.

    `lag` says how many reads of lists miss what is new; `faults` strike from the beginning;
    `next_id` is the first number that nothing has.
    """

    users: list[SeedUser]
    organizations: list[SeedOrganization] = []
    apps: list[SeedApp] = []
    installations: list[SeedInstallation] = []
    tokens: list[SeedToken]
    repositories: list[SeedRepository]
    projects: list[SeedProject] = []
    lag: dict[str, int] = {}
    faults: list[SeedFault] = []
    next_id: int | None = None

    def with_home(self, **changes: Any) -> Seed:
        """The same seed, but for these things of its first repository."""
        first, *others = self.repositories
        return replace(self, repositories=[replace(first, **changes), *others])

    def with_board(self, **changes: Any) -> Seed:
        """The same seed, but for these things of its first board."""
        first, *others = self.projects
        return replace(self, projects=[replace(first, **changes), *others])
