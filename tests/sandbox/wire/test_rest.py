"""The REST calls, each as GitHub answers it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]

PULL = {"title": "Fix it", "head": "work", "base": "main", "body": "Refs #42"}


def test_who_am_i(api: Api) -> None:
    """GET /user names the token's owner."""
    assert api("GET", "/user").json()["login"] == "octocat"


def test_repository_tells_default_branch_and_permissions(api: Api) -> None:
    """GET /repos/O/R has what a client needs before a pull request, whatever the case of its name."""
    for path in ("", "/repos/Octo-Org/HELLO-service"):
        found = api("GET", path).json()
        assert found["default_branch"] == "main"
        assert found["permissions"]["push"] is True
        assert found["permissions"]["admin"] is False


def test_unknown_things_are_404(api: Api) -> None:
    """An unknown repository, issue or pull request is Not Found, with GitHub's three keys."""
    for path in ("/repos/octo-org/nothing", "issues/999", "pulls/42"):
        answer = api("GET", path)
        assert answer.status_code == 404
        assert answer.json()["message"] == "Not Found"
        assert set(answer.json()) == {"message", "documentation_url", "status"}


def test_what_is_not_imitated_says_so(api: Api) -> None:
    """A call or parameter that GitHub has and the sandbox has not is 501, never a wrong answer."""
    for path in ("deployments", "issues?type=Bug", "labels?sort=name"):
        assert api("GET", path).status_code == 501, path
    assert api("PATCH", "issues/42", json={"type": "Bug"}).status_code == 501


