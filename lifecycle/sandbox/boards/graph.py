"""GraphQL's fields of boards (Projects v2), their fields and cards, and the fields that lead to boards.

Source:
https://docs.github.com/issues/planning-and-tracking-with-projects/automating-your-project/using-the-api-to-manage-projects
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.boards import access
from lifecycle.sandbox.boards.access import is_open, role_in
from lifecycle.sandbox.boards.filter import matching_projects
from lifecycle.sandbox.boards.graph_values import (
    FIELD_TYPES,
    UNKNOWN_TO_GRAPHQL,
    value_of,
    values_of,
)
from lifecycle.sandbox.boards.state import (
    BoardTables,
    DraftIssue,
    Field,
    Item,
    Iteration,
    Option,
    Project,
)
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.pulls.state import PullRequest, pull_of
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import connection, forbidden, not_found

PROJECT_ORDERS: dict[str, Callable[[Project], Any]] = {
    "NUMBER": lambda project: project.number,
    "TITLE": lambda project: project.title.lower(),
    "CREATED_AT": lambda project: (project.created_at, project.number),
    "UPDATED_AT": lambda project: (project.updated_at, project.number),
}
FIELD_ORDERS: dict[str, Callable[[Field], Any]] = {
    "NAME": lambda field: field.name.lower(),
    "CREATED_AT": lambda field: (field.created_at, field.number),
}
RANKS = {"READ": ("READER", "WRITER", "ADMIN"), "WRITE": ("WRITER", "ADMIN"), "ADMIN": ("ADMIN",)}


def project_numbered(call: Call, owner: User, number: int) -> Project:
    """The owner's board of that number, or NOT_FOUND."""
    return _found(call, BoardTables.of(call.world).project(owner, number), number)


def project_linked(call: Call, repo: Repository, number: int) -> Project:
    """The board of that number that is linked to a repository, or NOT_FOUND."""
    linked = (
        p
        for p in BoardTables.of(call.world).projects
        if p.number == number and repo in p.repositories
    )
    return _found(call, next(linked, None), number)


def _found(call: Call, project: Project | None, number: int) -> Project:
    if project is None or role_in(call.token, project) is None:
        raise not_found(f"Could not resolve to a ProjectV2 with the number {number}.")
    return access.readable(call, project)


def _listed(call: Call, projects: Iterable[Project], arguments: dict[str, Any]) -> dict[str, Any]:
    """A page of the boards that the viewer sees, by `query`, `minPermissionLevel` and `orderBy`."""
    order = arguments.pop("orderBy", None) or {"field": "NUMBER", "direction": "DESC"}
    ranks = RANKS[arguments.pop("minPermissionLevel", None) or "READ"]
    shown = [
        project
        for project in matching_projects(projects, arguments.pop("query", None) or "")
        if access.is_shown(call, project) and role_in(call.token, project) in ranks
    ]
    shown.sort(key=PROJECT_ORDERS[order["field"]], reverse=order["direction"] == "DESC")
    return connection(shown, **arguments)


def _owned(call: Call, owner: User, **arguments: Any) -> dict[str, Any]:
    return _listed(
        call, [p for p in BoardTables.of(call.world).projects if p.owner is owner], arguments
    )


