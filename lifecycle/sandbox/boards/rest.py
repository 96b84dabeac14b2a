"""Boards over REST (Projects v2): of organizations and of users.

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
    """Whose boards are meant, or 404: an organization's are not where a user's are."""
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
    """The board of a path; 404 if it is not there for the reader, 403 if it may not be changed."""
    owner = _owner(call, login, kind)
    _demand(call, owner, level)
    project = BoardTables.of(call.world).project(owner, number)
    role = role_in(call.token, project) if project else None
    if project is None or role is None:
        raise asking.not_found(f"{PROJECTS}#get-project")
    if level == "write" and role == "READER":
        raise ApiError(403, "Must have write access to the project", documentation=PROJECTS)
    return project


def _page(call: Call, things: Sequence[T]) -> tuple[list[T], dict[str, str]]:
    """The page that `after`, `before` and `per_page` ask for, with its Link header.

    Source: https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
    """
    text = call.query.get("per_page", "")
    size = min(max(int(text), 1), 100) if text.isdecimal() else 30
    after, before = _place(call, "after"), _place(call, "before")
    start = after or 0
    stop = min(start + size, len(things))
    if before is not None:
        start, stop = max(before - size, 0), min(before, len(things))
    targets = {"prev": ("before", start)} if start > 0 else {}
    if stop < len(things):
        targets["next"] = ("after", stop)
    kept = {k: v for k, v in call.query.items() if k not in {"after", "before"}}
    links = [
        f'<{call.base}{call.path}?{urlencode({**kept, name: _cursor(place)})}>; rel="{rel}"'
        for rel, (name, place) in targets.items()
    ]
    return list(things[start:stop]), {"Link": ", ".join(links)} if links else {}


def _cursor(place: int) -> str:
    return base64.urlsafe_b64encode(f"cursor:{place}".encode()).decode()


def _place(call: Call, name: str) -> int | None:
    """Where a cursor points to; one that the sandbox never gave is 422."""
    given = call.query.get(name)
    if given is None:
        return None
    try:
        return int(base64.urlsafe_b64decode(given).decode().removeprefix("cursor:"))
    except ValueError:
        error = {"resource": "ProjectV2", "field": name, "code": "invalid"}
        raise invalid(error, documentation=PROJECTS) from None


@contextmanager
def _refusing() -> Iterator[None]:
    """What a rule refuses inside is 422, or 501 if GitHub would know better."""
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
        found = matching_projects(mine, call.query.get("q", ""))
    page, headers = _page(call, found)
    return Reply(200, [payloads.project(call, one) for one in page], headers)


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
    return Reply(200, [payloads.field(call, project, one) for one in page], headers)


def _shown_fields(project: Project) -> list[Field]:
    return [one for one in project.fields if one.data_type not in payloads.UNKNOWN_TO_REST]


@route("GET", f"{BOARD}/fields/<int:field_id>")
def get_field(call: Call, kind: str, login: str, number: int, field_id: int) -> Reply:
    """GET projectsV2/N/fields/ID."""
    asking.only(call)
    project = _project(call, login, kind, number)
    return Reply(200, payloads.field(call, project, _field(project, field_id)))


def _field(project: Project, field_id: int) -> Field:
    found = next((one for one in _shown_fields(project) if one.number == field_id), None)
    if found is None:
        raise asking.not_found(f"{FIELDS}#get-project-field")
    return found


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
        made = board_fields.add_field(
            call.world, project, name, cast("FieldType", data_type.upper()),
            options=call.body.get("single_select_options") or (),
            iterations=_iterations(spans) if spans else None,
        )  # fmt: skip
    return Reply(201, payloads.field(call, project, made))


def _iterations(given: Mapping[str, Any]) -> dict[str, Any]:
    """An iteration field's configuration under the keys of the rules."""
    spans = [
        {"title": one["title"], "startDate": one["start_date"], "duration": one["duration"]}
        for one in given.get("iterations", ())
    ]
    return {
        "startDate": given.get("start_date"),
        "duration": given.get("duration"),
        "iterations": spans,
    }


def _wanted_fields(call: Call, project: Project) -> list[Field]:
    """The fields whose values are asked for: by their ids, or the title alone."""
    text = call.query.get("fields")
    if text is None:
        return [one for one in project.fields if one.data_type == "TITLE"]
    ids = [part.strip() for part in text.split(",")]
    return [_field(project, int(one)) if one.isdecimal() else _field(project, -1) for one in ids]


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
    return Reply(200, [_card(call, one, fields) for one in page], headers)


def _card(call: Call, item: Item, fields: list[Field] | None) -> dict[str, Any]:
    return payloads.card(call, item, is_open=is_open(call.token, item), fields=fields)


def _item(call: Call, project: Project, item_id: int) -> Item:
    """The card of that number, or 404."""
    found = call.world.nodes.get(node_id("PVTI", project.owner.id, item_id))
    if not isinstance(found, Item) or found.project is not project:
        found = next((one for one in project.items if one.number == item_id), None)
    if found is None:
        raise asking.not_found(f"{ITEMS}#get-an-item-for-an-organization-owned-project")
    return found


@route("GET", ITEM)
def get_item(call: Call, kind: str, login: str, number: int, item_id: int) -> Reply:
    """GET projectsV2/N/items/ID."""
    asking.only(call, "fields")
    project = _project(call, login, kind, number)
    fields = _wanted_fields(call, project)
    return Reply(200, _card(call, _item(call, project, item_id), fields))


@route("POST", f"{BOARD}/items", docs=ITEMS)
def add_item(call: Call, kind: str, login: str, number: int) -> Reply:
    """POST projectsV2/N/items: the card that is there already, or a new one."""
    asking.fields(call, "type", "id", "owner", "repo", "number")
    project = _project(call, login, kind, number, "write")
    content = _content(call)
    if content is None or not sees(call.token, content.repository):
        raise asking.not_found(f"{ITEMS}#add-item-to-organization-owned-project")
    item = boards.add_item(call.world, project, content, call.viewer)
    return Reply(201, _card(call, item, None))


def _content(call: Call) -> Issue | None:
    """The issue or pull request that a body means: by its id, or its repository and number."""
    is_pull = asking.needed(call, "type", str) == "PullRequest"
    if call.body["type"] not in {"Issue", "PullRequest"}:
        raise asking.malformed(f"{call.body['type']!r} is not a possible type.")
    if "id" not in call.body:
        name = f"{asking.needed(call, 'owner', str)}/{asking.needed(call, 'repo', str)}"
        repo = call.world.repository(name)
        found = (
            IssueTables.of(repo).issues.get(asking.needed(call, "number", int)) if repo else None
        )
        return found if found and found.is_pull is is_pull else None
    wanted = asking.needed(call, "id", int)
    for repo in call.world.repositories.values():
        thing = call.world.nodes.get(node_id("PR" if is_pull else "I", repo.id, wanted))
        if thing is not None:
            return thing.issue if isinstance(thing, PullRequest) else cast("Issue", thing)
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
        given = {VALUE_KEYS.get(field.data_type, ""): value}
        board_fields.set_value(item, field, given, call.viewer)


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
