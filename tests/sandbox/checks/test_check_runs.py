"""Check runs, suites and statuses as an app writes them, and who may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.checks import actions
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.crowd import crowd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]
    Ask = Callable[..., Any]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world with everybody's tokens and two apps."""
    with Sandbox(crowd()) as running:
        yield running


@pytest.fixture
def sha(control: Control) -> str:
    """The head of an open pull request from `work`."""
    made = control.push_commit("work", {"a.txt": "a\nb\n"}, "Work", by="octocat")
    control.open_pull("work", "Work", by="octocat")
    return made


def remark(line: int) -> dict[str, Any]:
    """An annotation."""
    return {
        "path": "a.txt",
        "start_line": line,
        "end_line": line,
        "annotation_level": "warning",
        "message": f"Line {line}",
    }


def test_only_an_app_makes_check_runs(api: Api, sha: str) -> None:
    """A person's token is 403 in GitHub's words; another app's run is not to be touched."""
    body = {"name": "lint", "head_sha": sha}
    refused = api("POST", "check-runs", json=body)
    assert (refused.status_code, refused.json()["message"]) == (
        403,
        "You must authenticate via a GitHub App.",
    )
    made = api("POST", "check-runs", json=body, token="robot")
    assert made.status_code == 201
    place = f"check-runs/{made.json()['id']}"
    assert made.headers["Location"].endswith(place)
    change = {"conclusion": "success"}
    assert api("PATCH", place, json=change, token="other").status_code == 403
    assert api("PATCH", place, json=change, token="robot").status_code == 200


def test_a_run_lives_from_queued_to_completed(api: Api, sha: str) -> None:
    """Times follow the state; a conclusion completes; a page is the giver's or GitHub's."""
    body = {"name": "lint", "head_sha": sha, "external_id": "7", "details_url": "https://ci/7"}
    made = api("POST", "check-runs", json=body, token="robot").json()
    assert (made["status"], made["started_at"], made["conclusion"]) == ("queued", None, None)
    assert (made["app"]["slug"], made["external_id"], made["details_url"]) == (
        "robot",
        "7",
        "https://ci/7",
    )
    place = f"check-runs/{made['id']}"
    run = api("PATCH", place, json={"status": "in_progress"}, token="robot").json()
    assert run["started_at"]
    done = api("PATCH", place, json={"conclusion": "failure"}, token="robot").json()
    assert (done["status"], done["conclusion"], bool(done["completed_at"])) == (
        "completed",
        "failure",
        True,
    )
    assert api("GET", place).json() == done
    assert [one["number"] for one in done["pull_requests"]]


def test_annotations_come_in_fifties_and_add_up(api: Api, sha: str) -> None:
    """More than fifty at once is 422, and nothing is made of it; each update adds its own."""
    output = {"title": "Lint", "summary": "So so", "annotations": [remark(1)] * 51}
    body: dict[str, Any] = {"name": "lint", "head_sha": sha, "output": output}
    refused = api("POST", "check-runs", json=body, token="robot")
    assert refused.status_code == 422
    assert "No more than 50 items are allowed; 51 were supplied." in refused.json()["message"]
    assert api("GET", f"commits/{sha}/check-runs").json()["total_count"] == 0
    body["output"] = {**output, "annotations": [remark(n) for n in range(1, 51)]}
    made = api("POST", "check-runs", json=body, token="robot").json()
    place = f"check-runs/{made['id']}"
    more = {"output": {"title": "Lint", "summary": "Worse", "annotations": [remark(51)]}}
    last = api("PATCH", place, json=more, token="robot").json()
    assert (last["output"]["annotations_count"], last["output"]["summary"]) == (51, "Worse")
    page = api("GET", f"{place}/annotations", params={"per_page": 50, "page": 2})
    assert [one["message"] for one in page.json()] == ["Line 51"]


