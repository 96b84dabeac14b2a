"""Checks: set by hand, superseded, planned and late."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.checks.state import PlannedCheck

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]
    Ask = Callable[..., Any]


@pytest.fixture
def number(control: Control) -> int:
    """An open pull request from `work`."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    return control.open_pull("work", "Work")


def contexts(answer: Any) -> list[Any] | None:
    """The checks in an observation, None if there is no rollup."""
    rollup = answer["data"]["repository"]["byNumber"]["statusCheckRollup"]
    found: list[Any] | None = rollup["contexts"]["nodes"] if rollup else None
    return found


def test_rollup_is_null_until_something_registers(
    observe: Ask, control: Control, number: int
) -> None:
    """No check is not a pass: the rollup is null, and then holds what was set."""
    assert contexts(observe(number)) is None
    control.set_check(number, "lint", status="queued")
    control.set_status(number, "ci/deploy", "pending")
    lint, deploy = contexts(observe(number)) or []
    assert (lint["status"], lint["conclusion"], lint["startedAt"]) == ("QUEUED", None, None)
    assert lint["checkSuite"]["workflowRun"] == {
        "event": "pull_request",
        "workflow": {"name": "CI"},
    }
    assert (deploy["context"], deploy["statusState"]) == ("ci/deploy", "PENDING")


def test_setting_again_updates_and_a_rerun_stands_beside(
    observe: Ask, api: Api, control: Control, number: int
) -> None:
    """One run changes in place; a re-run is another one, and REST shows only the latest."""
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    first = control.set_check(number, "test", status="in_progress", started_at=began)
    assert control.set_check(number, "test", conclusion="failure") == first
    assert control.set_check(number, "test", rerun=True) != first
    found = contexts(observe(number)) or []
    assert [one["conclusion"] for one in found] == ["FAILURE", "SUCCESS"]
    assert found[0]["startedAt"] == "2026-01-02T03:04:05Z"
    latest = api("GET", "commits/work/check-runs").json()
    assert [run["conclusion"] for run in latest["check_runs"]] == ["success"]
    assert api("GET", "commits/work/check-runs?filter=all").json()["total_count"] == 2
    assert api("GET", "commits/work/check-runs?check_name=lint").json()["total_count"] == 0


def test_same_name_in_other_workflows_are_other_checks(
    api: Api, control: Control, number: int
) -> None:
    """Name, workflow and event together say which check it is."""
    ids = {
        control.set_check(number, "test"),
        control.set_check(number, "test", workflow="Nightly"),
        control.set_check(number, "test", event="push"),
        control.set_check(number, "test", workflow=None),
    }
    assert len(ids) == 4
    assert api("GET", "commits/work/check-runs").json()["total_count"] == 4


def test_check_runs_have_pages(api: Api, control: Control, number: int) -> None:
    """total_count counts all, a page holds its share."""
    for name in "abc":
        control.set_check(number, name)
    page = api("GET", "commits/work/check-runs", params={"per_page": 2})
    assert (page.json()["total_count"], len(page.json()["check_runs"])) == (3, 2)
    assert "next" in page.links


def test_combined_status_folds_the_newest_of_each_context(
    api: Api, control: Control, number: int
) -> None:
    """Pending without any; failure wins; a newer status of a context replaces an older one."""
    empty = api("GET", "commits/work/status").json()
    assert (empty["state"], empty["total_count"]) == ("pending", 0)
    control.set_status(number, "a", "failure")
    control.set_status(number, "b", "success")
    assert api("GET", "commits/work/status").json()["state"] == "failure"
    control.set_status(number, "a", "success", description="again")
    combined = api("GET", "commits/work/status").json()
    assert (combined["state"], combined["total_count"]) == ("success", 2)
    control.set_status(number, "c", "pending")
    assert api("GET", "commits/work/status").json()["state"] == "pending"


def test_planned_checks_come_after_so_many_reads(observe: Ask, control: Control) -> None:
    """A plan for two reads later: two observations miss it, the third sees it, and then it ends."""
    control.plan_checks(
        PlannedCheck(name="test", status="in_progress", conclusion=None, after_reads=2),
        PlannedCheck(name="test", after_reads=3),
        PlannedCheck(context="ci/x", after_reads=3),
    )
    sha = control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work")
    seen = [contexts(observe(number)) for _ in range(4)]
    assert seen[:2] == [None, None]
    assert [(one["status"], one["conclusion"]) for one in seen[2] or []] == [("IN_PROGRESS", None)]
    test, status = seen[3] or []
    assert (test["status"], test["conclusion"]) == ("COMPLETED", "SUCCESS")
    assert status["statusState"] == "SUCCESS"
    assert len(control.world()["checks"]) == 1
    assert control.world()["checks"][0]["sha"] == sha


def test_each_new_head_starts_over(observe: Ask, api: Api, control: Control) -> None:
    """A push brings a head without checks, which counts its own reads, through REST too."""
    control.plan_checks(PlannedCheck(name="test", after_reads=1))
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work")
    assert [contexts(observe(number)) is None for _ in range(2)] == [True, False]
    control.push_commit("work", {"a.txt": "b"}, "More")
    totals = [api("GET", "commits/work/check-runs").json()["total_count"] for _ in range(2)]
    assert totals == [0, 1]


def test_plans_wait_for_a_pull_request(api: Api, control: Control) -> None:
    """A branch without a pull request gets no checks; opening one announces them at once."""
    control.plan_checks(PlannedCheck(name="test"))
    control.push_commit("work", {"a.txt": "a"}, "Work")
    assert api("GET", "commits/work/check-runs").json()["total_count"] == 0
    control.open_pull("work", "Work")
    assert api("GET", "commits/work/check-runs").json()["total_count"] == 1
