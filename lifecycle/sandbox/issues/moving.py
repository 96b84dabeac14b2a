"""Transfer an issue to another repository, or delete it."""

from __future__ import annotations

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.boards.state import BoardTables
from lifecycle.sandbox.issues.actions import note
from lifecycle.sandbox.issues.relations import actions as relations
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.repositories.state import Repository


def delete(issue: Issue, by: User) -> None:
    """Delete an issue with its comments and cards; its number is never used again (410)."""
    repo = issue.repository
    tables = IssueTables.of(repo)
    relations.cut_loose(issue, by)
    _take_off_boards(issue)
    _take_out_of_timelines(issue)
    del tables.issues[issue.number]
    tables.gone.add(issue.number)
    repo.world.forget(issue.node_id)
    for comment in issue.comments:
        repo.world.forget(comment.node_id)


def _take_off_boards(issue: Issue) -> None:
    world = issue.repository.world
    for project in BoardTables.of(world).projects:
        card = project.item_of(issue)
        if card is not None:
            project.take(card)
            world.forget(card.id)


def _take_out_of_timelines(issue: Issue) -> None:
    """Remove the events of other issues that refer to this issue."""
    for repo in issue.repository.world.repositories.values():
        for other in IssueTables.of(repo).issues.values():
            other.events[:] = [event for event in other.events if issue not in event.about.values()]


def transfer(issue: Issue, target: Repository, by: User) -> None:
    """Move an issue to another repository, where it gets the next number.

    Comments and assignees are kept; labels and the milestone only if the target has some of the same
    name. The old address redirects to the new one (301).
    Source:
    https://docs.github.com/issues/tracking-your-work-with-issues/administering-issues/transferring-an-issue-to-another-repository
    """
    before = issue.repository
    issue_tables = IssueTables.of(before)
    del issue_tables.issues[issue.number]
    issue_tables.moved[issue.number] = issue
    titles = {
        milestone.title: milestone for milestone in IssueTables.of(target).milestones.values()
    }
    issue.labels = [
        IssueTables.of(target).labels[label.name.lower()]
        for label in issue.labels
        if label.name.lower() in IssueTables.of(target).labels
    ]
    issue.milestone = titles.get(issue.milestone.title) if issue.milestone else None
    issue.repository, issue.number = target, target.next_number()
    issue.is_pinned = False
    IssueTables.of(target).issues[issue.number] = issue
    note(issue, by, "transferred", old_repository=before.full_name)
    issue.updated_at = now()
