"""How boards and cards are changed through GraphQL (Projects v2 mutations).

Source: https://docs.github.com/graphql/reference/mutations
"""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.boards import actions as boards
from lifecycle.sandbox.boards import fields as board_fields
from lifecycle.sandbox.boards import projects
from lifecycle.sandbox.boards.access import is_granted
from lifecycle.sandbox.boards.graph_access import changeable
from lifecycle.sandbox.boards.state import BoardTables, DraftIssue, Field, Item, Project
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.pulls.state import PullRequest
from lifecycle.sandbox.repositories.access import sees
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.changing import Given, Payload, mutations
from lifecycle.sandbox.wire.graph.pages import (
    Refusal,
    connection,
    forbidden,
    no_node,
    no_permission,
    rejected,
)


def _node(call: Call, node_id: str, *kinds: type) -> Any:
    """Whatever of these kinds has that global id, or NOT_FOUND."""
    found = call.world.nodes.get(node_id)
    if not isinstance(found, kinds):
        raise no_node(node_id)
    return found


def _project(call: Call, given: Given, mutation: str, *, admin: bool = False) -> Project:
    project: Project = _node(call, given["projectId"], Project)
    return changeable(call, project, mutation, admin=admin)


def _card(call: Call, given: Given, mutation: str) -> Item:
    """The card that is meant, which has to be of the board that is meant."""
    project = _project(call, given, mutation)
    return _of_board(project, _node(call, given["itemId"], Item))


def _of_board(project: Project, item: Item) -> Item:
    if item.project is not project:
        raise rejected("The item does not exist in the project")
    return item


def _field(item: Item, call: Call, given: Given) -> Field:
    """The field that is meant, which has to be of the card's board."""
    field: Field | None = next((f for f in item.project.fields if f.id == given["fieldId"]), None)
    if field is None:
        _node(call, given["fieldId"], Field)
        raise rejected("The field does not belong to the project")
    return field


def _any_field(call: Call, given: Given, mutation: str) -> tuple[Project, Field]:
    """A field with its board, found by the field's id alone."""
    field: Field = _node(call, given["fieldId"], Field)
    project = next((p for p in BoardTables.of(call.world).projects if field in p.fields), None)
    if project is None:
        raise no_node(given["fieldId"])
    return changeable(call, project, mutation, admin=False), field


def _repository(call: Call, node_id: str) -> Repository:
    repo: Repository = _node(call, node_id, Repository)
    if not sees(call.token, repo):
        raise no_node(node_id)
    return repo


def _people(call: Call, ids: list[str] | None) -> list[User] | None:
    return None if ids is None else [_node(call, one, User) for one in ids]


def _update_value(call: Call, given: Given) -> Payload:
    item = _card(call, given, "UpdateProjectV2ItemFieldValue")
    board_fields.set_value(item, _field(item, call, given), given["value"], call.viewer)
    return {"projectV2Item": item}


def _clear_value(call: Call, given: Given) -> Payload:
    item = _card(call, given, "ClearProjectV2ItemFieldValue")
    board_fields.clear_value(item, _field(item, call, given))
    return {"projectV2Item": item}


def _add_card(call: Call, given: Given) -> Payload:
    """The card that is there already, or a new one."""
    project = _project(call, given, "AddProjectV2ItemById")
    content = _node(call, given["contentId"], Issue, PullRequest, DraftIssue)
    if isinstance(content, PullRequest):
        content = content.issue
    if isinstance(content, DraftIssue):
        raise rejected("A draft issue cannot be added by its id")
    if not sees(call.token, content.repository):
        raise no_node(given["contentId"])
    return {"item": boards.add_item(call.world, project, content, call.viewer)}


def _add_draft(call: Call, given: Given) -> Payload:
    project = _project(call, given, "AddProjectV2DraftIssue")
    people = _people(call, given.get("assigneeIds")) or []
    item = boards.add_draft(
        call.world, project, given["title"], given.get("body") or "", people, call.viewer
    )
    return {"projectItem": item}


def _update_draft(call: Call, given: Given) -> Payload:
    draft: DraftIssue = _node(call, given["draftIssueId"], DraftIssue)
    project = next((p for p in BoardTables.of(call.world).projects if p.item_of(draft)), None)
    if project is None:
        raise no_node(given["draftIssueId"])
    changeable(call, project, "UpdateProjectV2DraftIssue")
    people = _people(call, given.get("assigneeIds"))
    boards.edit_draft(draft, title=given.get("title"), body=given.get("body"), assignees=people)
    return {"draftIssue": draft}