def test_issues_list_by_state_with_pulls_among_them(api: Api, control: Control) -> None:
    """The list of issues holds pull requests too, marked by `pull_request`."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    made = api("POST", "pulls", json=PULL).json()["number"]
    opened = api("GET", "issues").json()
    assert [one["number"] for one in opened][:2] == [made, 45]
    assert ["pull_request" in one for one in opened][:2] == [True, False]
    closed = api("GET", "issues", params={"state": "closed"}).json()
    assert [one["number"] for one in closed] == [36]
    assert len(api("GET", "issues", params={"state": "all"}).json()) == 9
    assert api("GET", "issues", params={"state": "weird"}).status_code == 422


def test_pages_link_to_each_other(api: Api) -> None:
    """Following `next` from page to page gives every issue once; the query is kept."""
    answer = api("GET", "issues", params={"state": "all", "per_page": 3})
    seen = [one["number"] for one in answer.json()]
    assert set(answer.links) == {"next", "last"}
    while "next" in answer.links:
        answer = api("GET", "/repos" + answer.links["next"]["url"].partition("/repos")[2])
        seen += [one["number"] for one in answer.json()]
    assert seen == [45, 44, 43, 42, 41, 39, 38, 36]
    assert set(answer.links) == {"prev", "first"}


def test_issue_closes_and_reopens(api: Api) -> None:
    """PATCH sets state, reason, closer and time, and is the same when repeated."""
    for _ in range(2):
        closed = api("PATCH", "issues/42", json={"state": "closed"}).json()
        assert (closed["state"], closed["state_reason"]) == ("closed", "completed")
        assert closed["closed_by"]["login"] == "octocat"
        assert closed["closed_at"]
    reopened = api("PATCH", "issues/42", json={"state": "open"}).json()
    assert (reopened["state"], reopened["state_reason"]) == ("open", "reopened")
    assert reopened["closed_by"] is None
    body = {"state": "closed", "state_reason": "not_planned"}
    assert api("PATCH", "issues/42", json=body).json()["state_reason"] == "not_planned"


def test_issue_title_and_body_can_be_edited(api: Api) -> None:
    """PATCH changes only what it is given."""
    edited = api("PATCH", "issues/42", json={"title": "New"}).json()
    assert (edited["title"], edited["state"]) == ("New", "open")
    assert "Two workers" in edited["body"]
    assert api("PATCH", "issues/42", json={"body": None}).json()["body"] is None


@pytest.mark.parametrize(
    "body", [{"state": "shut"}, {"state": "closed", "state_reason": "bored"}, {"state": ["open"]}]
)
def test_wrong_states_are_422(api: Api, body: dict[str, object]) -> None:
    """A state or reason that does not exist is Validation Failed and changes nothing."""
    answer = api("PATCH", "issues/42", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == "invalid"
    assert api("GET", "issues/42").json()["state"] == "open"


def test_assignees_are_a_union_and_strangers_are_ignored(api: Api) -> None:
    """Assigning adds to who is assigned; unknown logins and organizations vanish silently."""
    api("POST", "issues/42/assignees", json={"assignees": ["maria"]})
    answer = api(
        "POST", "issues/42/assignees", json={"assignees": ["OCTOCAT", "nobody", "octo-org"]}
    )
    assert answer.status_code == 201
    assert [one["login"] for one in answer.json()["assignees"]] == ["maria", "octocat"]


def test_unassigning_takes_off_who_is_named(api: Api) -> None:
    """Others stay, whoever was none stays none, and case does not matter."""
    api("POST", "issues/42/assignees", json={"assignees": ["maria", "octocat"]})
    answer = api("DELETE", "issues/42/assignees", json={"assignees": ["MARIA", "nobody"]})
    assert answer.status_code == 200
    assert [one["login"] for one in answer.json()["assignees"]] == ["octocat"]
    assert api("DELETE", "issues/999/assignees", json={"assignees": []}).status_code == 404


def test_a_comment_has_a_longest_length(api: Api) -> None:
    """65,536 characters are a comment, one more is refused, and nothing is written."""
    assert api("POST", "issues/42/comments", json={"body": "x" * 65_536}).status_code == 201
    answer = api("POST", "issues/42/comments", json={"body": "x" * 65_537})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["message"].startswith("body is too long")
    assert len(api("GET", "issues/42/comments").json()) == 1


def test_comments_are_not_deduplicated(api: Api) -> None:
    """The same comment twice is two comments, and pages hold them oldest first."""
    for _ in range(2):
        assert api("POST", "issues/42/comments", json={"body": "Done"}).status_code == 201
    api("POST", "issues/42/comments", json={"body": "Really"})
    page = api("GET", "issues/42/comments", params={"per_page": 2})
    assert [one["body"] for one in page.json()] == ["Done", "Done"]
    assert "next" in page.links
    empty = api("POST", "issues/42/comments", json={"body": " "})
    assert empty.status_code == 422
    assert empty.json()["errors"][0]["code"] == "missing_field"


def test_pull_request_is_created_with_everything(api: Api, control: Control) -> None:
    """POST /pulls answers 201 with head, base and hosts that match the request's."""
    sha = control.push_commit("work", {"a.txt": "a"}, "Work")
    answer = api("POST", "pulls", json={**PULL, "head": "octo-org:work", "draft": True})
    made = answer.json()
    assert answer.status_code == 201
    assert (made["head"]["sha"], made["head"]["label"]) == (sha, "octo-org:work")
    assert (made["base"]["ref"], made["draft"], made["merged"]) == ("main", True, False)
    assert made["mergeable"] is None
    host = answer.request.url or ""
    assert made["html_url"] == host.replace("/repos", "").replace(
        "/pulls", f"/pull/{made['number']}"
    )


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"base": "nowhere"}, {"resource": "PullRequest", "field": "base", "code": "invalid"}),
        ({"head": "nowhere"}, {"resource": "PullRequest", "field": "head", "code": "invalid"}),
        ({"head": "sam:work"}, {"resource": "PullRequest", "field": "head", "code": "invalid"}),
        ({"title": ""}, {"resource": "PullRequest", "code": "missing_field", "field": "title"}),
        (
            {"head": "same"},
            {
                "resource": "PullRequest",
                "code": "custom",
                "message": "No commits between main and same",
            },
        ),
    ],
)
def test_pull_request_refusals(
    api: Api, control: Control, change: dict[str, str], error: dict[str, str]
) -> None:
    """Each thing that is wrong with a pull request is a 422 in GitHub's words, and makes none."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    control.push_commit("same", {"b.txt": "b"}, "Both")
    control.merge_pull(control.open_pull("same", "Both"), method="merge")
    answer = api("POST", "pulls", json={**PULL, **change})
    assert answer.status_code == 422
    assert answer.json()["message"] == "Validation Failed"
    assert answer.json()["errors"] == [error]
    assert api("GET", "pulls").json() == []


def test_missing_head_is_an_invalid_request(api: Api) -> None:
    """Without a head the request itself is invalid."""
    answer = api("POST", "pulls", json={"title": "x", "base": "main"})
    assert answer.status_code == 422
    assert answer.json()["message"] == 'Invalid request.\n\n"head" wasn\'t supplied.'


def test_one_open_pull_request_for_a_branch(api: Api, control: Control) -> None:
    """Of many that are posted at once for one branch, exactly one is made; the others are 422."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: api("POST", "pulls", json=PULL), range(16)))
    assert sorted(a.status_code for a in answers) == [201] + [422] * 15
    messages = {a.json()["errors"][0]["message"] for a in answers if a.status_code == 422}
    assert messages == {"A pull request already exists for octo-org:work."}
    assert len(api("GET", "pulls").json()) == 1


