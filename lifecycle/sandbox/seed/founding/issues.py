"""Issues of a seed, and the issue halves of its pull requests."""

from __future__ import annotations

from lifecycle.sandbox.issues.labels import actions as labels
from lifecycle.sandbox.issues.state import Comment, Issue, IssueEvent, IssueTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.seed.form import SeedIssue, SeedPull
from lifecycle.sandbox.seed.references import (
    about_of,
    account,
    author,
    identity,
    issue_named,
    moment,
)


def found(repo: Repository, seed: SeedIssue) -> None:
    """Make one."""
    number, node = identity(repo, "I", seed.id)
    issue = new_issue(repo, seed, number, node)
    is_done = seed.state == "closed" and seed.state_reason is None
    issue.state_reason = "completed" if is_done else seed.state_reason
    issue.is_pinned, issue.linked_branches = seed.is_pinned, list(seed.linked_branches)
    repo.world.register(node, issue)


def new_issue(repo: Repository, seed: SeedIssue | SeedPull, number: int, node: str) -> Issue:
    """An issue, or the issue half of a pull request, with what hangs on it."""
    made = moment(seed.created_at)
    writer = author(repo, seed.author)
    ended = seed.closed_at or (seed.merged_at if isinstance(seed, SeedPull) else None)
    closed_at = (moment(ended) if ended else made) if seed.state == "closed" else None
    assigned_at = moment(seed.assigned_at) if seed.assigned_at else None
    touched = max(one for one in (made, closed_at, assigned_at) if one)
    closer = account(repo.world, seed.closed_by) if seed.closed_by else writer
    issue = Issue(
        number,
        node,
        repo,
        seed.number,
        seed.title,
        seed.body,
        writer,
        made,
        moment(seed.updated_at) if seed.updated_at else touched,
        state=seed.state,
        labels=[labels.named(repo, name) for name in seed.labels],
        assignees=[account(repo.world, login) for login in seed.assignees],
        milestone=IssueTables.of(repo).milestones[seed.milestone] if seed.milestone else None,
        closed_at=closed_at,
        closed_by=closer if closed_at else None,
        locked=seed.locked,
        lock_reason=seed.lock_reason,
        hidden_for=seed.hidden_for,
        unread_for=seed.unread_for,
    )
    IssueTables.of(repo).issues[issue.number] = issue
    repo.last_number = max(repo.last_number, issue.number)
    _talk(repo, issue, seed)
    return issue


def _talk(repo: Repository, issue: Issue, seed: SeedIssue | SeedPull) -> None:
    """Its comments and its past."""
    for said in seed.comments:
        number, node = identity(repo, "IC", said.id)
        comment = Comment(
            number, node, issue, account(repo.world, said.author), said.body,
            moment(said.created_at), moment(said.updated_at), said.hidden_for,
        )  # fmt: skip
        issue.comments.append(comment)
        repo.world.register(node, comment)
    for event in seed.events:
        number, node = identity(repo, "E", event.id)
        actor, about = account(repo.world, event.actor), dict(event.about)
        issue.events.append(
            IssueEvent(number, node, event.kind, actor, moment(event.created_at), about)
        )


def relate(repo: Repository, seed: SeedIssue) -> None:
    """Parents and blockers, which may be of another repository."""
    issue = IssueTables.of(repo).issues[seed.number]
    if seed.parent is not None:
        issue.parent = issue_named(repo, seed.parent)
        issue.parent.sub_issues.append(issue)
    for name in seed.blocked_by:
        blocker = issue_named(repo, name)
        issue.blocked_by.append(blocker)
        blocker.blocking.append(issue)


def recall(repo: Repository) -> None:
    """What events are about, now that all of it is there."""
    for issue in IssueTables.of(repo).issues.values():
        for event in issue.events:
            event.about = about_of(repo, event.about)
