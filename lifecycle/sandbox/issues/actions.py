"""Change issues and the issue half of pull requests: open, edit, close, assign, comment, lock, pin."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.issues.state import Comment, Issue, IssueEvent, IssueTables, Milestone
from lifecycle.sandbox.repositories.state import Repository

Reason = Literal["completed", "not_planned", "duplicate"]
MOST_ASSIGNEES = 10
MOST_PINNED = 3


def new_issue(
    repo: Repository,
    user: User,
    title: str,
    body: str | None,
    *,
    is_pull: bool = False,
) -> Issue:
    """Give the next number to a new issue, or to the issue half of a pull request."""
    number, node = repo.new_id("I")
    created_at, lag = now(), repo.world.lag
    issue = Issue(
        number, node, repo, repo.next_number(), title, body, user, created_at, created_at,
        hidden_for=lag["pulls" if is_pull else "issues"], unread_for=lag["reads"], is_pull=is_pull,
    )  # fmt: skip
    IssueTables.of(repo).issues[issue.number] = issue
    if not is_pull:
        repo.world.register(node, issue)
    refer(issue, user, body)
    return issue


def note(issue: Issue, user: User, kind: str, **about: Any) -> IssueEvent:
    """Append an event to the issue's timeline, and set the issue's `updated_at` to its time."""
    event = happened(issue, user, kind, about)
    issue.updated_at = event.created_at
    return event


def happened(
    issue: Issue, user: User, kind: str, about: dict[str, Any], when: datetime | None = None
) -> IssueEvent:
    """Append an event to the issue's timeline, by default with the present time; `updated_at` stays."""
    number, node = issue.repository.new_id("E")
    event = IssueEvent(number, node, kind, user, when or now(), about)
    issue.events.append(event)
    return event


def refer(source: Issue, user: User, text: str | None, when: datetime | None = None) -> None:
    """Add `cross-referenced` to the timeline of each issue that a text names, by default as of now.

    Once for each source, however often it names the issue; the issue does not count as updated:
    https://github.com/josegonzalez/python-github-backup/pull/528 and
    https://github.com/kubernetes/test-infra/issues/6267.
    """
    for target in issues_in(source.repository, text):
        is_known = any(
            event.kind == "cross-referenced" and event.about.get("source") is source
            for event in target.events
        )
        if target is not source and not is_known:
            happened(target, user, "cross-referenced", {"source": source}, when)


def touch(issue: Issue) -> None:
    """Set the issue's `updated_at` to now."""
    issue.updated_at = now()


def rename(issue: Issue, user: User, title: str) -> None:
    """Set the issue's title; if it is different, this is noted in its timeline."""
    if title != issue.title:
        note(issue, user, "renamed", old=issue.title, new=title)
        issue.title = title


def rewrite(issue: Issue, user: User, body: str | None) -> None:
    """Set the issue's text, and note it in the issues that the text names."""
    if body != issue.body:
        issue.body, issue.updated_at = body, now()
        refer(issue, user, body)


def close(issue: Issue, user: User, reason: Reason | None, **by: Any) -> None:
    """Close an issue; if it is closed already, only the reason and `updated_at` change.

    Args:
        issue: The issue to close.
        user: Who does it.
        reason: Why.
        **by: What closed it, unless it was a person: `commit`, a sha, or `closer`, the issue half of a
            pull request.
    """
    if issue.state == "open":
        issue.closed_at, issue.closed_by = now(), user
        note(issue, user, "closed", state_reason=reason, **by)
    issue.state, issue.state_reason = "closed", reason
    issue.updated_at = now()


def reopen(issue: Issue, user: User | None = None) -> None:
    """Reopen a closed issue; without a user, its author does it. An open one stays as it is."""
    if issue.state == "closed":
        issue.state, issue.state_reason = "open", "reopened"
        issue.closed_at = issue.closed_by = None
        note(issue, user or issue.author, "reopened")


def comment(issue: Issue, user: User, body: str) -> Comment:
    """Add a comment; lists omit it for as many reads as the world's lag says."""
    repo = issue.repository
    number, node = repo.new_id("IC")
    created_at = now()
    written = Comment(
        number, node, issue, user, body, created_at, created_at,
        hidden_for=repo.world.lag["comments"],
    )  # fmt: skip
    issue.comments.append(written)
    repo.world.register(node, written)
    issue.updated_at = created_at
    refer(issue, user, body)
    return written


def edit_comment(comment: Comment, user: User, body: str) -> None:
    """Set a comment's text, and note it in the issues that the text names."""
    if body != comment.body:
        comment.body, comment.updated_at = body, now()
        refer(comment.issue, user, body)


def remove_comment(comment: Comment) -> None:
    """Delete a comment."""
    comment.issue.comments.remove(comment)
    comment.issue.repository.world.forget(comment.node_id)
    comment.issue.updated_at = now()


