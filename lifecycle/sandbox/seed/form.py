"""The form of a seed: its keys, their types and their defaults.

A seed written by hand needs only names and numbers. A dump also writes the rest (ids, times), so that the
world made from it is the dumped one. People are named by login, repositories by `owner/name`, issues of
another repository by `owner/name#number`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from lifecycle.sandbox.accounts.state import AccountKind, Role, TokenKind
from lifecycle.sandbox.boards.state import FieldType, ProjectRole
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control.faults import Measure
from lifecycle.sandbox.repositories.state import Visibility
from lifecycle.sandbox.seed.form_content import (
    Form,
    SeedCheckRun,
    SeedIssue,
    SeedLabel,
    SeedMilestone,
    SeedPull,
    SeedStatus,
    SeedSuite,
    SeedWorkflow,
)


class SeedUser(Form, frozen=True):
    """A user or a bot. `role` is their role in repositories that give them no other."""

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

    A token of kind `app` is an installation's, one of kind `actions` a workflow's: `user` is the bot that
    acts, and nobody logs in. `repositories` limits a token with permissions.
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


class SeedCommit(Form, frozen=True):
    """A commit: files by path, None deletes one. Without a date it is made now."""

    message: str
    files: dict[str, str | None]
    author: str | None = None
    date: datetime | None = None


class SeedBranch(Form, frozen=True):
    """A branch and its commits, on top of another branch."""

    name: str
    commits: list[SeedCommit] = []
    start: str | None = None


class SeedRef(Form, frozen=True):
    """A ref that is not a branch, by its full name, and its commit.

    The commit has no parents, and only the given files. Without a date it is made now.
    """

    name: str
    message: str
    files: dict[str, str | None] = {}
    author: str | None = None
    date: datetime | None = None


class SeedProtection(Form, frozen=True):
    """The requirements of branches with a name or pattern: classic protection, or a ruleset with an id.

    A ruleset may have `includes` and `excludes` instead of the pattern.
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

    `bundle` is its whole git repository, as base64 of a git bundle; then `files`, `branches` and `refs`
    are ignored. `gone` are numbers of deleted issues, `moved` says where transferred ones are.
    """

    name: str
    description: str | None = None
    default_branch: str = "main"
    visibility: Visibility = "public"
    fork_of: str | None = None
    roles: dict[str, Role] = {}
    files: dict[str, str] = msgspec.field(default_factory=lambda: {"README.md": "# Hello\n"})
    branches: list[SeedBranch] = []
    refs: list[SeedRef] = []
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
    """A choice of a single select field, if more than its name matters."""

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
    """A note on a board that is not an issue yet."""

    title: str
    body: str = ""
    creator: str | None = None
    assignees: list[str] = []
    id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedMark(Form, frozen=True):
    """Who first set a card's value and when, and when it was last changed.

    Missing values are taken from the card.
    """

    creator: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedItem(Form, frozen=True):
    """A card: the number of an issue (of `repository`, by default the first), or a draft.

    Values and marks are by field name; options and iterations are given by name.
    """

    issue: int | None = None
    values: dict[str, str | int | float] = {}
    marks: dict[str, SeedMark] = {}
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
    """A board; its default owner is the first repository's."""

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
    """A fault of the catalogue by its name, and the changed parts of it."""

    name: str
    method: str | None = None
    path: str | None = None
    operation: str | None = None
    when: Literal["before", "after"] | None = None
    count: int | None = None
    skip: int | None = None
    probability: float | None = None
    seed: int | None = None
    above: dict[Measure, int] | None = None
    spared: int | None = None


class Seed(Form, frozen=True, kw_only=True):
    """A whole world. The first token is the one on the sandbox's info line.

    `lag` says how many reads of lists omit new objects; `faults` strike from the beginning; `next_id` is
    the first unused number, and means that the seed tells the whole past, as a dump does; `ahead` is how
    many seconds the world's clock is ahead of the machine's.
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
    ahead: float = 0.0

    def with_home(self, **changes: Any) -> Seed:
        """A copy of the seed with these keys of its first repository changed."""
        first, *others = self.repositories
        return replace(self, repositories=[replace(first, **changes), *others])

    def with_board(self, **changes: Any) -> Seed:
        """A copy of the seed with these keys of its first board changed."""
        first, *others = self.projects
        return replace(self, projects=[replace(first, **changes), *others])
