"""GraphQL's mutations of boards, fields and cards (Projects v2).

Source: https://docs.github.com/graphql/reference/mutations
"""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.boards import actions as boards
from lifecycle.sandbox.boards import fields as board_fields
from lifecycle.sandbox.boards import projects
from lifecycle.sandbox.boards.access import changeable, is_granted
from lifecycle.sandbox.boards.state import BoardTables, DraftIssue, Field, Item, Project
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.pulls.state import PullRequest
from lifecycle.sandbox.repositories.access import sees
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.changing import Given, Payload, mutation
from lifecycle.sandbox.wire.graph.pages import (
    Refusal,
    connection,
    forbidden,
    no_node,
    no_permission,
    rejected,
)


def _node(call: Call, node_id: str, *kinds: type) -> Any:
    """The object with the global id, if it is of one of these classes; else NOT_FOUND."""
    node = call.world.nodes.get(node_id)
    if not isinstance(node, kinds):
        raise no_node(node_id)
    return node


def _project(call: Call, wanted: Given, *, admin: bool = False) -> Project:
    project: Project = _node(call, wanted["projectId"], Project)
    return changeable(call, project, admin=admin)


def _card(call: Call, wanted: Given) -> Item:
    """The card of `itemId`, which has to be on the board of `projectId`."""
    project = _project(call, wanted)
    return _of_board(project, _node(call, wanted["itemId"], Item))


def _of_board(project: Project, item: Item) -> Item:
    if item.project is not project:
        raise rejected("The item does not exist in the project")
    return item


def _field(item: Item, call: Call, wanted: Given) -> Field:
    """The field of `fieldId`, which has to be on the card's board."""
    field: Field | None = next((f for f in item.project.fields if f.id == wanted["fieldId"]), None)
    if field is None:
        _node(call, wanted["fieldId"], Field)
        raise rejected("The field does not belong to the project")
    return field


def _any_field(call: Call, wanted: Given) -> tuple[Project, Field]:
    """A field with its board, found by the field's id alone."""
    field: Field = _node(call, wanted["fieldId"], Field)
    project = next((p for p in BoardTables.of(call.world).projects if field in p.fields), None)
    if project is None:
        raise no_node(wanted["fieldId"])
    return changeable(call, project, admin=False), field


def _repository(call: Call, node_id: str) -> Repository:
    repo: Repository = _node(call, node_id, Repository)
    if not sees(call.token, repo):
        raise no_node(node_id)
    return repo


def _people(call: Call, ids: list[str] | None) -> list[User] | None:
    return None if ids is None else [_node(call, user_id, User) for user_id in ids]


@mutation("projectV2Item")
def update_project_v2_item_field_value(call: Call, wanted: Given) -> Payload:
    item = _card(call, wanted)
    board_fields.set_value(item, _field(item, call, wanted), wanted["value"], call.viewer)
    return {"projectV2Item": item}


@mutation("projectV2Item")
def clear_project_v2_item_field_value(call: Call, wanted: Given) -> Payload:
    item = _card(call, wanted)
    board_fields.clear_value(item, _field(item, call, wanted))
    return {"projectV2Item": item}


@mutation("item")
def add_project_v2_item_by_id(call: Call, wanted: Given) -> Payload:
    """Add an issue or pull request to a board; an existing card is returned."""
    project = _project(call, wanted)
    content = _node(call, wanted["contentId"], Issue, PullRequest, DraftIssue)
    if isinstance(content, PullRequest):
        content = content.issue
    if isinstance(content, DraftIssue):
        raise rejected("A draft issue cannot be added by its id")
    if not sees(call.token, content.repository):
        raise no_node(wanted["contentId"])
    return {"item": boards.add_item(call.world, project, content, call.viewer)}


