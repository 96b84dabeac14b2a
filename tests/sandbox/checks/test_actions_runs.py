"""Workflow runs: listed, run again, cancelled, approved; jobs and their logs."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import requests

from lifecycle.sandbox.checks.state import Annotation, PlannedCheck, Step
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.crowd import FORK, crowd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]
    Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world with everybody's tokens."""
    with Sandbox(crowd()) as running:
        yield running


@pytest.fixture
def number(control: Control) -> int:
    """An open pull request of octocat's from `work`."""
    control.push_commit("work", {"a.txt": "a"}, "Work", by="octocat")
    return control.open_pull("work", "Work", by="octocat")


def runs(api: Api, **query: Any) -> list[dict[str, Any]]:
    """The workflow runs that pass a filter."""
    found: list[dict[str, Any]] = api("GET", "actions/runs", params=query).json()["workflow_runs"]
    return found


def test_runs_are_found_by_what_they_are(api: Api, control: Control, number: int) -> None:
    """By head, branch, event, status, conclusion, actor and day; newest first."""
    control.set_check(number, "test", conclusion="failure")
    control.set_check(number, "lint", workflow="Lint", status="in_progress", event="push")
    head = control.world()["pulls"][str(number)]["head_sha"]
    assert [one["name"] for one in runs(api)] == ["Lint", "CI"]
    for query, names in (
        ({"head_sha": head}, ["Lint", "CI"]),
        ({"head_sha": "0" * 40}, []),
        ({"branch": "work", "event": "push"}, ["Lint"]),
        ({"status": "failure"}, ["CI"]),
        ({"status": "in_progress"}, ["Lint"]),
        ({"actor": "maria"}, []),
        ({"actor": "octocat"}, ["Lint", "CI"]),
        ({"created": ">=2020-01-01"}, ["Lint", "CI"]),
        ({"created": "<2020-01-01"}, []),
    ):
        assert [one["name"] for one in runs(api, **query)] == names, query
    (failed,) = runs(api, status="failure")
    assert (failed["conclusion"], failed["display_title"], failed["run_attempt"]) == (
        "failure",
        "Work",
        1,
    )
    assert [one["number"] for one in failed["pull_requests"]] == [number]
    assert api("GET", f"actions/runs/{failed['id']}").json() == failed
    assert api("GET", "actions/runs?page=1&colour=red").status_code == 501


def test_a_job_is_the_check_run_of_its_number(api: Api, control: Control, number: int) -> None:
    """One number for both; the run lists its jobs."""
    check = control.set_check(number, "test", conclusion="failure")
    job = api("GET", f"actions/jobs/{check}").json()
    assert (job["name"], job["conclusion"], job["workflow_name"]) == ("test", "failure", "CI")
    jobs = api("GET", f"actions/runs/{job['run_id']}/jobs").json()
    assert (jobs["total_count"], jobs["jobs"][0]["id"]) == (1, check)
    other = control.set_check(number, "lonely", workflow=None)
    assert api("GET", f"actions/jobs/{other}").status_code == 404


def test_logs_are_behind_a_link_without_a_token(api: Api, control: Control, number: int) -> None:
    """302 to another host; no token there, no second after a minute, nothing while it runs."""
    check = control.set_check(number, "test", status="in_progress")
    assert api("GET", f"actions/jobs/{check}/logs").status_code == 404
    control.set_check(number, "test", conclusion="failure", log="boom\n")
    answer = api("GET", f"actions/jobs/{check}/logs", allow_redirects=False)
    assert (answer.status_code, answer.content) == (302, b"")
    link = answer.headers["Location"]
    with requests.Session() as session:
        session.trust_env = False
        assert session.get(link, timeout=10).text == "boom\n"
        refused = session.get(link, timeout=10, headers={"Authorization": "token sandbox-token"})
        assert refused.status_code == 400
        assert control.expire_links() == 1
        assert session.get(link, timeout=10).status_code == 403
        assert session.get(f"{link}x", timeout=10).status_code == 404


def test_a_log_is_kept_for_some_days(api: Api, control: Control, number: int) -> None:
    """410 once the repository keeps it no more; the job and its steps are still told."""
    check = control.set_check(number, "test", conclusion="failure", log="boom\n")
    assert control.expire_logs() == 1
    gone = api("GET", f"actions/jobs/{check}/logs", allow_redirects=False)
    assert (gone.status_code, gone.json()["message"]) == (410, "Server Error")
    assert api("GET", f"actions/jobs/{check}").json()["conclusion"] == "failure"


