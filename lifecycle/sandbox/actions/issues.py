"""What happens to issues, and to the issue half of pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from lifecycle.sandbox.state.issues import Comment, Issue, IssueEvent
from lifecycle.sandbox.state.times import now

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.state.repositories import Repository

Reason = Literal["completed", "not_planned", "duplicate"]


def new_issue(
    repo: Repository,
    user: User,
    title: str,
    body: str | None,
    *,
    hidden_for: int = 0,
    is_pull: bool = False,
) -> Issue:
    """Give the next number to a new issue, or to the issue half of a pull request."""
    number, node = repo.new_id("I")
    made = now()
    issue = Issue(
        number, node, repo, repo.next_number(), title, body, user, made, made,
        hidden_for=hidden_for, is_pull=is_pull,
    )  # fmt: skip
    repo.issues[issue.number] = issue
    if not is_pull:
        repo.world.register(node, issue)
    return issue


def note(issue: Issue, user: User, kind: str, **about: Any) -> IssueEvent:
    """Write an event into the issue's timeline, and its time on the issue."""
    number, node = issue.repository.new_id("E")
    event = IssueEvent(number, node, kind, user, now(), about)
    issue.events.append(event)
    issue.updated_at = event.created_at
    return event


def close(issue: Issue, user: User, reason: Reason | None) -> None:
    """Close it; to close what is closed changes nothing but the reason."""
    if issue.state == "open":
        issue.closed_at, issue.closed_by = now(), user
        note(issue, user, "closed", state_reason=reason)
    issue.state, issue.state_reason = "closed", reason
    issue.updated_at = now()


def reopen(issue: Issue, user: User | None = None) -> None:
    """Open it again; to open what is open changes nothing. Without a user, its author does it."""
    if issue.state == "closed":
        issue.state, issue.state_reason = "open", "reopened"
        issue.closed_at = issue.closed_by = None
        note(issue, user or issue.author, "reopened")


def comment(issue: Issue, user: User, body: str) -> Comment:
    """Add a comment, which lists miss for as long as the world's lag says."""
    repo = issue.repository
    number, node = repo.new_id("IC")
    made = now()
    written = Comment(
        number, node, issue, user, body, made, made, hidden_for=repo.world.lag["comments"]
    )
    issue.comments.append(written)
    repo.world.register(node, written)
    issue.updated_at = made
    return written


def assign(issue: Issue, logins: Iterable[str], by: User | None = None) -> None:
    """Add assignees; who is unknown is silently left out, as on GitHub.

    Source: https://docs.github.com/rest/issues/assignees#add-assignees-to-an-issue
    """
    for login in logins:
        user = issue.repository.world.user(login)
        if user and user.kind == "user" and user not in issue.assignees:
            issue.assignees.append(user)
            note(issue, by or user, "assigned", assignee=user)


def unassign(issue: Issue, logins: Iterable[str], by: User | None = None) -> None:
    """Take assignees off; who was none stays none, without a word.

    Source: https://docs.github.com/rest/issues/assignees#remove-assignees-from-an-issue
    """
    gone = {login.lower() for login in logins}
    for user in [one for one in issue.assignees if one.login.lower() in gone]:
        issue.assignees.remove(user)
        note(issue, by or user, "unassigned", assignee=user)
