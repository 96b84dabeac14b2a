"""GraphQL's fields of issues, comments, labels and milestones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from lifecycle.sandbox.accounts.graph import ordered
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.ids import named_id
from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.git import graph as git
from lifecycle.sandbox.issues.actions import mentions
from lifecycle.sandbox.issues.milestones import actions as milestones
from lifecycle.sandbox.issues.payload import issue_page
from lifecycle.sandbox.issues.state import Comment, Issue, IssueTables, Label, Milestone
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import Refusal, connection

REACTIONS = (
    "THUMBS_UP", "THUMBS_DOWN", "LAUGH", "HOORAY", "CONFUSED", "HEART", "ROCKET", "EYES",
)  # fmt: skip
LABEL_ORDERS: dict[str, Callable[[Label], Any]] = {
    "NAME": lambda label: label.name.lower(),
    "CREATED_AT": lambda label: (label.created_at, label.id),
}
ISSUE_ORDERS: dict[str, Callable[[Issue], Any]] = {
    "CREATED_AT": lambda issue: (issue.created_at, issue.number),
    "UPDATED_AT": lambda issue: (issue.updated_at, issue.number),
    "COMMENTS": lambda issue: (len(issue.comments), issue.number),
}
CLASSIC = (
    "Projects (classic) is being deprecated in favor of the new Projects experience, see: "
    "https://github.blog/changelog/2024-05-23-sunset-notice-projects-classic/."
)


def classic_projects(*_: Any, **__: Any) -> None:
    """Refuse a field of classic projects with GitHub's sentence.

    Raises:
        Refusal: Always; seen in https://github.com/cli/cli/issues/11983.
    """
    raise Refusal("NOT_FOUND", CLASSIC)


def reaction_groups(*_: Any) -> list[dict[str, Any]]:
    """Every kind of reaction without users, since nobody reacts in the sandbox."""
    return [
        {"content": reaction, "users": connection([], first=1), "viewerHasReacted": False}
        for reaction in REACTIONS
    ]


def issue_page_of(call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    """A page of a repository's issues, without its pull requests."""
    issues = (
        [issue for issue in IssueTables.of(repo).issues.values() if not issue.is_pull]
        if repo.has_issues
        else []
    )
    return filtered(call, issues, **arguments)


def filtered(call: Call, issues: list[Issue], **arguments: Any) -> dict[str, Any]:
    """A page of the issues that match the field's arguments; one of the labels is enough.

    `filterBy` overrides `states` and `labels`.
    Source: https://docs.github.com/graphql/reference/input-objects#issuefilters
    """
    filters = {"states": arguments.pop("states", None), "labels": arguments.pop("labels", None)}
    filters |= {k: v for k, v in (arguments.pop("filterBy", None) or {}).items() if v is not None}
    for name, value in filters.items():
        if value is not None:
            issues = [issue for issue in issues if FILTERS[name](call, issue, value)]
    order = arguments.pop("orderBy", None) or {"field": "CREATED_AT", "direction": "ASC"}
    return connection(
        call.world.visible(ordered(issues, order, ISSUE_ORDERS), call.seen), **arguments
    )


def _is(people: Iterable[User], login: str) -> bool:
    return any(person.login.lower() == login.lower() for person in people)


def _has_label(_call: Call, issue: Issue, names: list[str]) -> bool:
    return bool({name.lower() for name in names} & {label.name.lower() for label in issue.labels})


def _in_milestone(_call: Call, issue: Issue, wanted: str) -> bool:
    """Whether the issue is in the milestone with this database id or number; with `*`, in any."""
    milestone = issue.milestone
    return milestone is not None and wanted in {"*", str(milestone.id), str(milestone.number)}


def _by_number(_call: Call, issue: Issue, wanted: str) -> bool:
    milestone = issue.milestone
    return milestone is not None and wanted in {"*", str(milestone.number)}


def _since(_call: Call, issue: Issue, since: datetime | str) -> bool:
    return (stamp(issue.updated_at) or "") >= str(since)


