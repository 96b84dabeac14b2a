"""Labels and milestones over REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import Response

    Api = Callable[..., Response]


def names(answer: Response) -> list[str]:
    """The names of the labels that were listed."""
    assert answer.status_code == 200, answer.text
    return [one["name"] for one in answer.json()]


def test_a_label_lives(api: Api) -> None:
    """Made with 201 and Location, read in any case, renamed on its issues, deleted from them."""
    body = {"name": "status: in review", "color": "0E8A16", "description": "Somebody looks at it"}
    made = api("POST", "labels", json=body)
    assert made.status_code == 201
    assert made.headers["Location"] == made.json()["url"]
    assert (made.json()["color"], made.json()["default"]) == ("0e8a16", False)
    assert api("GET", "labels/Status:%20in%20review").json() == made.json()
    api("POST", "issues/42/labels", json={"labels": ["status: in review"]})
    renamed = api("PATCH", "labels/status:%20in%20review", json={"new_name": "a/b"}).json()
    assert (renamed["name"], renamed["id"]) == ("a/b", made.json()["id"])
    assert names(api("GET", "issues/42/labels")) == ["bug", "a/b"]
    assert names(api("GET", "labels", params={"per_page": 2})) == ["a/b", "bug"]
    assert api("DELETE", "labels/a%2Fb").status_code == 204
    assert names(api("GET", "issues/42/labels")) == ["bug"]
    assert api("GET", "labels/a%2Fb").status_code == 404


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"name": "BUG"}, {"resource": "Label", "code": "already_exists", "field": "name"}),
        (
            {"name": "x", "color": "#fff"},
            {"resource": "Label", "code": "invalid", "field": "color"},
        ),
        ({"name": ""}, {"resource": "Label", "code": "missing_field", "field": "name"}),
    ],
)
def test_labels_that_cannot_be(api: Api, body: dict[str, str], error: dict[str, str]) -> None:
    """A name that is taken in any case, a wrong colour, no name: 422 in GitHub's codes."""
    answer = api("POST", "labels", json=body)
    assert (answer.status_code, answer.json()["errors"]) == (422, [error])


def test_labels_of_an_issue(api: Api) -> None:
    """POST adds (a list or an object), PUT replaces, DELETE takes one off or all; 404 if not on it."""
    assert names(api("POST", "issues/42/labels", json=["new", "Bug"])) == ["bug", "new"]
    assert names(api("PUT", "issues/42/labels", json={"labels": ["x"]})) == ["x"]
    answer = api("DELETE", "issues/42/labels/bug")
    assert (answer.status_code, answer.json()["message"]) == (404, "Label does not exist")
    assert names(api("DELETE", "issues/42/labels/x")) == []
    api("POST", "issues/42/labels", json=["a", "b"])
    assert api("DELETE", "issues/42/labels").status_code == 204
    assert names(api("GET", "issues/42/labels")) == []
    assert api("GET", "labels/new").json()["color"] == "ededed"


def test_milestones(api: Api) -> None:
    """A milestone counts its issues, closes, is due, is there once, and lets go when deleted."""
    body = {"title": "v1", "description": "First", "due_on": "2030-01-02T00:00:00Z"}
    made = api("POST", "milestones", json=body)
    assert made.status_code == 201
    assert (made.json()["number"], made.json()["due_on"]) == (1, "2030-01-02T00:00:00Z")
    again: dict[str, Any] = api("POST", "milestones", json={"title": "V1"}).json()
    assert again["errors"] == [
        {"resource": "Milestone", "code": "already_exists", "field": "title"}
    ]
    for issue, state in ((41, "open"), (42, "closed")):
        api("PATCH", f"issues/{issue}", json={"milestone": 1, "state": state})
    found = api("GET", "milestones/1").json()
    assert (found["open_issues"], found["closed_issues"]) == (1, 1)
    assert names(api("GET", "milestones/1/labels")) == ["enhancement", "bug"]
    api("POST", "milestones", json={"title": "v2"})
    assert [one["title"] for one in api("GET", "milestones").json()] == ["v1", "v2"]
    closed = api("PATCH", "milestones/1", json={"state": "closed", "title": "v1.0"}).json()
    assert (closed["title"], closed["state"], bool(closed["closed_at"])) == ("v1.0", "closed", True)
    assert [one["title"] for one in api("GET", "milestones").json()] == ["v2"]
    assert api("DELETE", "milestones/1").status_code == 204
    assert api("GET", "issues/41").json()["milestone"] is None
    assert api("GET", "milestones/1").status_code == 404
