"""Issues over REST: made, edited, listed, commented, locked, and what happened to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.seed import SeedMilestone, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.tokens import grant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world, with two milestones."""
    milestones = [SeedMilestone(1, "v1"), SeedMilestone(2, "v2")]
    with Sandbox(default_seed().with_home(milestones=milestones)) as running:
        yield running


@pytest.fixture
def visitor(sandbox: Sandbox) -> str:
    """The token of somebody who only reads."""
    return grant(sandbox, "visitor")


def numbers(answer: Response) -> list[int]:
    """The numbers of the issues that were listed."""
    assert answer.status_code == 200, answer.text
    return [one["number"] for one in answer.json()]


def test_an_issue_is_made_with_all_that_it_is_given(api: Api) -> None:
    """POST /issues gives the next number, Location, labels (new ones in grey), people, milestone."""
    body = {
        "title": "New", "body": "Text", "labels": ["bug", "fresh"], "assignees": ["sam"],
        "milestone": 1,
    }  # fmt: skip
    answer = api("POST", "issues", json=body)
    made = answer.json()
    assert answer.status_code == 201
    assert answer.headers["Location"] == made["url"]
    assert (made["number"], made["user"]["login"], made["state"]) == (46, "octocat", "open")
    assert [one["name"] for one in made["labels"]] == ["bug", "fresh"]
    assert made["labels"][1]["color"] == "ededed"
    assert (made["assignee"]["login"], made["milestone"]["title"]) == ("sam", "v1")
    assert api("GET", "issues/46").json() == made


def test_a_reader_makes_a_plain_issue(api: Api, visitor: str) -> None:
    """Who may not triage opens issues, and what else they ask for is silently left out."""
    body = {"title": "Hm", "labels": ["bug"], "assignees": ["sam"], "milestone": 1}
    made = api("POST", "issues", json=body, token=visitor).json()
    assert (made["labels"], made["assignees"], made["milestone"]) == ([], [], None)
    assert made["author_association"] == "NONE"
    refused = api("PATCH", "issues/42", json={"title": "x"}, token=visitor)
    assert refused.status_code == 403
    own = api("PATCH", "issues/46", json={"title": "Mine", "labels": ["bug"]}, token=visitor)
    assert (own.json()["title"], own.json()["labels"]) == ("Mine", [])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, '"title" wasn\'t supplied.'),
        ({"title": None}, "For 'properties/title', nil is not a string."),
        ({"title": 5}, "For 'properties/title', 5 is not a string."),
        ({"title": " "}, "missing_field"),
        ({"title": "x" * 257}, "title is too long (maximum is 256 characters)"),
        ({"title": "x", "assignees": ["nobody"]}, "assignees"),
        ({"title": "x", "milestone": 9}, "milestone"),
        ({"title": "x", "labels": [5]}, "Label"),
    ],
)
def test_what_is_wrong_with_a_new_issue(api: Api, body: dict[str, Any], words: str) -> None:
    """Each mistake is a 422 that names it, and no issue is made."""
    answer = api("POST", "issues", json=body)
    assert answer.status_code == 422
    assert words in answer.text.replace('\\"', '"')
    assert api("GET", "issues/46").status_code == 404


def test_one_edit_changes_everything(api: Api) -> None:
    """PATCH replaces labels and assignees, sets and clears the milestone, and says it in events."""
    body = {"title": "T", "labels": ["docs"], "assignees": ["maria", "sam"], "milestone": 2}
    edited = api("PATCH", "issues/42", json=body).json()
    assert [one["name"] for one in edited["labels"]] == ["docs"]
    assert [one["login"] for one in edited["assignees"]] == ["maria", "sam"]
    assert edited["milestone"]["number"] == 2
    cleared = api("PATCH", "issues/42", json={"milestone": None, "labels": []}).json()
    assert (cleared["milestone"], cleared["labels"]) == (None, [])
    assert len(cleared["assignees"]) == 2
    kinds = [one["event"] for one in api("GET", "issues/42/events").json()]
    assert kinds == [
        "renamed", "unlabeled", "labeled", "assigned", "assigned", "milestoned", "unlabeled",
        "demilestoned",
    ]  # fmt: skip
    wrong = api("PATCH", "issues/42", json={"state": "closed", "milestone": 99})
    assert wrong.status_code == 422
    assert api("GET", "issues/42").json()["state"] == "open"


def test_lists_filter_and_sort(api: Api, control: Control) -> None:
    """Labels are all needed; people, milestones and times filter; sort and direction order."""
    api("PATCH", "issues/41", json={"labels": ["enhancement", "bug"], "milestone": 1})
    control.comment(39, "@maria: look")
    assert numbers(api("GET", "issues", params={"labels": "Bug,enhancement"})) == [41]
    assert numbers(api("GET", "issues", params={"assignee": "sam"})) == [39, 38]
    assert numbers(api("GET", "issues", params={"assignee": "none"})) == [45, 44, 43, 42, 41]
    assert numbers(api("GET", "issues", params={"assignee": "*"})) == [39, 38]
    assert numbers(api("GET", "issues", params={"creator": "sam"})) == [44, 39]
    assert numbers(api("GET", "issues", params={"mentioned": "maria"})) == [39]
    assert numbers(api("GET", "issues", params={"milestone": "1"})) == [41]
    assert numbers(api("GET", "issues", params={"milestone": "*"})) == [41]
    assert 41 not in numbers(api("GET", "issues", params={"milestone": "none"}))
    assert numbers(api("GET", "issues", params={"sort": "comments", "per_page": 1})) == [39]
    assert numbers(api("GET", "issues", params={"direction": "asc", "per_page": 2})) == [38, 39]
    assert numbers(api("GET", "issues", params={"since": "2999-01-01T00:00:00Z"})) == []
    for wrong in ({"milestone": "9"}, {"assignee": "nobody"}, {"since": "soon"}, {"sort": "best"}):
        assert api("GET", "issues", params=wrong).status_code == 422, wrong