def _convert_draft(call: Call, given: Given) -> Payload:
    """Fine-grained tokens are refused, whatever they may: https://github.com/cli/cli/issues/8553."""
    item: Item = _node(call, given["itemId"], Item)
    changeable(call, item.project, "ConvertProjectV2DraftIssueItemToIssue")
    repo = _repository(call, given["repositoryId"])
    if call.token.kind == "fine-grained":
        raise Refusal("FORBIDDEN", "User does not have access to this repository")
    boards.convert_draft(item, repo, call.viewer)
    return {"item": item}


def _delete_card(call: Call, given: Given) -> Payload:
    item = _card(call, given, "DeleteProjectV2Item")
    boards.remove_item(call.world, item)
    return {"deletedItemId": item.id}


def _archive(call: Call, given: Given, *, archived: bool) -> Payload:
    name = "ArchiveProjectV2Item" if archived else "UnarchiveProjectV2Item"
    item = _card(call, given, name)
    boards.archive(item, archived=archived)
    return {"item": item}


def _move(call: Call, given: Given) -> Payload:
    item = _card(call, given, "UpdateProjectV2ItemPosition")
    after = given.get("afterId")
    other = _of_board(item.project, _node(call, after, Item)) if after else None
    boards.move_item(item, other)
    return {"project": item.project}


def _create(call: Call, given: Given) -> Payload:
    owner = _owner(call, given["ownerId"], "CreateProjectV2")
    repo = _repository(call, given["repositoryId"]) if given.get("repositoryId") else None
    project = projects.create(call.world, owner, given["title"], call.viewer)
    if repo:
        projects.link(project, repo)
    return {"projectV2": project}


def _owner(call: Call, node_id: str, mutation: str) -> User:
    """Whose board it will be: the viewer's own, or one of an organization that the viewer is in."""
    owner: User = _node(call, node_id, User)
    if not is_granted(call.token, owner, "write"):
        raise forbidden(call.token)
    is_app = call.token.kind == "app"
    if owner is not call.viewer and call.viewer not in owner.members and not is_app:
        raise no_permission(call.viewer, mutation)
    return owner


def _update(call: Call, given: Given) -> Payload:
    project = _project(call, given, "UpdateProjectV2", admin="public" in given)
    projects.update(
        project,
        title=given.get("title"),
        description=given.get("shortDescription"),
        readme=given.get("readme"),
        closed=given.get("closed"),
        public=given.get("public"),
    )
    return {"projectV2": project}


def _delete(call: Call, given: Given) -> Payload:
    project = _project(call, given, "DeleteProjectV2", admin=True)
    projects.delete(call.world, project)
    return {"projectV2": project}


def _copy(call: Call, given: Given) -> Payload:
    source = _project(call, given, "CopyProjectV2")
    owner = _owner(call, given["ownerId"], "CopyProjectV2")
    made = projects.copy(
        call.world, source, owner, given["title"], call.viewer,
        with_drafts=bool(given.get("includeDraftIssues")),
    )  # fmt: skip
    return {"projectV2": made}


def _mark_template(call: Call, given: Given, *, template: bool) -> Payload:
    name = "MarkProjectV2AsTemplate" if template else "UnmarkProjectV2AsTemplate"
    project = _project(call, given, name, admin=True)
    if project.owner.kind != "organization":
        raise rejected("Only projects of an organization can be templates")
    project.is_template = template
    return {"projectV2": project}


def _link(call: Call, given: Given, *, linked: bool) -> Payload:
    name = "LinkProjectV2ToRepository" if linked else "UnlinkProjectV2FromRepository"
    project = _project(call, given, name)
    repo = _repository(call, given["repositoryId"])
    (projects.link if linked else projects.unlink)(project, repo)
    return {"repository": repo}


def _create_field(call: Call, given: Given) -> Payload:
    project = _project(call, given, "CreateProjectV2Field")
    field = board_fields.add_field(
        call.world, project, given["name"], given["dataType"],
        options=given.get("singleSelectOptions") or (),
        iterations=given.get("iterationConfiguration"),
    )  # fmt: skip
    return {"projectV2Field": field}


def _update_field(call: Call, given: Given) -> Payload:
    project, field = _any_field(call, given, "UpdateProjectV2Field")
    board_fields.update_field(
        call.world, project, field,
        name=given.get("name"),
        options=given.get("singleSelectOptions"),
        iterations=given.get("iterationConfiguration"),
    )  # fmt: skip
    return {"projectV2Field": field}