def assign(issue: Issue, logins: Iterable[str], by: User | None = None) -> None:
    """Add assignees; unknown users, and those after the tenth, are silently ignored, as on GitHub.

    Source: https://docs.github.com/rest/issues/assignees#add-assignees-to-an-issue
    """
    for login in logins:
        user = issue.repository.world.user(login)
        is_full = len(issue.assignees) >= MOST_ASSIGNEES
        if user and user.kind == "user" and user not in issue.assignees and not is_full:
            issue.assignees.append(user)
            note(issue, by or user, "assigned", assignee=user)


def unassign(issue: Issue, logins: Iterable[str], by: User | None = None) -> None:
    """Remove assignees; logins of users who are not assigned are ignored.

    Source: https://docs.github.com/rest/issues/assignees#remove-assignees-from-an-issue
    """
    gone = {login.lower() for login in logins}
    for user in [assignee for assignee in issue.assignees if assignee.login.lower() in gone]:
        issue.assignees.remove(user)
        note(issue, by or user, "unassigned", assignee=user)


def set_assignees(issue: Issue, users: Iterable[User], by: User) -> None:
    """Replace the issue's assignees by these users."""
    wanted = list(users)
    unassign(issue, [assignee.login for assignee in issue.assignees if assignee not in wanted], by)
    assign(issue, [user.login for user in wanted], by)


def may_be_assigned(repo: Repository, user: User) -> bool:
    """Whether a user can be assigned: by a role in the repository, or as a member of its owner.

    Source:
    https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/assigning-issues-and-pull-requests-to-other-github-users
    """
    if user.kind != "user" or repo.role_of(user) is None:
        return False
    return repo.can_triage(user) or user in repo.owner.members or user.login.lower() in repo.roles


def set_milestone(issue: Issue, milestone: Milestone | None, by: User) -> None:
    """Set an issue's milestone; None removes it."""
    before = issue.milestone
    if milestone is before:
        return
    issue.milestone = milestone
    if before is not None:
        note(issue, by, "demilestoned", milestone=before)
    if milestone is not None:
        note(issue, by, "milestoned", milestone=milestone)


def lock(issue: Issue, by: User, reason: str | None) -> None:
    """Lock an issue: only users who may triage can comment."""
    if not issue.locked:
        note(issue, by, "locked", lock_reason=reason)
    issue.locked, issue.lock_reason = True, reason


def unlock(issue: Issue, by: User) -> None:
    """Unlock an issue: everybody can comment again."""
    if issue.locked:
        note(issue, by, "unlocked")
    issue.locked, issue.lock_reason = False, None


def pin(issue: Issue, by: User) -> bool:
    """Pin an issue to the top of the repository's list; False if three are pinned already."""
    pinned = [
        candidate
        for candidate in IssueTables.of(issue.repository).issues.values()
        if candidate.is_pinned
    ]
    if issue.is_pinned:
        return True
    if len(pinned) >= MOST_PINNED:
        return False
    issue.is_pinned = True
    note(issue, by, "pinned")
    return True


def unpin(issue: Issue, by: User) -> None:
    """Unpin an issue."""
    if issue.is_pinned:
        issue.is_pinned = False
        note(issue, by, "unpinned")


ISSUE = re.compile(
    r"(?<![\w/#])(?:(?P<repo>[\w.-]+/[\w.-]+))?#(?P<number>\d+)\b"
    r"|(?<![\w/-])GH-(?P<short>\d+)\b"
    r"|https?://[^/\s]+/(?P<place>[\w.-]+/[\w.-]+)/(?:issues|pull)/(?P<linked>\d+)\b"
)
CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
"""Blocks and spans of code, which contain no references."""
PERSON = re.compile(r"(?<![\w@/.])@(?P<login>[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?![\w/])")


def issues_in(repo: Repository, text: str | None) -> list[Issue]:
    """The issues and pull requests that a text in a repository names, without duplicates.

    By `#1`, `GH-1`, `owner/name#1` or the address of their page; not in code
    (https://github.com/go-gitea/gitea/issues/8397 says this of GitHub, too).
    Source:
    https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
    """
    issues_by_id: dict[int, Issue] = {}
    if not text or not ("#" in text or "/" in text or "GH-" in text):
        return []
    for match in ISSUE.finditer(CODE.sub(" ", text) if "`" in text else text):
        name = match["repo"] or match["place"]
        repository = repo.world.repository(name) if name else repo
        number = int(match["number"] or match["short"] or match["linked"])
        issue = IssueTables.of(repository).issues.get(number) if repository else None
        if issue is not None:
            issues_by_id[issue.id] = issue
    return list(issues_by_id.values())


def logins_in(text: str | None) -> set[str]:
    """The logins, in lower case, that a text mentions."""
    return {match["login"].lower() for match in PERSON.finditer(text or "")}


def mentions(issue: Issue, login: str) -> bool:
    """Whether an issue or a comment on it mentions somebody."""
    wanted = f"@{login.lower()}"
    texts = [issue.body, *(comment.body for comment in issue.comments)]
    return any(wanted in (t or "").lower() and login.lower() in logins_in(t) for t in texts)
