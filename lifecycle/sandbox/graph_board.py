"""The board as GraphQL reads and changes it (Projects v2).

Source: https://docs.github.com/issues/planning-and-tracking-with-projects/automating-your-project/using-the-api-to-manage-projects
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from lifecycle.sandbox.graph_pages import connection
from lifecycle.sandbox.refusals import forbidden, no_node, not_found, rejected
from lifecycle.sandbox.state import Field, Issue, Item, Project, PullRequest, User
from lifecycle.sandbox.world import add_item

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lifecycle.sandbox.call import Call

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Value:
    """What a card has in a field."""

    item: Item
    field: Field
    text: str


def readable(call: Call, thing: T, level: str = "read") -> T:
    """Boards are for tokens of permissions that may, and for organizations' boards only."""
    project = call.world.project
    if project and not _is_granted(call, project, level):
        raise forbidden(call.token)
    return thing


def _is_granted(call: Call, project: Project, level: str) -> bool:
    if call.token.kind == "classic":
        return True  # its scopes were looked at before anything ran
    wanted = {"organization_projects:write", f"organization_projects:{level}"}
    return project.owner.kind == "organization" and bool(call.token.scopes & wanted)


def project_numbered(call: Call, owner: User | None, number: int) -> Project:
    """The board of that number and owner (None: linked to what is asked), or NOT_FOUND."""
    project = call.world.project
    if project is None or project.number != number or owner not in {None, project.owner}:
        raise not_found(f"Could not resolve to a ProjectV2 with the number {number}.")
    return readable(call, project)


def cards_of(call: Call, issue: Issue, **arguments: Any) -> dict[str, Any]:
    """The cards of an issue or pull request, the archived one too unless it is not wanted."""
    archived_too = arguments.pop("includeArchived", True)
    project = call.world.project
    item = project.item_of(issue) if project else None
    shown = [item] if item and (archived_too or not item.archived) else []
    page = connection(shown, **arguments)
    if project and not _is_granted(call, project, "read"):
        page["nodes"] = [
            forbidden(call.token) for _ in page["nodes"]
        ]  # each becomes null and an error
    return page


def value_of(item: Item, project: Project | None, name: str) -> Value | None:
    """What a card has in the field of that name; None if nothing, or there is no such field."""
    field = project.field_named(name) if project else None
    if field is None:
        return None
    if field.data_type == "TITLE":
        return Value(item, field, item.issue.title)
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


def _target(call: Call, wanted: Mapping[str, Any]) -> tuple[Item, Field]:
    """The card and the field that a mutation means."""
    project = call.world.project
    if project is None or wanted["projectId"] != project.id:
        raise no_node(wanted["projectId"])
    readable(call, project, "write")
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


def add_card(call: Call, wanted: Mapping[str, Any], content: object) -> dict[str, Any]:
    """addProjectV2ItemById: the card that is there already, or a new one."""
    project = call.world.project
    if project is None or wanted["projectId"] != project.id:
        raise no_node(wanted["projectId"])
    readable(call, project, "write")
    if isinstance(content, PullRequest):
        content = content.issue
    if not isinstance(content, Issue):
        raise no_node(wanted["contentId"])
    return {"item": add_item(call.world, project, content)}