FILTERS: dict[str, Callable[[Call, Issue, Any], bool]] = {
    "states": lambda _, issue, states: issue.state.upper() in states,
    "labels": _has_label,
    "assignee": lambda _, issue, login: (
        bool(issue.assignees) if login == "*" else _is(issue.assignees, login)
    ),
    "createdBy": lambda _, issue, login: _is([issue.author], login),
    "mentioned": lambda _, issue, login: mentions(issue, login),
    "milestone": _in_milestone,
    "milestoneNumber": _by_number,
    "since": _since,
}


def _comments(call: Call, issue: Issue, **arguments: Any) -> dict[str, Any]:
    order = arguments.pop("orderBy", None)
    comments = ordered(
        issue.comments, order, {"UPDATED_AT": lambda comment: (comment.updated_at, comment.id)}
    )
    return connection(call.world.visible(comments, call.seen), **arguments)


def _participants(_call: Call, issue: Issue, **arguments: Any) -> dict[str, Any]:
    people = [issue.author, *(comment.author for comment in issue.comments), *issue.assignees]
    return connection(list({person.id: person for person in people}.values()), **arguments)


def _of_half(half: Callable[[Any], Issue], resolver: Callable[..., Any]) -> Callable[..., Any]:
    return lambda call, subject, **arguments: resolver(call, half(subject), **arguments)


def shared(half: Callable[[Any], Issue]) -> dict[str, Any]:
    """Resolvers of the fields that issues and pull requests share.

    Args:
        half: Returns the issue half of the object; for an issue, the issue itself.
    """
    return {key: _of_half(half, resolver) for key, resolver in SHARED.items()}


def _labels(_call: Call, issue: Issue, **arguments: Any) -> dict[str, Any]:
    order = arguments.pop("orderBy", None) or {"field": "CREATED_AT", "direction": "ASC"}
    return connection(ordered(issue.labels, order, LABEL_ORDERS), **arguments)


SHARED: dict[str, Callable[..., Any]] = {
    "body": lambda _, issue: issue.body or "",
    "bodyText": lambda _, issue: issue.body or "",
    "url": issue_page,
    "authorAssociation": lambda c, issue: repositories.associate(c, issue.repository, issue.author),
    "viewerDidAuthor": lambda c, issue: issue.author is c.viewer,
    "viewerCanUpdate": lambda c, i: i.author is c.viewer or i.repository.can_push(c.viewer),
    "labels(orderBy)": _labels,
    "comments(orderBy)": _comments,
    "participants": _participants,
    "reactionGroups": reaction_groups,
    "activeLockReason": lambda _, issue: (
        issue.lock_reason and issue.lock_reason.upper().replace("-", "_").replace(" ", "_")
    ),
    "closed": lambda _, issue: issue.state == "closed",
    "projectCards(archivedStates)": classic_projects,
}
SHARED_PLAIN = (
    "number title resourcePath repository author assignees milestone locked closedAt createdAt "
    "updatedAt"
)
"""Other shared fields, with the same names for issues and pull requests."""


def _parent(call: Call, issue: Issue) -> Issue | None:
    above = issue.parent
    return above if above and access.sees(call.token, above.repository) else None


def _sub_issues(call: Call, issue: Issue, **arguments: Any) -> dict[str, Any]:
    children = [child for child in issue.sub_issues if access.sees(call.token, child.repository)]
    return connection(children, **arguments)


def _summary(_call: Call, issue: Issue) -> dict[str, int]:
    total = len(issue.sub_issues)
    done = sum(child.state == "closed" for child in issue.sub_issues)
    return {
        "total": total,
        "completed": done,
        "percentCompleted": done * 100 // total if total else 0,
    }


def _reason(_call: Call, issue: Issue, **arguments: Any) -> str | None:
    """The reason for the issue's state; DUPLICATE only with `enableDuplicate`, else NOT_PLANNED.

    Source: https://docs.github.com/graphql/reference/objects#issue (`stateReason`)
    """
    if issue.state_reason == "duplicate" and not arguments.get("enableDuplicate"):
        return "NOT_PLANNED"
    return issue.state_reason and issue.state_reason.upper()


