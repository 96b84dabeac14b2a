"""Relations between issues: parents and sub-issues, blockers and blocked issues.

Sources: https://docs.github.com/rest/issues/sub-issues,
https://docs.github.com/rest/issues/issue-dependencies,
https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/adding-sub-issues
"""

from __future__ import annotations

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.issues.actions import note
from lifecycle.sandbox.issues.state import Issue

MOST_SUB_ISSUES = 100
DEEPEST = 8
MOST_DEPENDENCIES = 50
"""Of each kind: https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/creating-issue-dependencies"""

ADDING_SUB = "An error occurred while adding the sub-issue to the parent issue. "
ADDING_BLOCKER = "An error occurred while adding the blocking issue to the issue. "


def add_sub_issue(parent: Issue, child: Issue, by: User, *, replace_parent: bool = False) -> None:
    """Make `child` a sub-issue of `parent`.

    Raises:
        ActionRefused: In GitHub's words, as clients in public quote them: it is a sub-issue already (of
            this or another issue), or the tree would be a circle, too wide or too deep.
    """
    if child.parent is parent:
        raise ActionRefused(
            f"{ADDING_SUB}Issue may not contain duplicate sub-issues and Sub issue may only have one parent"
        )
    if child.parent is not None and not replace_parent:
        raise ActionRefused(f"{ADDING_SUB}Sub issue may only have one parent")
    if child.is_pull or parent.is_pull:
        raise ActionRefused(f"{ADDING_SUB}Sub issue cannot be a pull request")
    if child is parent or child in _line(parent):
        raise ActionRefused(f"{ADDING_SUB}Sub issue cannot create a circular dependency")
    if len(parent.sub_issues) >= MOST_SUB_ISSUES:
        raise ActionRefused(
            f"{ADDING_SUB}Parent cannot have more than {MOST_SUB_ISSUES} sub-issues"
        )
    if len(_line(parent)) + 1 + _height(child) > DEEPEST:
        raise ActionRefused(
            f"{ADDING_SUB}Sub issue cannot be added more than {DEEPEST} layers deep"
        )
    if child.parent is not None:
        remove_sub_issue(child.parent, child, by)
    child.parent = parent
    parent.sub_issues.append(child)
    note(parent, by, "sub_issue_added", sub_issue=child)
    note(child, by, "parent_issue_added", parent_issue=parent)


def _line(issue: Issue) -> list[Issue]:
    """The parents of an issue, up to the top."""
    ancestors, above = [], issue.parent
    while above is not None:
        ancestors.append(above)
        above = above.parent
    return ancestors


def _height(issue: Issue) -> int:
    return 1 + max((_height(child) for child in issue.sub_issues), default=0)


def remove_sub_issue(parent: Issue, child: Issue, by: User) -> None:
    """Remove a sub-issue from its parent."""
    child.parent = None
    parent.sub_issues.remove(child)
    note(parent, by, "sub_issue_removed", sub_issue=child)
    note(child, by, "parent_issue_removed", parent_issue=parent)


def move_sub_issue(child: Issue, *, after: Issue | None, before: Issue | None) -> None:
    """Move a sub-issue right after or right before one of its siblings."""
    parent = child.parent
    beside = after or before
    if parent is None or beside is None or beside is child:
        return
    parent.sub_issues.remove(child)
    place = parent.sub_issues.index(beside) + (1 if after else 0)
    parent.sub_issues.insert(place, child)


def block(issue: Issue, blocker: Issue, by: User) -> None:
    """Make an issue blocked by another.

    Raises:
        ActionRefused: It is blocked by it already, both are the same, the other one is blocked by it, or
            there are too many. The words for "already" are GitHub's; for the others none were found in
            public.
    """
    if blocker in issue.blocked_by:
        raise ActionRefused(
            f"{ADDING_BLOCKER}Validation failed: Target issue has already been taken"
        )
    if issue is blocker:
        raise ActionRefused(
            f"{ADDING_BLOCKER}Validation failed: Target issue cannot be the same as the source issue"
        )
    if issue.is_pull or blocker.is_pull:
        raise ActionRefused(f"{ADDING_BLOCKER}Validation failed: Target issue must be an issue")
    if _reaches(blocker, issue):
        raise ActionRefused(
            f"{ADDING_BLOCKER}Validation failed: Target issue cannot create a circular dependency"
        )
    if max(len(issue.blocked_by), len(blocker.blocking)) >= MOST_DEPENDENCIES:
        raise ActionRefused(
            f"{ADDING_BLOCKER}Validation failed: at most {MOST_DEPENDENCIES} issues can be linked"
        )
    issue.blocked_by.append(blocker)
    blocker.blocking.append(issue)
    note(issue, by, "blocked_by_added", blocked_by=blocker)
    note(blocker, by, "blocking_added", blocking=issue)


def _reaches(issue: Issue, target: Issue) -> bool:
    """Whether an issue waits for the target, directly or through others."""
    seen, waiting = set(), [issue]
    while waiting:
        current = waiting.pop()
        if current is target:
            return True
        if current.id not in seen:
            seen.add(current.id)
            waiting += current.blocked_by
    return False


def unblock(issue: Issue, blocker: Issue, by: User) -> None:
    """Remove a blocker from an issue; if it is not a blocker, nothing changes."""
    if blocker in issue.blocked_by:
        issue.blocked_by.remove(blocker)
        blocker.blocking.remove(issue)
        note(issue, by, "blocked_by_removed", blocked_by=blocker)
        note(blocker, by, "blocking_removed", blocking=issue)


def cut_loose(issue: Issue, by: User) -> None:
    """Remove every relation of an issue, before its deletion."""
    if issue.parent is not None:
        remove_sub_issue(issue.parent, issue, by)
    for child in list(issue.sub_issues):
        remove_sub_issue(issue, child, by)
    for blocker in list(issue.blocked_by):
        unblock(issue, blocker, by)
    for blocked in list(issue.blocking):
        unblock(blocked, issue, by)