@pytest.mark.parametrize(
    "body",
    [
        {"head_sha": "main"},
        {"name": "lint", "head_sha": "nowhere"},
        {"name": "lint", "head_sha": "main", "status": "completed"},
        {"name": "lint", "head_sha": "main", "status": "done"},
        {"name": "lint", "head_sha": "main", "conclusion": "good"},
        {"name": "lint", "head_sha": "main", "output": {"title": "x"}},
        {"name": "lint", "head_sha": "main", "actions": [{}, {}, {}, {}]},
        {"name": "lint", "head_sha": "main", "output": {"summary": "s", "title": "t",
                                                         "annotations": [{"path": "x"}]}},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_422(api: Api, body: dict[str, Any]) -> None:
    """Nothing is made, and the sentence names what is wrong."""
    refused = api("POST", "check-runs", json=body, token="robot")
    assert refused.status_code == 422
    assert refused.json()["message"]
    assert api("GET", "commits/main/check-runs").json()["total_count"] == 0


def test_the_same_name_again_supersedes(api: Api, sha: str) -> None:
    """An app has one suite a commit; `filter=latest` shows the newest of a name in it."""
    for conclusion in ("failure", "success"):
        body = {"name": "lint", "head_sha": sha, "conclusion": conclusion}
        api("POST", "check-runs", json=body, token="robot")
    api("POST", "check-runs", json={"name": "lint", "head_sha": sha}, token="other")
    latest = api("GET", f"commits/{sha}/check-runs").json()["check_runs"]
    assert [one["conclusion"] for one in latest] == ["success", None]
    assert api("GET", f"commits/{sha}/check-runs?filter=all").json()["total_count"] == 3
    mine = api("GET", f"commits/{sha}/check-runs?app_id=4711").json()
    assert mine["total_count"] == 1
    suites = api("GET", f"commits/{sha}/check-suites").json()["check_suites"]
    assert [(one["app"]["slug"], one["status"], one["conclusion"]) for one in suites] == [
        ("robot", "completed", "success"),
        ("other", "queued", None),
    ]
    runs = api("GET", f"check-suites/{suites[0]['id']}/check-runs").json()
    assert runs["total_count"] == 1
    assert api("GET", f"check-suites/{suites[0]['id']}").json()["head_sha"] == sha


def test_suites_are_made_once_and_asked_again(api: Api, sha: str) -> None:
    """201, then 200 for the same; rerequest queues what was over."""
    made = api("POST", "check-suites", json={"head_sha": sha}, token="robot")
    again = api("POST", "check-suites", json={"head_sha": sha}, token="robot")
    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json()["id"] == again.json()["id"]
    body = {"name": "lint", "head_sha": sha, "conclusion": "failure"}
    run = api("POST", "check-runs", json=body, token="robot").json()
    assert api("POST", f"check-runs/{run['id']}/rerequest").status_code == 201
    assert api("GET", f"check-runs/{run['id']}").json()["status"] == "queued"
    assert api("POST", f"check-runs/{run['id']}/rerequest").status_code == 422


def test_statuses_are_made_and_listed(api: Api, sha: str) -> None:
    """201 with a creator; all of them newest first; the combined one folds the newest."""
    for state in ("pending", "success"):
        body = {"state": state, "context": "ci/x", "target_url": "https://x", "description": "d"}
        made = api("POST", f"statuses/{sha}", json=body)
        assert made.status_code == 201
    assert made.json()["creator"]["login"] == "octocat"
    listed = api("GET", f"commits/{sha}/statuses").json()
    assert [one["state"] for one in listed] == ["success", "pending"]
    combined = api("GET", f"commits/{sha}/status").json()
    assert (combined["state"], combined["total_count"], combined["sha"]) == ("success", 1, sha)
    assert api("POST", f"statuses/{sha}", json={"state": "success"}).json()["context"] == "default"


def test_statuses_that_are_refused(api: Api, sha: str) -> None:
    """A word that is no state, a commit that is not there, a reader, and too long a text."""
    assert api("POST", f"statuses/{sha}", json={"state": "good"}).status_code == 422
    assert api("POST", f"statuses/{'0' * 40}", json={"state": "error"}).status_code == 422
    assert api("POST", f"statuses/{sha}", json={"state": "error"}, token="visitor").status_code == (
        404
    )
    long = {"state": "error", "description": "x" * 141}
    assert "140" in api("POST", f"statuses/{sha}", json=long).text


def test_a_thousand_statuses_of_a_context_are_enough(
    api: Api, control: Control, sha: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GitHub takes a thousand for a commit and context; another context has its own."""
    assert actions.MOST_STATUSES == 1000
    monkeypatch.setattr(actions, "MOST_STATUSES", 10)
    for _ in range(10):
        control.set_status("work", "busy", "pending")  # by its branch: git need not be asked
    full = api("POST", f"statuses/{sha}", json={"state": "success", "context": "busy"})
    assert full.status_code == 422
    assert "maximum number of statuses" in full.json()["errors"][0]["message"]
    other = api("POST", f"statuses/{sha}", json={"state": "success", "context": "calm"})
    assert other.status_code == 201


def test_planned_checks_and_graphql_agree_on_a_rerun(
    graphql: Ask, api: Api, control: Control
) -> None:
    """A job that is run again stands beside the old one; GraphQL shows both, and says FAILURE not."""
    control.plan_checks(PlannedCheck(name="test", conclusion="failure"))
    sha = control.push_commit("work", {"a.txt": "a"}, "Work")
    control.open_pull("work", "Work")
    (run,) = api("GET", f"commits/{sha}/check-runs").json()["check_runs"]
    control.plan_checks(PlannedCheck(name="test"))
    assert api("POST", f"actions/jobs/{run['id']}/rerun").status_code == 201
    text = """query C($oid: GitObjectID!) { repository(owner: "octo-org", name: "hello-service") {
      object(oid: $oid) { ... on Commit { statusCheckRollup { state
        contexts(first: 9) { checkRunCount nodes { ... on CheckRun { status conclusion } } } } } } } }"""
    first = graphql(text, oid=sha)["data"]["repository"]["object"]["statusCheckRollup"]
    assert (first["state"], first["contexts"]["checkRunCount"]) == ("PENDING", 2)
    then = graphql(text, oid=sha)["data"]["repository"]["object"]["statusCheckRollup"]
    assert [one["conclusion"] for one in then["contexts"]["nodes"]] == ["FAILURE", "SUCCESS"]
    assert then["state"] == "SUCCESS"
