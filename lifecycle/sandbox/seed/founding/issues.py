"""Issues of a seed, the issue halves of its pull requests, and the events that a seed omits.

A seed written by hand does not say who assigned, closed and mentioned. A dump says all of it, and nothing
is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues.labels import actions as labels
from lifecycle.sandbox.issues.state import Comment, Issue, IssueEvent, IssueTables
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.seed.form import SeedRepository
from lifecycle.sandbox.seed.form_content import SeedIssue, SeedPull
from lifecycle.sandbox.seed.references import (
    about_of,
    account,
    account_or_none,
    author,
    grown,
    identity,
    issue_named,
    moment,
    registered,
)


def found(repo: Repository, seed: SeedIssue) -> None:
    """Make an issue of a seed in its repository."""
    issue = new_issue(repo, seed, seed.id)
    if seed.state == "closed" and seed.state_reason is None:
        issue.state_reason = "completed"
    repo.world.register(issue.node_id, issue)


def new_issue(repo: Repository, seed: SeedIssue | SeedPull, number: int | None) -> Issue:
    """Make an issue, or the issue half of a pull request, with its comments and events."""
    ids, tables = identity(repo, "I", number), IssueTables.of(repo)
    created_at = moment(seed.created_at)
    writer = author(repo, seed.author)
    ended = seed.closed_at or (seed.merged_at if isinstance(seed, SeedPull) else None)
    closed_at = (moment(ended) if ended else created_at) if seed.state == "closed" else None
    assigned_at = moment(seed.assigned_at) if seed.assigned_at else None
    touched = max(time for time in (created_at, closed_at, assigned_at) if time)
    closer = account_or_none(repo.world, seed.closed_by) or writer
    issue = grown(
        Issue,
        seed,
        **ids,
        repository=repo,
        author=writer,
        created_at=created_at,
        updated_at=moment(seed.updated_at) if seed.updated_at else touched,
        labels=[labels.named(repo, name) for name in seed.labels],
        assignees=[account(repo.world, login) for login in seed.assignees],
        milestone=tables.milestones[seed.milestone] if seed.milestone else None,
        closed_at=closed_at,
        closed_by=closer if closed_at else None,
        **{name: [] for name in ("comments", "events", "blocked_by")},
        parent=None,
    )
    tables.issues[issue.number] = issue
    repo.last_number = max(repo.last_number, issue.number)
    _talk(repo, issue, seed)
    return issue


def _talk(repo: Repository, issue: Issue, seed: SeedIssue | SeedPull) -> None:
    """Add the comments and events of a seed to an issue."""
    for form in seed.comments:
        writer = account(repo.world, form.author)
        comment = registered(repo, "IC", form.id, Comment, form, issue=issue, author=writer)
        issue.comments.append(comment)
    for event in seed.events:
        ids = identity(repo, "E", event.id)
        issue.events.append(grown(IssueEvent, event, **ids, actor=account(repo.world, event.actor)))


def relate(repo: Repository, seed: SeedIssue) -> None:
    """Link an issue to its parent and blockers, which may be in another repository."""
    issue = IssueTables.of(repo).issues[seed.number]
    if seed.parent is not None:
        issue.parent = issue_named(repo, seed.parent)
        issue.parent.sub_issues.append(issue)
    for name in seed.blocked_by:
        blocker = issue_named(repo, name)
        issue.blocked_by.append(blocker)
        blocker.blocking.append(issue)


def recall(repo: Repository) -> None:
    """Replace the names in all events by the entities, which all exist by now."""
    for issue in IssueTables.of(repo).issues.values():
        for event in issue.events:
            event.about = about_of(repo, event.about)


def understand(pairs: Sequence[tuple[Repository, SeedRepository]]) -> None:
    """Add the events that the issues and pull requests of repositories must have had.

    A seed does not say who assigned somebody: the assignee is used, who may do it.
    """
    for repo, seed in pairs:
        for seed_issue in seed.issues:
            _had(IssueTables.of(repo).issues[seed_issue.number], seed_issue)
        for pull in seed.pulls:
            _had(IssueTables.of(repo).issues[pull.number], pull)
        for issue in list(IssueTables.of(repo).issues.values()):
            issues.refer(issue, issue.author, issue.body, issue.created_at)
            for comment in issue.comments:
                issues.refer(issue, comment.author, comment.body, comment.created_at)
    for repo, _ in pairs:
        for issue in IssueTables.of(repo).issues.values():
            if len(issue.events) > 1:
                issue.events.sort(key=lambda event: event.created_at)


def _had(issue: Issue, seed: SeedIssue | SeedPull) -> None:
    _assigned(issue, seed)
    _ended(issue, seed)


def _assigned(issue: Issue, seed: SeedIssue | SeedPull) -> None:
    known = {event.about.get("assignee") for event in issue.events if event.kind == "assigned"}
    when = moment(seed.assigned_at) if seed.assigned_at else issue.created_at
    for person in issue.assignees:
        if person not in known:
            _add(issue, person, "assigned", when, assignee=person)


def _ended(issue: Issue, seed: SeedIssue | SeedPull) -> None:
    kinds = {event.kind for event in issue.events}
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
