"""The board as GraphQL reads and changes it (Projects v2).

Source: https://docs.github.com/issues/planning-and-tracking-with-projects/automating-your-project/using-the-api-to-manage-projects
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from lifecycle.sandbox.actions.boards import add_item
from lifecycle.sandbox.graph.pages import connection
from lifecycle.sandbox.graph.refusals import forbidden, no_node, not_found, rejected
from lifecycle.sandbox.state.boards import Field, Item, Project
from lifecycle.sandbox.state.issues import Issue
from lifecycle.sandbox.state.pulls import PullRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Value:
    """What a card has in a field."""

    item: Item
    field: Field
    text: str


def readable(call: Call, thing: T, level: str = "read") -> T:
    """Boards are for tokens of permissions that may, and for organizations' boards only."""
    if not _is_granted(call, _board_of(call, thing), level):
        raise forbidden(call.token)
    return thing


def _board_of(call: Call, thing: object) -> Project:
    """The board that a thing belongs to, or is."""
    if isinstance(thing, Item):
        return thing.project
    if isinstance(thing, Field):
        return next(project for project in call.world.projects if thing in project.fields)
    if isinstance(thing, Project):
        return thing
    raise TypeError(f"{thing!r} is no part of a board")


def _is_granted(call: Call, project: Project, level: str) -> bool:
    if call.token.kind == "classic":
        return True  # its scopes were looked at before anything ran
    wanted = {"organization_projects:write", f"organization_projects:{level}"}
    return project.owner.kind == "organization" and bool(call.token.scopes & wanted)


def project_numbered(call: Call, owner: User, number: int) -> Project:
    """The board of that number and owner, or NOT_FOUND."""
    project = call.world.project(owner, number)
    if project is None:
        raise not_found(f"Could not resolve to a ProjectV2 with the number {number}.")
    return readable(call, project)


def project_linked(call: Call, repo: Repository, number: int) -> Project:
    """The board of that number that a repository is linked to, or NOT_FOUND."""
    found = (p for p in call.world.projects if p.number == number and repo in p.repositories)
    project = next(found, None)
    if project is None:
        raise not_found(f"Could not resolve to a ProjectV2 with the number {number}.")
    return readable(call, project)


def cards_of(call: Call, issue: Issue, **arguments: Any) -> dict[str, Any]:
    """The cards of an issue or pull request, the archived one too unless it is not wanted."""
    archived_too = arguments.pop("includeArchived", True)
    cards = [item for project in call.world.projects if (item := project.item_of(issue))]
    page = connection([c for c in cards if archived_too or not c.archived], **arguments)
    page["nodes"] = [  # what is forbidden becomes null and an error
        card if _is_granted(call, card.project, "read") else forbidden(call.token)
        for card in page["nodes"]
    ]
    return page


def value_of(item: Item, name: str) -> Value | None:
    """What a card has in the field of that name; None if nothing, or there is no such field."""
    field = item.project.field_named(name)
    if field is None:
        return None
    if field.data_type == "TITLE":
        return Value(item, field, item.content.title)
    raw = item.values.get(field.id)
    if raw is None:
        return None
    if field.data_type == "SINGLE_SELECT":
        chosen = next((option for option in field.options if option.id == raw), None)
        return Value(item, field, chosen.name) if chosen else None
    return Value(item, field, raw)


def url_of(call: Call, project: Project) -> str:
    """The board's page."""
    kind = "orgs" if project.owner.kind == "organization" else "users"
    return f"{call.base}/{kind}/{project.owner.login}/projects/{project.number}"


def _project(call: Call, node_id: str) -> Project:
    """The board of that id, for somebody who may change it."""
    found = call.world.nodes.get(node_id)
    if not isinstance(found, Project):
        raise no_node(node_id)
    return readable(call, found, "write")


