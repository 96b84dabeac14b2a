"""REST's operations on boards (Projects v2) of organizations and users.

Source: https://docs.github.com/rest/projects
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused, ApiError, invalid
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.boards import actions as boards
from lifecycle.sandbox.boards import fields as board_fields
from lifecycle.sandbox.boards import payload as payloads
from lifecycle.sandbox.boards.access import is_granted, is_open, role_in
from lifecycle.sandbox.boards.filter import NotImitated, item_filter, matching_projects
from lifecycle.sandbox.boards.state import BoardTables, Field, FieldType, Item, Project
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.pulls.state import PullRequest
from lifecycle.sandbox.repositories.access import sees
from lifecycle.sandbox.wire.call import Call, Reply, route
from lifecycle.sandbox.wire.rest import asking

T = TypeVar("T")
DOCS = "https://docs.github.com/rest/projects"
PROJECTS, FIELDS, ITEMS = f"{DOCS}/projects", f"{DOCS}/fields", f"{DOCS}/items"
DRAFTS = f"{DOCS}/drafts"
BOARDS = "/<any(orgs, users):kind>/<login>/projectsV2"
BOARD = f"{BOARDS}/<int:number>"
ITEM = f"{BOARD}/items/<int:item_id>"
VALUE_KEYS = {
    "TEXT": "text", "NUMBER": "number", "DATE": "date",
    "SINGLE_SELECT": "singleSelectOptionId", "ITERATION": "iterationId",
}  # fmt: skip


def _owner(call: Call, login: str, kind: str) -> User:
    """The user or organization in the path; 404 if it is not of the path's kind."""
    owner = asking.user(call, login, documentation=PROJECTS)
    if (owner.kind == "organization") is not (kind == "orgs"):
        raise asking.not_found(PROJECTS)
    return owner


def _demand(call: Call, owner: User, level: str) -> None:
    """Refuse a token that lacks the scope or the permission, in the words for its kind."""
    if not is_granted(call.token, owner, level):
        permission = {"x-accepted-github-permissions": f"organization_projects={level}"}
        headers = {} if call.token.kind == "classic" else permission
        words = call.token.refusal
        raise ApiError(403, words, documentation=PROJECTS, headers=headers)


def _project(call: Call, login: str, kind: str, number: int, level: str = "read") -> Project:
    """The board of a path; 404 if the reader cannot see it, 403 if they may not change it."""
    owner = _owner(call, login, kind)
    _demand(call, owner, level)
    project = BoardTables.of(call.world).project(owner, number)
    role = role_in(call.token, project) if project else None
    if project is None or role is None:
        raise asking.not_found(f"{PROJECTS}#get-project")
    if level == "write" and role == "READER":
        raise ApiError(403, "Must have write access to the project", documentation=PROJECTS)
    return project


def _page(call: Call, rows: Sequence[T]) -> tuple[list[T], dict[str, str]]:
    """The rows for `after`, `before` and `per_page`, with the Link header.

    Source: https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
    """
    text = call.query.get("per_page", "")
    size = min(max(int(text), 1), 100) if text.isdecimal() else 30
    after, before = _place(call, "after"), _place(call, "before")
    start = after or 0
    stop = min(start + size, len(rows))
    if before is not None:
        start, stop = max(before - size, 0), min(before, len(rows))
    targets = {"prev": ("before", start)} if start > 0 else {}
    if stop < len(rows):
        targets["next"] = ("after", stop)
    kept = {k: v for k, v in call.query.items() if k not in {"after", "before"}}
    links = [
        f'<{call.base}{call.path}?{urlencode({**kept, name: _cursor(place)})}>; rel="{rel}"'
        for rel, (name, place) in targets.items()
    ]
    return list(rows[start:stop]), {"Link": ", ".join(links)} if links else {}


def _cursor(place: int) -> str:
    return base64.urlsafe_b64encode(f"cursor:{place}".encode()).decode()


