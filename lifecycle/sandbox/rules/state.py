"""The state of branch protection, rulesets and merge queues."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.repositories.state import Tables


@dataclass(slots=True, eq=False)
class Protection:
    """What a branch (an exact name or a pattern of fnmatch) requires: classic protection or a ruleset.

    `contexts` are the names of required checks; `strict` requires an up-to-date head. A ruleset has a
    `ruleset_id` and a name; classic protection has neither.
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
    """For a ruleset, instead of the pattern: `~ALL`, `~DEFAULT_BRANCH`, `refs/heads/PATTERN`."""
    excludes: tuple[str, ...] = ()
    app_ids: dict[str, int] = field(default_factory=dict)
    """The app that has to report a context's check, if one is required."""
    id: int = 0
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)

    has_checks: bool = False
    """Whether checks are required although none is named."""

    @property
    def demands_checks(self) -> bool:
        """Whether checks are required at all."""
        return self.has_checks or bool(self.contexts)

    @property
    def demands_pull(self) -> bool:
        """Whether a change needs a pull request."""
        return self.requires_pull or self.approvals > 0


@dataclass(slots=True, eq=False)
class RuleTables(Tables):
    """The rules of a repository."""

    protections: list[Protection] = field(default_factory=list, repr=False)
    required_approvals: int = 0
    """A seed's number of approvals without a rule; it becomes a rule when the rules are first read."""
