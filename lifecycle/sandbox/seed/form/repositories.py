"""Repositories of a seed, their branches and rules."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from lifecycle.sandbox.accounts.state import Role
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.repositories.state import Visibility
from lifecycle.sandbox.seed.form.checks import SeedCheckRun, SeedStatus, SeedSuite, SeedWorkflow
from lifecycle.sandbox.seed.form.issues import SeedIssue, SeedLabel, SeedMilestone
from lifecycle.sandbox.seed.form.people import Form
from lifecycle.sandbox.seed.form.pulls import SeedPull


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
    """A ref that is no branch, by its whole name, and the commit that it points to.

    The commit has no parents, and no files unless some are given. Without a date it is made now.
    """

    name: str
    message: str
    files: dict[str, str | None] = {}
    author: str | None = None
    date: datetime | None = None


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

    `bundle` is the whole of its git, as base64 of a git bundle; then `files`, `branches` and `refs`
    are not looked at. `gone` are numbers of deleted issues, `moved` says where transferred ones are.
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