def _linked(call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    return _listed(
        call, [p for p in BoardTables.of(call.world).projects if repo in p.repositories], arguments
    )


def _recent(call: Call, owner: User, **arguments: Any) -> dict[str, Any]:
    """A page of an owner's boards, the most recently changed first, whoever changed them."""
    order = {"field": "UPDATED_AT", "direction": "DESC"}
    return _owned(call, owner, orderBy=order, **arguments)


def _boards_with(call: Call, content: Issue | DraftIssue, **arguments: Any) -> dict[str, Any]:
    return _listed(
        call, [p for p in BoardTables.of(call.world).projects if p.item_of(content)], arguments
    )


def cards_of(
    call: Call, content: Issue | PullRequest | DraftIssue, **arguments: Any
) -> dict[str, Any]:
    """A page of the cards of an issue, pull request or draft; archived ones with `includeArchived`."""
    archived_too = arguments.pop("includeArchived", True)
    subject = content.issue if isinstance(content, PullRequest) else content
    all_cards = [
        card
        for project in BoardTables.of(call.world).projects
        if (card := project.item_of(subject))
    ]
    cards = [
        card
        for card in all_cards
        if (archived_too or not card.archived) and role_in(call.token, card.project)
    ]
    page = connection(cards, **arguments)
    page["nodes"] = [  # a forbidden one becomes null and an error
        card if access.reaches(call, card.project) else forbidden(call.token)
        for card in page["nodes"]
    ]
    return page


def _fields(_call: Call, project: Project, **arguments: Any) -> dict[str, Any]:
    order = arguments.pop("orderBy", None) or {"field": "POSITION", "direction": "ASC"}
    shown = [field for field in project.fields if field.data_type not in UNKNOWN_TO_GRAPHQL]
    if order["field"] != "POSITION":
        shown.sort(key=FIELD_ORDERS[order["field"]])
    return connection(shown[::-1] if order["direction"] == "DESC" else shown, **arguments)


def _items(call: Call, project: Project, **arguments: Any) -> dict[str, Any]:
    """A page of the cards that are not archived, in the board's order."""
    is_backward = (arguments.pop("orderBy", None) or {}).get("direction") == "DESC"
    shown = project.shown(call.seen)
    return connection(shown[::-1] if is_backward else shown, **arguments)


def path_of(project: Project) -> str:
    """The path of the board's page."""
    kind = "orgs" if project.owner.kind == "organization" else "users"
    return f"/{kind}/{project.owner.login}/projects/{project.number}"


def content_of(call: Call, item: Item) -> object:
    """The issue, pull request or draft of a card; None if the token cannot see it."""
    content = item.content
    if not is_open(call.token, item):
        return None
    return (pull_of(content) or content) if isinstance(content, Issue) else content


def _item_type(call: Call, item: Item) -> str:
    if isinstance(item.content, DraftIssue):
        return "DRAFT_ISSUE"
    if not is_open(call.token, item):
        return "REDACTED"
    return "PULL_REQUEST" if item.content.is_pull else "ISSUE"


def _may_change(call: Call, project: Project) -> bool:
    role = role_in(call.token, project)
    return role in RANKS["WRITE"] and access.reaches(call, project, "write")


def field_type(field: Field) -> str:
    """The GraphQL type of a field."""
    return FIELD_TYPES.get(field.data_type, "ProjectV2Field")


def _iterations(field: Field, *, completed: bool) -> list[Iteration]:
    return [iteration for iteration in field.iterations if iteration.completed is completed]


def _options(_call: Call, field: Field, names: list[str] | None = None) -> list[Option]:
    return [option for option in field.options if names is None or option.name in names]


def _start_day(field: Field) -> int:
    """The weekday on which iterations begin; Monday is 1."""
    return date.fromisoformat(field.iterations[0].start).isoweekday() if field.iterations else 1


FIELD: dict[str, Any] = {
    "databaseId": lambda _, field: field.number,
    "project": access.board_of,
}
FIELD_PLAIN = "id name dataType createdAt updatedAt"
WAYS_IN: dict[str, Any] = {
    "projectV2": project_numbered,
    "projectsV2(query, orderBy, minPermissionLevel)": _owned,
    "recentProjects": _recent,
}
TYPES: dict[type, Any] = {
    Project: "ProjectV2",
    Item: "ProjectV2Item",
    DraftIssue: "DraftIssue",
    Field: field_type,
    Option: "ProjectV2SingleSelectFieldOption",
}
PLAIN = {
    "ProjectV2": "repositories id number title readme owner creator databaseId fullDatabaseId closedAt "
    "createdAt updatedAt shortDescription",
    "ProjectV2Field": FIELD_PLAIN,
    "ProjectV2SingleSelectField": FIELD_PLAIN,
    "ProjectV2IterationField": FIELD_PLAIN,
    "ProjectV2SingleSelectFieldOption": "id name color description",
    "ProjectV2IterationFieldIteration": "id title duration",
    "ProjectV2Item": "id project creator createdAt updatedAt",
    "DraftIssue": "assignees title creator id createdAt updatedAt",
}
RESOLVERS: dict[str, dict[str, Any]] = {
    "User": WAYS_IN,
    "Organization": WAYS_IN,
    "Repository": {
        "projectV2": project_linked,
        "projectsV2(query, orderBy, minPermissionLevel)": _linked,
        "recentProjects": lambda call, repo, **arguments: _linked(
            call, repo, orderBy={"field": "UPDATED_AT", "direction": "DESC"}, **arguments
        ),
    },
    "Issue": {
        "projectItems(includeArchived)": cards_of,
        "projectV2": lambda c, issue, number: project_linked(c, issue.repository, number),
        "projectsV2(query, orderBy, minPermissionLevel)": _boards_with,
    },
    "PullRequest": {
        "projectItems(includeArchived)": cards_of,
        "projectV2": lambda c, pull, number: project_linked(c, pull.repository, number),
        "projectsV2(query, orderBy, minPermissionLevel)": lambda c, pull, **arguments: _boards_with(
            c, pull.issue, **arguments
        ),
    },
    "DraftIssue": {
        "body": lambda _, draft: draft.body or "",
        "bodyText": lambda _, draft: draft.body or "",
        "projectV2Items": cards_of,
        "projectsV2": _boards_with,
    },
    "ProjectV2": {
        "url": lambda call, project: f"{call.web}{path_of(project)}",
        "resourcePath": lambda _, project: path_of(project),
        "closed": lambda _, project: project.closed_at is not None,
        "public": lambda _, project: project.is_public,
        "template": lambda _, project: project.is_template,
        "viewerCanClose": _may_change,
        "viewerCanReopen": _may_change,
        "viewerCanUpdate": _may_change,
        "field": lambda _, project, name: project.field_named(name),
        "fields(orderBy)": _fields,
        "items(orderBy)": _items,
    },
    "ProjectV2Field": FIELD,
    "ProjectV2SingleSelectField": {**FIELD, "options": _options},
    "ProjectV2IterationField": {**FIELD, "configuration": lambda _, field: field},
    "ProjectV2SingleSelectFieldOption": {
        "nameHTML": lambda _, option: option.name,
        "descriptionHTML": lambda _, option: option.description,
    },
    "ProjectV2IterationFieldConfiguration": {
        "duration": lambda _, field: field.iterations[-1].duration if field.iterations else 14,
        "startDay": lambda _, field: _start_day(field),
        "iterations": lambda _, field: _iterations(field, completed=False),
        "completedIterations": lambda _, field: _iterations(field, completed=True),
    },
    "ProjectV2IterationFieldIteration": {
        "startDate": lambda _, iteration: iteration.start,
        "titleHTML": lambda _, iteration: iteration.title,
    },
    "ProjectV2Item": {
        "type": _item_type,
        "isArchived": lambda _, item: item.archived,
        "content": content_of,
        "databaseId": lambda _, item: item.number,
        "fullDatabaseId": lambda _, item: str(item.number),
        "fieldValueByName": value_of,
        "fieldValues(orderBy)": values_of,
    },
}
