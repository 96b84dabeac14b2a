"""What happens to issues, and to the issue half of pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lifecycle.sandbox.state import Comment, Issue, User, World, now

if TYPE_CHECKING:
    from collections.abc import Iterable

Reason = Literal["completed", "not_planned", "duplicate"]


def new_issue(
    world: World, user: User, title: str, body: str | None, *, hidden_for: int = 0
) -> Issue:
    """Give the next number to a new issue, or to the issue half of a pull request."""
    number, node = world.new_id("I")
    made = now()
    issue = Issue(
        number, node, world.next_number(), title, body, user, made, made, hidden_for=hidden_for
    )
    world.issues[issue.number] = issue
    return issue


def close(issue: Issue, user: User, reason: Reason | None) -> None:
    """Close it; to close what is closed changes nothing but the reason."""
    if issue.state == "open":
        issue.closed_at, issue.closed_by = now(), user
    issue.state, issue.state_reason = "closed", reason
    issue.updated_at = now()


def reopen(issue: Issue) -> None:
    """Open it again; to open what is open changes nothing."""
    if issue.state == "closed":
        issue.state, issue.state_reason = "open", "reopened"
        issue.closed_at = issue.closed_by = None
        issue.updated_at = now()


def comment(world: World, issue: Issue, user: User, body: str) -> Comment:
    """Add a comment, which lists miss for as long as the world's lag says."""
    number = next(world.serial)
    made = Comment(number, user, body, now(), world.lag["comments"])
    issue.comments.append(made)
    issue.updated_at = made.created_at
    return made


def assign(world: World, issue: Issue, logins: Iterable[str]) -> None:
    """Add assignees; who is unknown is silently left out, as on GitHub.

    Source: https://docs.github.com/rest/issues/assignees#add-assignees-to-an-issue
    """
    for login in logins:
        user = world.user(login)
        if user and user.kind == "user" and user not in issue.assignees:
            issue.assignees.append(user)
            issue.updated_at = now()


def unassign(issue: Issue, logins: Iterable[str]) -> None:
    """Take assignees off; who was none stays none, without a word.

    Source: https://docs.github.com/rest/issues/assignees#remove-assignees-from-an-issue
    """
    gone = {login.lower() for login in logins}
    kept = [user for user in issue.assignees if user.login.lower() not in gone]
    if len(kept) != len(issue.assignees):
        issue.assignees, issue.updated_at = kept, now()