@mutation("projectItem", takes="body assigneeIds")
def add_project_v2_draft_issue(call: Call, wanted: Given) -> Payload:
    project = _project(call, wanted)
    people = _people(call, wanted.get("assigneeIds")) or []
    item = boards.add_draft(
        call.world, project, wanted["title"], wanted.get("body") or "", people, call.viewer
    )
    return {"projectItem": item}


@mutation("draftIssue", takes="title body assigneeIds")
def update_project_v2_draft_issue(call: Call, wanted: Given) -> Payload:
    draft: DraftIssue = _node(call, wanted["draftIssueId"], DraftIssue)
    project = next((p for p in BoardTables.of(call.world).projects if p.item_of(draft)), None)
    if project is None:
        raise no_node(wanted["draftIssueId"])
    changeable(call, project)
    people = _people(call, wanted.get("assigneeIds"))
    boards.edit_draft(draft, title=wanted.get("title"), body=wanted.get("body"), assignees=people)
    return {"draftIssue": draft}


@mutation("item")
def convert_project_v2_draft_issue_item_to_issue(call: Call, wanted: Given) -> Payload:
    """Turn a draft into an issue; fine-grained tokens are refused: https://github.com/cli/cli/issues/8553."""
    item: Item = _node(call, wanted["itemId"], Item)
    changeable(call, item.project)
    repo = _repository(call, wanted["repositoryId"])
    if call.token.kind == "fine-grained":
        raise Refusal("FORBIDDEN", "User does not have access to this repository")
    boards.convert_draft(item, repo, call.viewer)
    return {"item": item}


@mutation("deletedItemId")
def delete_project_v2_item(call: Call, wanted: Given) -> Payload:
    item = _card(call, wanted)
    boards.remove_item(call.world, item)
    return {"deletedItemId": item.id}


def _archive(call: Call, wanted: Given, *, archived: bool) -> Payload:
    item = _card(call, wanted)
    boards.archive(item, archived=archived)
    return {"item": item}


@mutation("item")
def archive_project_v2_item(call: Call, wanted: Given) -> Payload:
    return _archive(call, wanted, archived=True)


@mutation("item")
def unarchive_project_v2_item(call: Call, wanted: Given) -> Payload:
    return _archive(call, wanted, archived=False)


@mutation(takes="afterId")
def update_project_v2_item_position(call: Call, wanted: Given) -> Payload:
    item = _card(call, wanted)
    after = wanted.get("afterId")
    neighbour = _of_board(item.project, _node(call, after, Item)) if after else None
    boards.move_item(item, neighbour)
    return {"project": item.project}


@mutation("projectV2", takes="repositoryId")
def create_project_v2(call: Call, wanted: Given) -> Payload:
    owner = _owner(call, wanted["ownerId"])
    repo = _repository(call, wanted["repositoryId"]) if wanted.get("repositoryId") else None
    project = projects.create(call.world, owner, wanted["title"], call.viewer)
    if repo:
        projects.link(project, repo)
    return {"projectV2": project}


def _owner(call: Call, node_id: str) -> User:
    """The owner of a new board: the viewer, or an organization of the viewer's."""
    owner: User = _node(call, node_id, User)
    if not is_granted(call.token, owner, "write"):
        raise forbidden(call.token)
    is_app = call.token.kind == "app"
    if owner is not call.viewer and call.viewer not in owner.members and not is_app:
        raise no_permission(call)
    return owner


@mutation("projectV2", takes="title shortDescription readme closed public")
def update_project_v2(call: Call, wanted: Given) -> Payload:
    project = _project(call, wanted, admin="public" in wanted)
    projects.update(
        project,
        title=wanted.get("title"),
        description=wanted.get("shortDescription"),
        readme=wanted.get("readme"),
        closed=wanted.get("closed"),
        public=wanted.get("public"),
    )
    return {"projectV2": project}


@mutation("projectV2")
def delete_project_v2(call: Call, wanted: Given) -> Payload:
    project = _project(call, wanted, admin=True)
    projects.delete(call.world, project)
    return {"projectV2": project}