def _target(call: Call, wanted: Mapping[str, Any]) -> tuple[Item, Field]:
    """The card and the field that a mutation means."""
    project = _project(call, wanted["projectId"])
    item = next((i for i in project.items if i.id == wanted["itemId"]), None)
    if item is None:
        raise no_node(wanted["itemId"])
    field = next((f for f in project.fields if f.id == wanted["fieldId"]), None)
    if field is None:
        raise no_node(wanted["fieldId"])
    if item.archived:
        raise rejected("The item is archived and cannot be updated")
    if field.data_type not in {"TEXT", "SINGLE_SELECT"}:
        raise rejected(f"The field of type {field.data_type.lower()} is currently not supported")
    return item, field


def update_value(call: Call, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """updateProjectV2ItemFieldValue: no precondition, the last write wins."""
    item, field = _target(call, wanted)
    value = wanted["value"]
    if field.data_type == "SINGLE_SELECT":
        chosen = value.get("singleSelectOptionId")
        if chosen is None:
            raise rejected(
                "Did not receive a single select option Id to update a field of type single_select"
            )
        if chosen not in {option.id for option in field.options}:
            raise rejected("The single select option Id does not belong to the field")
        item.values[field.id] = chosen
    elif value.get("text") is None:
        raise rejected("Did not receive a text value to update a field of type text")
    elif value["text"]:  # an empty text does not clear a field
        item.values[field.id] = value["text"]
    return {"projectV2Item": item}


def clear_value(call: Call, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """clearProjectV2ItemFieldValue: the field has no value afterwards."""
    item, field = _target(call, wanted)
    item.values.pop(field.id, None)
    return {"projectV2Item": item}


def add_card(call: Call, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """addProjectV2ItemById: the card that is there already, or a new one."""
    project = _project(call, wanted["projectId"])
    content = call.world.nodes.get(wanted["contentId"])
    if isinstance(content, PullRequest):
        content = content.issue
    if not isinstance(content, Issue):
        raise no_node(wanted["contentId"])
    return {"item": add_item(call.world, project, content, call.viewer)}


def field_type(field: Field) -> str:
    """The GraphQL type of a field."""
    single = field.data_type == "SINGLE_SELECT"
    return "ProjectV2SingleSelectField" if single else "ProjectV2Field"


def value_type(value: Value) -> str:
    """The GraphQL type of a card's value."""
    single = value.field.data_type == "SINGLE_SELECT"
    return f"ProjectV2ItemField{'SingleSelect' if single else 'Text'}Value"


def _content(_call: Call, item: Item) -> object:
    """What a card is of: a pull request is more than its issue half."""
    content = item.content
    if isinstance(content, Issue):
        return content.repository.pulls.get(content.number, content)
    return content


RESOLVERS: dict[str, dict[str, Any]] = {
    "Mutation": {
        "updateProjectV2ItemFieldValue": lambda c, _, **given: update_value(c, given["input"]),
        "clearProjectV2ItemFieldValue": lambda c, _, **given: clear_value(c, given["input"]),
        "addProjectV2ItemById": lambda c, _, **given: add_card(c, given["input"]),
    },
    "ProjectV2": {
        "url": url_of,
        "closed": lambda _, project: project.closed_at is not None,
        "fields": lambda _, project, **given: connection(project.fields, **given),
        "items": lambda _, project, **given: connection(project.items, **given),
    },
    "ProjectV2Field": {"dataType": lambda _, field: field.data_type},
    "ProjectV2SingleSelectField": {"dataType": lambda _, field: field.data_type},
    "ProjectV2Item": {
        "isArchived": lambda _, item: item.archived,
        "content": _content,
        "fieldValueByName": lambda _, item, name: value_of(item, name),
    },
    "ProjectV2ItemFieldSingleSelectValue": {
        "id": lambda _, value: f"PVTFSV_{value.item.id}_{value.field.id}",
        "name": lambda _, value: value.text,
    },
    "ProjectV2ItemFieldTextValue": {
        "id": lambda _, value: f"PVTFTV_{value.item.id}_{value.field.id}",
    },
}
