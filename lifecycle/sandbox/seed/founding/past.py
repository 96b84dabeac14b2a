"""What a seed written by hand leaves to be understood: that somebody assigned, closed and mentioned.

A dump tells of it all, and nothing is added to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.seed.form import SeedIssue, SeedPull, SeedRepository
from lifecycle.sandbox.seed.references import moment


def understand(made: Sequence[tuple[Repository, SeedRepository]]) -> None:
    """Add the events that the issues and pull requests of repositories must have had.

    Who assigned, nobody said: the assignee is taken, who may do it.
    """
    for repo, seed in made:
        for one in seed.issues:
            _had(IssueTables.of(repo).issues[one.number], one)
        for pull in seed.pulls:
            _had(IssueTables.of(repo).issues[pull.number], pull)
        for issue in list(IssueTables.of(repo).issues.values()):
            issues.refer(issue, issue.author, issue.body, issue.created_at)
            for comment in issue.comments:
                issues.refer(issue, comment.author, comment.body, comment.created_at)
    for repo, _ in made:
        for issue in IssueTables.of(repo).issues.values():
            if len(issue.events) > 1:
                issue.events.sort(key=lambda one: one.created_at)


def _had(issue: Issue, seed: SeedIssue | SeedPull) -> None:
    _assigned(issue, seed)
    _ended(issue, seed)


def _assigned(issue: Issue, seed: SeedIssue | SeedPull) -> None:
    known = {one.about.get("assignee") for one in issue.events if one.kind == "assigned"}
    when = moment(seed.assigned_at) if seed.assigned_at else issue.created_at
    for person in issue.assignees:
        if person not in known:
            _add(issue, person, "assigned", when, assignee=person)


def _ended(issue: Issue, seed: SeedIssue | SeedPull) -> None:
    kinds = {one.kind for one in issue.events}
    merged_at: datetime | None = getattr(seed, "merged_at", None)
    if merged_at is not None and "merged" not in kinds:
        pull = PullTables.of(issue.repository).pulls[issue.number]
        by = pull.merged_by or issue.author
        _add(issue, by, "merged", moment(merged_at), commit=pull.merge_sha)
    if issue.state == "closed" and "closed" not in kinds and issue.closed_at is not None:
        by, reason = issue.closed_by or issue.author, issue.state_reason
        _add(issue, by, "closed", issue.closed_at, state_reason=reason)


def _add(issue: Issue, user: User, kind: str, when: datetime, **about: Any) -> None:
    issues.happened(issue, user, kind, about, when)