def _delete_field(call: Call, given: Given) -> Payload:
    project, field = _any_field(call, given, "DeleteProjectV2Field")
    board_fields.delete_field(call.world, project, field)
    return {"projectV2Field": field}


def _update_collaborators(call: Call, given: Given) -> Payload:
    """Give people roles of their own; NONE takes one away. Teams are not imitated."""
    project = _project(call, given, "UpdateProjectV2Collaborators", admin=True)
    wanted = [(_node(call, one["userId"], User), one["role"]) for one in given["collaborators"]]
    for user, role in wanted:
        if role == "NONE":
            project.collaborators.pop(user.login.lower(), None)
        else:
            project.collaborators[user.login.lower()] = role
    return {"collaborators": [call.world.users[login] for login in project.collaborators]}


INPUTS = {
    "ProjectV2FieldValue": "text number date singleSelectOptionId iterationId",
    "AddProjectV2DraftIssueInput": "body assigneeIds",
    "UpdateProjectV2DraftIssueInput": "title body assigneeIds",
    "UpdateProjectV2ItemPositionInput": "afterId",
    "CreateProjectV2Input": "repositoryId",
    "UpdateProjectV2Input": "title shortDescription readme closed public",
    "CopyProjectV2Input": "includeDraftIssues",
    "CreateProjectV2FieldInput": "singleSelectOptions iterationConfiguration",
    "UpdateProjectV2FieldInput": "name singleSelectOptions iterationConfiguration",
    "ProjectV2Collaborator": "userId",
}
MUTATIONS = {
    "addProjectV2DraftIssue": _add_draft,
    "addProjectV2ItemById": _add_card,
    "archiveProjectV2Item": lambda c, given: _archive(c, given, archived=True),
    "clearProjectV2ItemFieldValue": _clear_value,
    "convertProjectV2DraftIssueItemToIssue": _convert_draft,
    "copyProjectV2": _copy,
    "createProjectV2": _create,
    "createProjectV2Field": _create_field,
    "deleteProjectV2": _delete,
    "deleteProjectV2Field": _delete_field,
    "deleteProjectV2Item": _delete_card,
    "linkProjectV2ToRepository": lambda c, given: _link(c, given, linked=True),
    "markProjectV2AsTemplate": lambda c, given: _mark_template(c, given, template=True),
    "unarchiveProjectV2Item": lambda c, given: _archive(c, given, archived=False),
    "unlinkProjectV2FromRepository": lambda c, given: _link(c, given, linked=False),
    "unmarkProjectV2AsTemplate": lambda c, given: _mark_template(c, given, template=False),
    "updateProjectV2": _update,
    "updateProjectV2Collaborators": _update_collaborators,
    "updateProjectV2DraftIssue": _update_draft,
    "updateProjectV2Field": _update_field,
    "updateProjectV2ItemFieldValue": _update_value,
    "updateProjectV2ItemPosition": _move,
}
RESOLVERS: dict[str, dict[str, Any]] = {
    "Mutation": mutations(MUTATIONS),
    "UpdateProjectV2ItemPositionPayload": {
        "items": lambda c, made, **given: connection(made["project"].shown(c.seen), **given),
    },
    "UpdateProjectV2CollaboratorsPayload": {
        "collaborators": lambda _, made, **given: connection(made["collaborators"], **given),
    },
}
PLAIN = {
    "AddProjectV2DraftIssuePayload": "projectItem",
    "AddProjectV2ItemByIdPayload": "item",
    "ArchiveProjectV2ItemPayload": "item",
    "ClearProjectV2ItemFieldValuePayload": "projectV2Item",
    "ConvertProjectV2DraftIssueItemToIssuePayload": "item",
    "CopyProjectV2Payload": "projectV2",
    "CreateProjectV2FieldPayload": "projectV2Field",
    "CreateProjectV2Payload": "projectV2",
    "DeleteProjectV2FieldPayload": "projectV2Field",
    "DeleteProjectV2ItemPayload": "deletedItemId",
    "DeleteProjectV2Payload": "projectV2",
    "LinkProjectV2ToRepositoryPayload": "repository",
    "MarkProjectV2AsTemplatePayload": "projectV2",
    "UnarchiveProjectV2ItemPayload": "item",
    "UnlinkProjectV2FromRepositoryPayload": "repository",
    "UnmarkProjectV2AsTemplatePayload": "projectV2",
    "UpdateProjectV2DraftIssuePayload": "draftIssue",
    "UpdateProjectV2FieldPayload": "projectV2Field",
    "UpdateProjectV2ItemFieldValuePayload": "projectV2Item",
    "UpdateProjectV2Payload": "projectV2",
}
