"""Make, close, delete and count the milestones of a repository."""

from __future__ import annotations

from datetime import datetime

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.issues.state import IssueState, IssueTables, Milestone
from lifecycle.sandbox.repositories.state import Repository


def make(
    repo: Repository,
    by: User,
    title: str,
    *,
    description: str | None = None,
    due_on: datetime | None = None,
) -> Milestone:
    """Add a milestone with the next number of its own."""
    tables = IssueTables.of(repo)
    number, node = repo.new_id("MI")
    created_at = now()
    milestone = Milestone(
        number, node, max(tables.milestones, default=0) + 1, title, description, by,
        created_at, created_at,
        due_on=due_on, repository=repo,
    )  # fmt: skip
    tables.milestones[milestone.number] = milestone
    repo.world.register(node, milestone)
    return milestone


def titled(repo: Repository, title: str) -> Milestone | None:
    """The milestone of that title, ignoring case, or None."""
    wanted = title.casefold()
    return next(
        (m for m in IssueTables.of(repo).milestones.values() if m.title.casefold() == wanted), None
    )


def set_state(milestone: Milestone, state: IssueState) -> None:
    """Open or close a milestone."""
    if state != milestone.state:
        milestone.state = state
        milestone.closed_at = now() if state == "closed" else None


def delete(repo: Repository, milestone: Milestone) -> None:
    """Delete a milestone, also from its issues."""
    tables = IssueTables.of(repo)
    del tables.milestones[milestone.number]
    repo.world.forget(milestone.node_id)
    for issue in tables.issues.values():
        if issue.milestone is milestone:
            issue.milestone = None


def counts(repo: Repository) -> dict[int, tuple[int, int]]:
    """The numbers of open and closed issues of each milestone, by its id."""
    tables = IssueTables.of(repo)
    totals = {milestone.id: (0, 0) for milestone in tables.milestones.values()}
    for issue in tables.issues.values():
        if issue.milestone is not None:
            opened, closed = totals[issue.milestone.id]
            is_open = issue.state == "open"
            totals[issue.milestone.id] = (opened + is_open, closed + (not is_open))
    return totals