def test_pulls_list_by_head_base_and_state(api: Api, control: Control) -> None:
    """A list filters by `owner:branch`, base and state; closed and merged ones stay distinct."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    first = api("POST", "pulls", json=PULL).json()["number"]
    control.close_pull(first)
    second = api("POST", "pulls", json=PULL).json()["number"]
    mine = {"head": "octo-org:work", "base": "main"}
    assert [p["number"] for p in api("GET", "pulls", params=mine).json()] == [second]
    every = api("GET", "pulls", params={**mine, "state": "all"}).json()
    assert [p["number"] for p in every] == [second, first]
    assert api("GET", "pulls", params={"head": "sam:work", "state": "all"}).json() == []
    assert api("GET", "pulls", params={"base": "other", "state": "all"}).json() == []
    upward = api("GET", "pulls", params={"state": "all", "direction": "asc"}).json()
    assert [p["number"] for p in upward] == [first, second]


def test_mergeable_is_unknown_first(api: Api, control: Control) -> None:
    """The first read after a push says null; the next one knows."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = api("POST", "pulls", json=PULL).json()["number"]
    reads = [api("GET", f"pulls/{number}").json()["mergeable"] for _ in range(3)]
    assert reads == [None, True, True]
    control.push_commit("main", {"a.txt": "other"}, "Clash")
    reads = [api("GET", f"pulls/{number}").json() for _ in range(2)]
    assert [one["mergeable"] for one in reads] == [None, False]
    assert reads[1]["mergeable_state"] == "dirty"


def test_closing_through_the_issue_closes_the_pull_request(api: Api, control: Control) -> None:
    """A pull request is an issue too; a merged one cannot be opened again."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = api("POST", "pulls", json=PULL).json()["number"]
    assert api("PATCH", f"issues/{number}", json={"state": "closed"}).json()["state_reason"] is None
    assert api("GET", f"pulls/{number}").json()["state"] == "closed"
    api("PATCH", f"issues/{number}", json={"state": "open"})
    assert api("GET", f"pulls/{number}").json()["state"] == "open"
    control.merge_pull(number)
    answer = api("PATCH", f"issues/{number}", json={"state": "open"})
    assert answer.status_code == 422
    assert api("GET", f"pulls/{number}").json()["merged"] is True


def test_lists_lag_behind_creation(api: Api, control: Control) -> None:
    """With lag, so many reads of lists miss what is new; the rule of uniqueness does not."""
    control.set_lag(pulls=2, comments=1)
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = api("POST", "pulls", json=PULL).json()["number"]
    assert api("GET", f"pulls/{number}").status_code == 200
    assert api("POST", "pulls", json=PULL).status_code == 422
    assert [len(api("GET", "pulls").json()) for _ in range(3)] == [0, 0, 1]
    api("POST", "issues/42/comments", json={"body": "Done"})
    assert [len(api("GET", "issues/42/comments").json()) for _ in range(2)] == [0, 1]


def test_a_commit_that_is_not_there(api: Api) -> None:
    """Checks of an unknown commit are a 422 that names it."""
    answer = api("GET", f"commits/{'0' * 40}/check-runs")
    assert answer.status_code == 422
    assert answer.json()["message"] == f"No commit found for SHA: {'0' * 40}"