@mutation("projectV2", takes="includeDraftIssues")
def copy_project_v2(call: Call, wanted: Given) -> Payload:
    source = _project(call, wanted)
    owner = _owner(call, wanted["ownerId"])
    project = projects.copy(
        call.world, source, owner, wanted["title"], call.viewer,
        with_drafts=bool(wanted.get("includeDraftIssues")),
    )  # fmt: skip
    return {"projectV2": project}


def _mark_template(call: Call, wanted: Given, *, template: bool) -> Payload:
    project = _project(call, wanted, admin=True)
    if project.owner.kind != "organization":
        raise rejected("Only projects of an organization can be templates")
    project.is_template = template
    return {"projectV2": project}


@mutation("projectV2")
def mark_project_v2_as_template(call: Call, wanted: Given) -> Payload:
    return _mark_template(call, wanted, template=True)


@mutation("projectV2")
def unmark_project_v2_as_template(call: Call, wanted: Given) -> Payload:
    return _mark_template(call, wanted, template=False)


def _link(call: Call, wanted: Given, *, linked: bool) -> Payload:
    project = _project(call, wanted)
    repo = _repository(call, wanted["repositoryId"])
    (projects.link if linked else projects.unlink)(project, repo)
    return {"repository": repo}


@mutation("repository")
def link_project_v2_to_repository(call: Call, wanted: Given) -> Payload:
    return _link(call, wanted, linked=True)


@mutation("repository")
def unlink_project_v2_from_repository(call: Call, wanted: Given) -> Payload:
    return _link(call, wanted, linked=False)


@mutation("projectV2Field", takes="singleSelectOptions iterationConfiguration")
def create_project_v2_field(call: Call, wanted: Given) -> Payload:
    project = _project(call, wanted)
    field = board_fields.add_field(
        call.world, project, wanted["name"], wanted["dataType"],
        options=wanted.get("singleSelectOptions") or (),
        iterations=wanted.get("iterationConfiguration"),
    )  # fmt: skip
    return {"projectV2Field": field}


@mutation("projectV2Field", takes="name singleSelectOptions iterationConfiguration")
def update_project_v2_field(call: Call, wanted: Given) -> Payload:
    project, field = _any_field(call, wanted)
    board_fields.update_field(
        call.world, project, field,
        name=wanted.get("name"),
        options=wanted.get("singleSelectOptions"),
        iterations=wanted.get("iterationConfiguration"),
    )  # fmt: skip
    return {"projectV2Field": field}


@mutation("projectV2Field")
def delete_project_v2_field(call: Call, wanted: Given) -> Payload:
    project, field = _any_field(call, wanted)
    board_fields.delete_field(call.world, project, field)
    return {"projectV2Field": field}


@mutation()
def update_project_v2_collaborators(call: Call, wanted: Given) -> Payload:
    """Set users' roles on a board; NONE removes one. Teams are not imitated."""
    project = _project(call, wanted, admin=True)
    roles = [
        (_node(call, collaborator["userId"], User), collaborator["role"])
        for collaborator in wanted["collaborators"]
    ]
    for user, role in roles:
        if role == "NONE":
            project.collaborators.pop(user.login.lower(), None)
        else:
            project.collaborators[user.login.lower()] = role
    return {"collaborators": [call.world.users[login] for login in project.collaborators]}


INPUTS = {
    "ProjectV2FieldValue": "text number date singleSelectOptionId iterationId",
    "ProjectV2Collaborator": "userId",
}
RESOLVERS: dict[str, dict[str, Any]] = {
    "UpdateProjectV2ItemPositionPayload": {
        "items": lambda c, payload, **arguments: connection(
            payload["project"].shown(c.seen), **arguments
        ),
    },
    "UpdateProjectV2CollaboratorsPayload": {
        "collaborators": lambda _, payload, **arguments: connection(
            payload["collaborators"], **arguments
        ),
    },
}
