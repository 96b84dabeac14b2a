"""Boards: Projects v2 of an organization and of a person, over REST."""

from __future__ import annotations

from typing import Any

from tests.clients.rows.form import Row, gone
from tests.clients.scene import Scene

ORG: dict[str, Any] = {"org": "octo-org", "project_number": 1}
USER: dict[str, Any] = {"username": "maria", "project_number": 2}


def _issue(scene: Scene) -> dict[str, Any]:
    """An issue that is on no board, as what to add."""
    return {"type": "Issue", "id": scene.issue_id(scene.issue())}


def _edit(scene: Scene, owner: str) -> dict[str, Any]:
    """A card, and a text for its field Agent."""
    value = {"id": scene.field(owner, "Agent"), "value": "octocat"}
    return {"item_id": scene.item(owner), "fields": [value]}


BOARDS = (
    Row("projects/list-for-org", lambda _: {"org": "octo-org"}),
    Row("projects/get-for-org", lambda _: ORG),
    Row("projects/list-fields-for-org", lambda _: ORG),
    Row("projects/get-field-for-org", lambda s: {**ORG, "field_id": s.field("octo-org", "Status")}),
    Row("projects/add-field-for-org", lambda s: {
        **ORG, "name": s.name("Field"), "data_type": "text"}, 201),
    Row("projects/list-items-for-org", lambda _: ORG),
    Row("projects/get-org-item", lambda s: {**ORG, "item_id": s.item("octo-org")}),
    Row("projects/add-item-for-org", lambda s: {**ORG, **_issue(s)}, 201),
    Row("projects/create-draft-item-for-org", lambda _: {**ORG, "title": "A note"}, 201),
    Row("projects/update-item-for-org", lambda s: {**ORG, **_edit(s, "octo-org")}),
    gone("projects/delete-item-for-org", lambda s: {**ORG, "item_id": s.item("octo-org")}),
    Row("projects/list-for-user", lambda _: {"username": "maria"}),
    Row("projects/get-for-user", lambda _: USER),
    Row("projects/list-fields-for-user", lambda _: USER),
    Row("projects/get-field-for-user", lambda s: {**USER, "field_id": s.field("maria", "Status")}),
    Row("projects/add-field-for-user", lambda s: {
        **USER, "name": s.name("Field"), "data_type": "text"}, 201),
    Row("projects/list-items-for-user", lambda _: USER),
    Row("projects/get-user-item", lambda s: {**USER, "item_id": s.item("maria")}),
    Row("projects/add-item-for-user", lambda s: {**USER, **_issue(s)}, 201),
    Row("projects/create-draft-item-for-authenticated-user", lambda s: {
        "user_id": s.maria, "project_number": 2, "title": "A note"}, 201),
    Row("projects/update-item-for-user", lambda s: {**USER, **_edit(s, "maria")}),
    gone("projects/delete-item-for-user", lambda s: {**USER, "item_id": s.item("maria")}),
)  # fmt: skip
