"""Issues, comments, labels, pages and conditions, as the real GitHub has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.live.hub import Hub

pytestmark = pytest.mark.xdist_group("live")  # one GitHub, one after the other


def test_an_issue_from_open_to_closed(hub: Hub) -> None:
    """A new issue is open; closing keeps the reason and the moment; reopening takes both away."""
    made = hub.issue(body="text")
    path = f"issues/{made['number']}"
    assert (made["state"], made["state_reason"], made["closed_at"]) == ("open", None, None)
    closed = hub.rest("PATCH", path, {"state": "closed", "state_reason": "not_planned"}).json()
    assert (closed["state"], closed["state_reason"]) == ("closed", "not_planned")
    assert closed["closed_at"]
    again = hub.rest("PATCH", path, {"state": "open"}).json()
    assert (again["state"], again["state_reason"], again["closed_at"]) == ("open", "reopened", None)
    edited = hub.rest("PATCH", path, {"title": hub.name("renamed"), "body": None}).json()
    assert (edited["title"][:15], edited["body"]) == ("lifecycle-live-", None)


def test_making_says_where_the_thing_is(hub: Hub) -> None:
    """A 201 has a Location, which is the URL of what was made."""
    answer = hub.rest("POST", "issues", {"title": hub.name("located")})
    made = answer.json()
    close = {"state": "closed"}
    hub.bin.append(lambda: hub.rest("PATCH", f"issues/{made['number']}", close))
    assert answer.headers["Location"] == made["url"]


def test_what_is_not_there_is_404(hub: Hub) -> None:
    """A missing thing is 404 with GitHub's words, its status as text, and where to read more."""
    answer = hub.rest("GET", "issues/99999999")
    assert answer.status_code == 404
    body = answer.json()
    assert (body["message"], body["status"]) == ("Not Found", "404")
    assert body["documentation_url"].startswith("https://docs.github.com/")


def test_an_issue_without_title_is_refused(hub: Hub) -> None:
    """The schema of the request is checked first: 422, and words without a list of errors."""
    answer = hub.rest("POST", "issues", {"body": "no title"})
    assert answer.status_code == 422
    hub.say("POST issues without title", answer.json()["message"].replace("\n", " "))


def test_comments_are_written_and_changed(hub: Hub) -> None:
    """A comment is made, listed, changed and deleted; an empty one is 422."""
    number = hub.issue()["number"]
    made = hub.made(f"issues/{number}/comments", {"body": "one"})
    listed = hub.until(lambda: hub.rest("GET", f"issues/{number}/comments").json(), len)
    assert [one["body"] for one in listed] == ["one"]
    path = f"issues/comments/{made['id']}"
    assert hub.rest("PATCH", path, {"body": "two"}).json()["body"] == "two"
    assert hub.rest("DELETE", path).status_code == 204
    assert hub.rest("GET", path).status_code == 404
    refused = hub.rest("POST", f"issues/{number}/comments", {"body": ""})
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert (error["resource"], error["code"], error["field"]) == (
        "IssueComment", "missing_field", "body",
    )  # fmt: skip


def test_labels_on_and_off(hub: Hub) -> None:
    """A label is made once, put on an issue as a union, and taken off again."""
    number, name = hub.issue()["number"], hub.name("label")
    hub.made("labels", {"name": name, "color": "ededed"}, undo="labels/{name}")
    twice = hub.rest("POST", "labels", {"name": name, "color": "ededed"})
    assert twice.status_code == 422
    assert [(e["resource"], e["code"], e["field"]) for e in twice.json()["errors"]] == [
        ("Label", "already_exists", "name")
    ]
    path = f"issues/{number}/labels"
    for _ in range(2):
        put = hub.rest("POST", path, {"labels": [name]})
        assert (put.status_code, [one["name"] for one in put.json()]) == (200, [name])
    taken = hub.rest("DELETE", f"{path}/{name}")
    assert (taken.status_code, taken.json()) == (200, [])
    assert hub.rest("DELETE", f"{path}/{name}").status_code == 404


def test_assignees_are_a_union(hub: Hub) -> None:
    """Assigning adds; assigning somebody unknown is no error and does nothing."""
    number = hub.issue()["number"]
    me = hub.rest("GET", "/user").json()["login"]
    path = f"issues/{number}/assignees"
    for logins in ([me], [me, "lifecycle-live-nobody-of-that-name"]):
        answer = hub.rest("POST", path, {"assignees": logins})
        assert answer.status_code == 201
        assert [one["login"] for one in answer.json()["assignees"]] == [me]
    assert hub.rest("DELETE", path, {"assignees": [me]}).json()["assignees"] == []


def test_pages_are_linked(hub: Hub) -> None:
    """A list of three in pages of two says what comes next and last, then what came before."""
    number = hub.issue()["number"]
    for n in range(3):
        hub.made(f"issues/{number}/comments", {"body": f"comment {n}"})
    path = f"issues/{number}/comments?per_page=2"
    first = hub.until(lambda: hub.rest("GET", path), lambda a: "next" in a.links)
    assert {"next", "last"} == first.links.keys()
    assert [one["body"] for one in first.json()] == ["comment 0", "comment 1"]
    second = hub.rest("GET", f"{path}&page=2")
    assert {"prev", "first"} == second.links.keys()
    assert [one["body"] for one in second.json()] == ["comment 2"]
    assert re.search(r"[?&]page=2", first.links["next"]["url"])


def test_an_unchanged_answer_is_304_and_free(hub: Hub) -> None:
    """With its ETag an unchanged thing is 304 without a body; a changed one is 200."""
    path = f"issues/{hub.issue()['number']}"
    tag = hub.until(lambda: hub.rest("GET", path), lambda a: a.status_code == 200).headers["ETag"]
    same = hub.rest("GET", path, headers={"If-None-Match": tag})
    assert (same.status_code, same.content) == (304, b"")
    before = int(same.headers["x-ratelimit-used"])
    free = hub.rest("GET", path, headers={"If-None-Match": tag})
    hub.say("a 304 counts against the limit", str(int(free.headers["x-ratelimit-used"]) > before))
    hub.rest("PATCH", path, {"body": "changed"})
    changed = hub.rest("GET", path, headers={"If-None-Match": tag})
    assert changed.status_code == 200


def test_blocked_by_and_sub_issues(hub: Hub) -> None:
    """One issue is blocked by another, and is part of a third, by their ids."""
    one, other, parent = hub.issue(), hub.issue(), hub.issue()
    path = f"issues/{one['number']}/dependencies/blocked_by"
    assert hub.rest("POST", path, {"issue_id": other["id"]}).status_code == 201
    listed = hub.until(lambda: hub.rest("GET", path).json(), len)
    assert [found["number"] for found in listed] == [other["number"]]
    assert hub.rest("DELETE", f"{path}/{other['id']}").status_code == 200
    parts = f"issues/{parent['number']}/sub_issues"
    assert hub.rest("POST", parts, {"sub_issue_id": one["id"]}).status_code == 201
    listed = hub.until(lambda: hub.rest("GET", parts).json(), len)
    assert [found["number"] for found in listed] == [one["number"]]