def test_a_planned_check_brings_its_log(api: Api, control: Control) -> None:
    """What a plan says that its job prints is that job's log."""
    control.plan_checks(PlannedCheck(name="test", conclusion="failure", log="planned boom\n"))
    control.push_commit("work", {"a.txt": "a"}, "Work", by="octocat")
    control.open_pull("work", "Work", by="octocat")
    (run,) = runs(api)
    (job,) = api("GET", f"actions/runs/{run['id']}/jobs").json()["jobs"]
    assert api("GET", f"actions/jobs/{job['id']}/logs").text == "planned boom\n"


def test_both_apis_show_the_same_steps(
    api: Api, graphql: Ask, control: Control, number: int
) -> None:
    """Number, name, end and whole seconds, with what a check run says of lines of files."""
    began = datetime(2026, 1, 31, 10, 0, tzinfo=UTC)
    steps = [
        Step(1, "Set up job", "success", began, began + timedelta(seconds=2)),
        Step(2, "Run tests", "failure", began + timedelta(seconds=2), began + timedelta(seconds=9)),
        Step(3, "Upload", "skipped"),
    ]
    remark = Annotation("shop.py", 7, 7, "failure", "assert 13 == 12", title="test_total")
    check = control.set_check(
        number, "test", conclusion="failure", steps=steps, annotations=[remark]
    )
    control.set_check(number, "lint")
    shown = api("GET", f"actions/jobs/{check}").json()["steps"]
    assert shown[1] == {
        "name": "Run tests",
        "status": "completed",
        "conclusion": "failure",
        "number": 2,
        "started_at": "2026-01-31T10:00:02Z",
        "completed_at": "2026-01-31T10:00:09Z",
    }
    text = """query($number: Int!) { repository(owner: "octo-org", name: "hello-service") {
      pullRequest(number: $number) { commits(last: 1) { nodes { commit { checkSuites(first: 1) {
        nodes { checkRuns(first: 5, filterBy: {conclusions: [FAILURE]}) { nodes { name
          annotations(first: 5) { nodes { path location { start { line } } message } }
          steps(first: 5, number: 2) { totalCount nodes {
            number name status conclusion startedAt completedAt secondsToCompletion
          } } } } } } } } } } } }"""
    page = graphql(text, number=number)["data"]["repository"]["pullRequest"]["commits"]
    (suite,) = page["nodes"][0]["commit"]["checkSuites"]["nodes"]
    (run,) = suite["checkRuns"]["nodes"]
    (step,) = run["steps"]["nodes"]
    assert (run["name"], step["number"], step["secondsToCompletion"]) == ("test", 2, 7)
    assert (step["status"], step["conclusion"]) == ("COMPLETED", "FAILURE")
    assert (step["startedAt"], step["completedAt"]) == (
        shown[1]["started_at"],
        shown[1]["completed_at"],
    )
    (noted,) = run["annotations"]["nodes"]
    assert (noted["path"], noted["location"]["start"]["line"]) == ("shop.py", 7)


def test_a_workflow_that_cannot_be_read_has_no_jobs(
    api: Api, control: Control, number: int
) -> None:
    """Its run is over, as one that could not start."""
    run = control.break_workflow(number, "Broken")
    shown = api("GET", f"actions/runs/{run}").json()
    assert (shown["status"], shown["conclusion"]) == ("completed", "startup_failure")
    assert api("GET", f"actions/runs/{run}/jobs").json()["total_count"] == 0


def test_clients_follow_the_link_on_their_own(api: Api, control: Control, number: int) -> None:
    """requests takes the token off at the other host, and gets the log."""
    check = control.set_check(number, "test", conclusion="failure")
    followed = api("GET", f"actions/jobs/{check}/logs")
    assert followed.status_code == 200
    assert "##[error]Process completed with exit code 1." in followed.text


def test_the_logs_of_a_run_are_a_zip(api: Api, control: Control, number: int) -> None:
    """A file for each job."""
    control.set_check(number, "test")
    control.set_check(number, "lint")
    (run,) = runs(api)
    packed = api("GET", f"actions/runs/{run['id']}/logs").content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert {"0_test.txt", "1_lint.txt"} <= set(archive.namelist())