def _place(call: Call, name: str) -> int | None:
    """The position in a cursor, None without one; 422 if it is not a cursor."""
    cursor = call.query.get(name)
    if cursor is None:
        return None
    try:
        return int(base64.urlsafe_b64decode(cursor).decode().removeprefix("cursor:"))
    except ValueError:
        error = {"resource": "ProjectV2", "field": name, "code": "invalid"}
        raise invalid(error, documentation=PROJECTS) from None


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn an `ActionRefused` inside into 422, and `NotImitated` into 501."""
    try:
        yield
    except NotImitated as error:
        raise ApiError(501, f"{error}.") from None
    except ActionRefused as error:
        raise ApiError(422, str(error), documentation=ITEMS) from None


@route("GET", BOARDS)
def list_projects(call: Call, kind: str, login: str) -> Reply:
    """GET projectsV2: the boards that the reader may see."""
    asking.only(call, "q", "before", "after")
    owner = _owner(call, login, kind)
    _demand(call, owner, "read")
    mine = [
        p
        for p in BoardTables.of(call.world).projects
        if p.owner is owner and role_in(call.token, p)
    ]
    with _refusing():
        selection = matching_projects(mine, call.query.get("q", ""))
    page, headers = _page(call, selection)
    return Reply(200, [payloads.project(call, project) for project in page], headers)


@route("GET", BOARD)
def get_project(call: Call, kind: str, login: str, number: int) -> Reply:
    """GET projectsV2/N."""
    asking.only(call)
    return Reply(200, payloads.project(call, _project(call, login, kind, number)))


@route("GET", f"{BOARD}/fields")
def list_fields(call: Call, kind: str, login: str, number: int) -> Reply:
    """GET projectsV2/N/fields."""
    asking.only(call, "before", "after")
    project = _project(call, login, kind, number)
    page, headers = _page(call, _shown_fields(project))
    return Reply(200, [payloads.field(call, project, field) for field in page], headers)


def _shown_fields(project: Project) -> list[Field]:
    return [field for field in project.fields if field.data_type not in payloads.UNKNOWN_TO_REST]


@route("GET", f"{BOARD}/fields/<int:field_id>")
def get_field(call: Call, kind: str, login: str, number: int, field_id: int) -> Reply:
    """GET projectsV2/N/fields/ID."""
    asking.only(call)
    project = _project(call, login, kind, number)
    return Reply(200, payloads.field(call, project, _field(project, field_id)))


def _field(project: Project, field_id: int) -> Field:
    field = next(
        (candidate for candidate in _shown_fields(project) if candidate.number == field_id), None
    )
    if field is None:
        raise asking.not_found(f"{FIELDS}#get-project-field")
    return field


@route("POST", f"{BOARD}/fields", docs=FIELDS)
def create_field(call: Call, kind: str, login: str, number: int) -> Reply:
    """POST projectsV2/N/fields."""
    asking.fields(call, "name", "data_type", "single_select_options", "iteration_configuration")
    project = _project(call, login, kind, number, "write")
    name = asking.needed(call, "name", str)
    data_type = asking.needed(call, "data_type", str)
    if data_type.upper() not in VALUE_KEYS:
        raise asking.malformed(f"{data_type!r} is not a possible data type.")
    spans = call.body.get("iteration_configuration")
    with _refusing():
        field = board_fields.add_field(
            call.world, project, name, cast("FieldType", data_type.upper()),
            options=call.body.get("single_select_options") or (),
            iterations=_iterations(spans) if spans else None,
        )  # fmt: skip
    return Reply(201, payloads.field(call, project, field))


def _iterations(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """An iteration field's configuration, from REST's keys to those that `add_field` takes."""
    spans = [
        {
            "title": iteration["title"],
            "startDate": iteration["start_date"],
            "duration": iteration["duration"],
        }
        for iteration in configuration.get("iterations", ())
    ]
    return {
        "startDate": configuration.get("start_date"),
        "duration": configuration.get("duration"),
        "iterations": spans,
    }


def _wanted_fields(call: Call, project: Project) -> list[Field]:
    """The fields that the query names by their ids; without any, only the title."""
    text = call.query.get("fields")
    if text is None:
        return [field for field in project.fields if field.data_type == "TITLE"]
    ids = [part.strip() for part in text.split(",")]
    return [
        _field(project, int(field_id)) if field_id.isdecimal() else _field(project, -1)
        for field_id in ids
    ]


@route("GET", f"{BOARD}/items")
def list_items(call: Call, kind: str, login: str, number: int) -> Reply:
    """GET projectsV2/N/items: the cards that are not archived, in their order."""
    asking.only(call, "q", "fields", "before", "after")
    project = _project(call, login, kind, number)
    fields = _wanted_fields(call, project)
    shown: Sequence[Item] = project.shown(call.seen)
    if call.query.get("q"):
        wanted = item_filter(project, call.viewer, call.query["q"])
        with _refusing():
            shown = [item for item in shown if wanted.matches(item)]
    page, headers = _page(call, shown)
    return Reply(200, [_card(call, item, fields) for item in page], headers)


def _card(call: Call, item: Item, fields: list[Field] | None) -> dict[str, Any]:
    return payloads.card(call, item, is_open=is_open(call.token, item), fields=fields)


def _item(call: Call, project: Project, item_id: int) -> Item:
    """The card of that number, or 404."""
    item = call.world.nodes.get(node_id("PVTI", project.owner.id, item_id))
    if not isinstance(item, Item) or item.project is not project:
        item = next((candidate for candidate in project.items if candidate.number == item_id), None)
    if item is None:
        raise asking.not_found(f"{ITEMS}#get-an-item-for-an-organization-owned-project")
    return item


@route("GET", ITEM)
def get_item(call: Call, kind: str, login: str, number: int, item_id: int) -> Reply:
    """GET projectsV2/N/items/ID."""
    asking.only(call, "fields")
    project = _project(call, login, kind, number)
    fields = _wanted_fields(call, project)
    return Reply(200, _card(call, _item(call, project, item_id), fields))


@route("POST", f"{BOARD}/items", docs=ITEMS)
def add_item(call: Call, kind: str, login: str, number: int) -> Reply:
    """POST projectsV2/N/items: adds a card, or returns the existing one."""
    asking.fields(call, "type", "id", "owner", "repo", "number")
    project = _project(call, login, kind, number, "write")
    content = _content(call)
    if content is None or not sees(call.token, content.repository):
        raise asking.not_found(f"{ITEMS}#add-item-to-organization-owned-project")
    item = boards.add_item(call.world, project, content, call.viewer)
    return Reply(201, _card(call, item, None))


def _content(call: Call) -> Issue | None:
    """The issue that a body names by id, or by repository and number; for a pull request, its half."""
    is_pull = asking.needed(call, "type", str) == "PullRequest"
    if call.body["type"] not in {"Issue", "PullRequest"}:
        raise asking.malformed(f"{call.body['type']!r} is not a possible type.")
    if "id" not in call.body:
        name = f"{asking.needed(call, 'owner', str)}/{asking.needed(call, 'repo', str)}"
        repo = call.world.repository(name)
        issue = (
            IssueTables.of(repo).issues.get(asking.needed(call, "number", int)) if repo else None
        )
        return issue if issue and issue.is_pull is is_pull else None
    wanted = asking.needed(call, "id", int)
    for repo in call.world.repositories.values():
        node = call.world.nodes.get(node_id("PR" if is_pull else "I", repo.id, wanted))
        if node is not None:
            return node.issue if isinstance(node, PullRequest) else cast("Issue", node)
    return None


@route("PATCH", ITEM, docs=ITEMS)
def update_item(call: Call, kind: str, login: str, number: int, item_id: int) -> Reply:
    """PATCH projectsV2/N/items/ID: set or clear values, all or none of them."""
    asking.fields(call, "fields")
    project = _project(call, login, kind, number, "write")
    item = _item(call, project, item_id)
    before = dict(item.values), dict(item.marks)
    with _refusing():
        try:
            for change in asking.needed(call, "fields", list):
                _apply(call, item, change)
        except ActionRefused:
            item.values, item.marks = before
            raise
    return Reply(200, _card(call, item, _wanted_fields(call, project)))


def _apply(call: Call, item: Item, change: Mapping[str, Any]) -> None:
    field = _field(item.project, int(change.get("id", -1)))
    value = change.get("value")
    if value is None:
        board_fields.clear_value(item, field)
    else:
        typed_value = {VALUE_KEYS.get(field.data_type, ""): value}
        board_fields.set_value(item, field, typed_value, call.viewer)


@route("DELETE", ITEM)
def delete_item(call: Call, kind: str, login: str, number: int, item_id: int) -> Reply:
    """DELETE projectsV2/N/items/ID."""
    project = _project(call, login, kind, number, "write")
    boards.remove_item(call.world, _item(call, project, item_id))
    return Reply(204, None)


@route("POST", "/<any(orgs, user):kind>/<login>/projectsV2/<int:number>/drafts", docs=DRAFTS)
def add_draft(call: Call, kind: str, login: str, number: int) -> Reply:
    """POST projectsV2/N/drafts."""
    asking.fields(call, "title", "body")
    if kind == "user":  # the path has the user's number there
        user = next((u for u in call.world.users.values() if str(u.id) == login), None)
        login = user.login if user else login
    project = _project(call, login, kind, number, "write")
    title = asking.needed(call, "title", str)
    body = asking.typed(call, "body", str) or ""
    with _refusing():
        item = boards.add_draft(call.world, project, title, body, (), call.viewer)
    return Reply(201, _card(call, item, None))