def linked_branch(issue: Issue, name: str) -> dict[str, Any]:
    """A branch that is linked to an issue."""
    return {
        "id": named_id("LB", issue.repository.id, f"{issue.id}/{name}"),
        "ref": lambda: git.ref_named(issue.repository, f"refs/heads/{name}"),
    }


def _linked(_call: Call, issue: Issue, **arguments: Any) -> dict[str, Any]:
    return connection([linked_branch(issue, name) for name in issue.linked_branches], **arguments)


def _where(call: Call, subject: Label | Milestone) -> str:
    return repositories.page_url(call, subject.repository) if subject.repository else call.web


def _milestone_page(call: Call, milestone: Milestone) -> str:
    return f"{_where(call, milestone)}/milestone/{milestone.number}"


def _progress(call: Call, milestone: Milestone) -> float:
    repo = milestone.repository
    if repo is None:
        return 0.0
    counts = call.once(("milestones", repo.id), lambda: milestones.counts(repo))
    opened, closed = counts[milestone.id]
    return closed * 100 / (opened + closed) if opened + closed else 0.0


def _milestone_issues(call: Call, milestone: Milestone, **arguments: Any) -> dict[str, Any]:
    repo = milestone.repository
    issues = IssueTables.of(repo).issues.values() if repo else ()
    return filtered(
        call,
        [issue for issue in issues if issue.milestone is milestone and not issue.is_pull],
        **arguments,
    )


MINIMIZABLE: dict[str, Any] = {
    "isMinimized": lambda _, subject: subject.minimized is not None,
    "minimizedReason": lambda _, subject: subject.minimized,
}
"""For comments and reviews: whether somebody minimized them, and why."""


def _comment_url(call: Call, comment: Comment) -> str:
    return f"{issue_page(call, comment.issue)}#issuecomment-{comment.id}"


RESOLVERS: dict[str, dict[str, Any]] = {
    "Issue": {
        **shared(lambda issue: issue),
        "stateReason(enableDuplicate)": _reason,
        "parent": _parent,
        "subIssues": _sub_issues,
        "subIssuesSummary": _summary,
        "linkedBranches": _linked,
    },
    "IssueComment": {
        "url": _comment_url,
        "bodyText": lambda _, comment: comment.body,
        "authorAssociation": lambda c, comment: repositories.associate(
            c, comment.issue.repository, comment.author
        ),
        "publishedAt": lambda _, comment: stamp(comment.created_at),
        "lastEditedAt": lambda _, comment: (
            stamp(comment.updated_at) if comment.updated_at != comment.created_at else None
        ),
        "includesCreatedEdit": lambda _, comment: comment.updated_at != comment.created_at,
        **MINIMIZABLE,
        "viewerDidAuthor": lambda c, comment: comment.author is c.viewer,
        "reactionGroups": reaction_groups,
    },
    "Label": {
        "isDefault": lambda _, label: label.default,
        "url": lambda c, label: f"{_where(c, label)}/labels/{label.name.replace(' ', '%20')}",
    },
    "Milestone": {
        "url": _milestone_page,
        "closed": lambda _, milestone: milestone.state == "closed",
        "progressPercentage": _progress,
        "issues(states, labels, filterBy, orderBy)": _milestone_issues,
    },
}
PLAIN = {
    "IssueComment": "repository author body issue id databaseId fullDatabaseId createdAt updatedAt",
    "Label": "name color description repository id createdAt updatedAt",
    "Milestone": "resourcePath number title description creator repository id state closedAt createdAt "
    "updatedAt dueOn",
    "LinkedBranch": "id ref",
    "ReactionGroup": "content users viewerHasReacted",
    "SubIssuesSummary": "total completed percentCompleted",
    "ProjectCard": "id project column",
    "ProjectColumn": "id name",
    "Issue": f"id databaseId fullDatabaseId state isPinned {SHARED_PLAIN}",
}
INPUTS = {
    "IssueFilters": "assignee createdBy labels mentioned milestone milestoneNumber since states",
    "IssueCommentOrder": "field direction",
}