def test_failed_jobs_run_again(api: Api, control: Control, number: int) -> None:
    """Another attempt, in which only those that failed are new; 403 while it is under way."""
    control.plan_checks(PlannedCheck(name="test"))
    control.set_check(number, "test", conclusion="failure")
    control.set_check(number, "lint")
    (run,) = runs(api)
    place = f"actions/runs/{run['id']}"
    assert api("POST", f"{place}/rerun-failed-jobs").status_code == 201
    assert api("POST", f"{place}/rerun").status_code == 403
    again = api("GET", place).json()
    assert (again["run_attempt"], again["status"]) == (2, "in_progress")
    jobs = api("GET", f"{place}/jobs").json()["jobs"]
    assert {one["name"]: one["run_attempt"] for one in jobs} == {"test": 2, "lint": 1}
    assert api("GET", f"{place}/jobs?filter=all").json()["total_count"] == 3
    first = api("GET", f"{place}/attempts/1/jobs").json()["jobs"]
    assert {one["name"]: one["conclusion"] for one in first} == {
        "test": "failure",
        "lint": "success",
    }
    for _ in range(2):  # each is a read, and the plan comes after one more
        api("GET", "commits/work/check-runs")
    assert api("GET", place).json()["conclusion"] == "success"


def test_a_run_is_run_again_fifty_times_at_the_most(
    api: Api, control: Control, number: int
) -> None:
    """Then it is 403 in GitHub's words, for its failed jobs, for all, and for one."""
    control.set_check(number, "test", conclusion="failure")
    (run,) = runs(api)
    place = f"actions/runs/{run['id']}"
    for _ in range(50):
        assert api("POST", f"{place}/rerun-failed-jobs").status_code == 201
        control.set_check(number, "test", conclusion="failure")
    (job,) = api("GET", f"{place}/jobs").json()["jobs"]
    for path in (f"{place}/rerun-failed-jobs", f"{place}/rerun", f"actions/jobs/{job['id']}/rerun"):
        refused = api("POST", path)
        assert refused.status_code == 403
        assert refused.json()["message"] == "This workflow run cannot be retried"
    assert api("GET", place).json()["run_attempt"] == 51


def test_what_runs_can_be_cancelled(api: Api, control: Control, number: int) -> None:
    """202 and `cancelled`; 409 for what is over; not for a reader."""
    control.set_check(number, "test", status="in_progress")
    (run,) = runs(api)
    place = f"actions/runs/{run['id']}"
    assert api("POST", f"{place}/cancel", token="visitor").status_code == 403
    assert api("POST", f"{place}/cancel").status_code == 202
    assert api("GET", place).json()["conclusion"] == "cancelled"
    assert api("POST", f"{place}/cancel").status_code == 409


def test_a_strangers_run_waits_for_approval(api: Api, control: Control) -> None:
    """action_required without a job until somebody with write access lets it begin."""
    control.plan_checks(PlannedCheck(name="test"))
    fork = control.at(FORK)
    fork.push_commit("fix", {"f.txt": "f"}, "Fix", by="visitor")
    body = {"title": "Fix", "head": "visitor:fix", "base": "main"}
    head = api("POST", "pulls", json=body, token="visitor").json()["head"]["sha"]
    (run,) = runs(api, head_sha=head)
    assert (run["status"], run["conclusion"], run["pull_requests"]) == (
        "completed",
        "action_required",
        [],
    )
    assert api("GET", f"commits/{head}/check-runs").json()["total_count"] == 0
    place = f"actions/runs/{run['id']}"
    assert api("POST", f"{place}/approve", token="visitor").status_code == 403
    assert api("POST", f"{place}/approve").status_code == 201
    assert api("GET", place).json()["conclusion"] == "success"
    assert api("POST", f"{place}/approve").status_code == 403


def test_workflows_are_known_and_dispatched(api: Api, control: Control) -> None:
    """By number or file; a dispatch makes a run on a branch; a disabled one refuses."""
    control.plan_checks(PlannedCheck(name="ship", workflow="Ship it", event="workflow_dispatch"))
    (flow,) = api("GET", "actions/workflows").json()["workflows"]
    assert (flow["name"], flow["path"]) == ("Ship it", ".github/workflows/ship-it.yml")
    for name in (flow["id"], "ship-it.yml"):
        assert api("GET", f"actions/workflows/{name}").json() == flow
    place = "actions/workflows/ship-it.yml"
    assert api("POST", f"{place}/dispatches", json={"ref": "main"}).status_code == 204
    (run,) = api("GET", f"{place}/runs").json()["workflow_runs"]
    assert (run["event"], run["head_branch"], run["conclusion"]) == (
        "workflow_dispatch",
        "main",
        "success",
    )
    assert api("PUT", f"{place}/disable").status_code == 204
    assert api("PUT", f"{place}/disable").status_code == 403
    assert api("POST", f"{place}/dispatches", json={"ref": "main"}).status_code == 422
    assert api("PUT", f"{place}/enable").status_code == 204
    assert api("GET", "actions/workflows/other.yml").status_code == 404