def test_comments_are_edited_and_deleted(api: Api, visitor: str) -> None:
    """A comment has an address of its own; its author and who may push change it."""
    made = api("POST", "issues/42/comments", json={"body": "One"})
    where = made.json()["url"].partition("/hello-service/")[2]
    assert made.headers["Location"] == made.json()["url"]
    assert api("PATCH", where, json={"body": "x"}, token=visitor).status_code == 403
    edited = api("PATCH", where, json={"body": "Two"}).json()
    assert (edited["body"], edited["id"]) == ("Two", made.json()["id"])
    listed = api("GET", "issues/comments", params={"sort": "created"}).json()
    assert [one["body"] for one in listed] == ["Two"]
    assert api("GET", "issues/42").json()["comments"] == 1
    assert api("DELETE", where).status_code == 204
    assert api("GET", where).status_code == 404
    assert api("GET", "issues/42/comments").json() == []


def test_a_locked_issue_is_for_its_people(api: Api, visitor: str) -> None:
    """After PUT lock a reader's comment is 403, a writer's is made; DELETE lock opens it again."""
    assert api("PUT", "issues/42/lock", json={"lock_reason": "bored"}).status_code == 422
    assert api("PUT", "issues/42/lock", json={"lock_reason": "resolved"}).status_code == 204
    locked = api("GET", "issues/42").json()
    assert (locked["locked"], locked["active_lock_reason"]) == (True, "resolved")
    words = {"body": "Hello"}
    refused = api("POST", "issues/42/comments", json=words, token=visitor)
    assert refused.status_code == 403
    assert refused.json()["message"] == "Unable to create comment because issue is locked."
    assert api("POST", "issues/42/comments", json=words).status_code == 201
    assert api("DELETE", "issues/42/lock").status_code == 204
    again = api("POST", "issues/42/comments", json=words, token=visitor)
    assert again.status_code == 201


def test_the_timeline_holds_events_comments_and_references(api: Api) -> None:
    """What names an issue shows in its timeline, once for each that names it, and in no event list."""
    api("POST", "issues/42/comments", json={"body": "Hello"})
    api("POST", "issues", json={"title": "Other", "body": "See #42 and octo-org/hello-service#42"})
    api("PATCH", "issues/42", json={"state": "closed", "state_reason": "not_planned"})
    found = api("GET", "issues/42/timeline").json()
    assert [one["event"] for one in found] == ["commented", "cross-referenced", "closed"]
    assert found[1]["source"]["issue"]["number"] == 46
    assert found[2]["state_reason"] == "not_planned"
    (event,) = api("GET", "issues/42/events").json()
    assert event["event"] == "closed"
    every = api("GET", "issues/events").json()[0]
    assert every["issue"]["number"] == 42
    assert api("GET", f"issues/events/{event['id']}").json()["event"] == "closed"
    assert api("GET", "issues/events/1").status_code == 404


def test_switched_off_issues_are_gone(api: Api, control: Control, sandbox: Sandbox) -> None:
    """Where issues are off, they are 410 to make and to read, the list is empty, and pulls remain."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    pull = control.open_pull("work", "Work")
    assert api("PATCH", "", json={"has_issues": False}).status_code == 403
    off = api("PATCH", "", json={"has_issues": False}, token=grant(sandbox, "maria"))
    assert off.json()["has_issues"] is False
    for method, path in (("GET", "issues/42"), ("POST", "issues"), ("GET", "issues/42/comments")):
        answer = api(method, path, json={"title": "x"} if method == "POST" else None)
        assert answer.status_code == 410, path
        assert answer.json()["message"] == "Issues has been disabled in this repository."
    assert numbers(api("GET", "issues")) == [pull]
    assert api("POST", f"issues/{pull}/comments", json={"body": "Hi"}).status_code == 201


def test_who_can_be_assigned(api: Api) -> None:
    """Members and people with a role can be; others are 404, and silently left out of an issue."""
    listed = [one["login"] for one in api("GET", "assignees").json()]
    assert listed == ["octocat", "maria", "sam"]
    assert api("GET", "assignees/sam").status_code == 204
    assert api("GET", "issues/42/assignees/visitor").status_code == 404
    api("POST", "issues/42/assignees", json={"assignees": ["visitor"]})
    assert api("GET", "issues/42").json()["assignees"] == []


def test_my_issues_and_those_of_an_organization(api: Api) -> None:
    """GET /issues, /user/issues and /orgs/O/issues list across repositories, assigned ones first."""
    api("POST", "issues/42/assignees", json={"assignees": ["octocat"]})
    for path in ("/issues", "/user/issues", "/orgs/octo-org/issues"):
        (found,) = api("GET", path).json()
        assert (found["number"], found["repository"]["name"]) == (42, "hello-service")
    assert len(api("GET", "/issues", params={"filter": "repos", "state": "all"}).json()) == 8
