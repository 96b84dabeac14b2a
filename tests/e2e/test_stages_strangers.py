"""Sessions that work on nothing with the label: they are led by their own markers, and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.core.stage_names import Detected
from tests.e2e.agent import Agent
from tests.e2e.staged import LABEL, Ground, marker
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_stages_strangers.py::test_what_a_strangers_session_does_leads_to_nothing"
)

DONE = "The implementation is complete."
"""Words by which CODING ends, in a session that works on a task."""


def gets_approved(agent: Agent) -> None:
    """The agent asks for a review, which approves."""
    agent.uses("Skill", {"skill": "oracle-review", "args": ""}, "The review: approved.")


def runs_tests(agent: Agent) -> None:
    """The agent runs the tests, which pass."""
    agent.runs("pytest", "4 passed in 0.1s")


def closes_another(agent: Agent) -> None:
    """The agent closes a task without the label."""
    agent.runs("bd close bd-999 --reason done", "Closed bd-999: done")


@pytest.mark.parametrize("does", [runs_tests, soaked(gets_approved), closes_another])
def test_what_a_strangers_session_does_leads_to_nothing(
    ground: Ground, does: Callable[[Agent], None]
) -> None:
    """A person wants the tests run, while a labelled task is open: no instruction, nothing written down."""
    task = ground.task("First")
    ground.agent().starts("startup")
    agent = ground.agent()
    agent.prompt(f"Run the tests, please. Nothing about {task}, or 1.")
    does(agent)
    for text in ("All tests pass.", "The review is approved.", DONE):
        assert agent.stops(text).is_silent
    assert ground.journal("transition") == []
    assert not (ground.here / f"stages/{agent.id}.json").exists()
    assert "REQUIREMENTS_REVIEW" in agent.stops(marker(Detected.CODING_COMPLETE)).model


@SOAKED
def test_a_strangers_test_runs_ask_the_tracker_nothing(ground: Ground) -> None:
    """While labelled tasks are known to be open, no process of the tracker's is started for it."""
    ground.task("First")
    ground.agent().starts("startup")
    agent = ground.agent()
    calls = ground.calls()
    for _ in range(3):
        agent.prompt("Run the tests")
        runs_tests(agent)
        assert agent.stops(DONE).is_silent
        ground.forget_the_minute()
    assert ground.calls() == calls
    assert "REQUIREMENTS_REVIEW" in agent.stops(marker(Detected.CODING_COMPLETE)).model
    assert ground.calls() > calls


@SOAKED
def test_its_own_marker_makes_it_the_workflows(ground: Ground) -> None:
    """Explicit, it counts in any session."""
    ground.task("First")
    agent = ground.agent()
    agent.prompt("Run the tests")
    runs_tests(agent)
    assert "CURRENT STAGE: ORACLE_REVIEW" in agent.stops(marker(Detected.TESTS_PASSING)).model


@SOAKED
@pytest.mark.parametrize("command", ["bd show {}", "bd update {} --claim", "/bd-start {}"])
def test_who_took_a_labelled_task_up_is_led_by_what_it_does(ground: Ground, command: str) -> None:
    """Shown, claimed or started: from then on what it says and does counts without a marker."""
    task = ground.task("First")
    agent = ground.agent()
    line = command.format(task)
    agent.prompt(line if line.startswith("/") else "Go on")
    if not line.startswith("/"):
        agent.runs(line, task)
    agent.edits("code.py", "one = 1\n")
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in agent.stops(DONE).model


@SOAKED
@pytest.mark.parametrize("is_known", [True, False])
def test_closing_a_labelled_task_without_a_marker_advances(ground: Ground, is_known: bool) -> None:
    """`bd close` of a task that had the label until then, whether anybody had asked for it before."""
    task = ground.task("First")
    ground.task("Second")
    if is_known:
        ground.agent().starts("startup")
    agent = ground.agent()
    agent.prompt("Finish what is open")
    ground.bd("close", task)
    agent.runs(f"bd close {task} --reason done", f"Closed {task}: done")
    told = agent.stops("That was it.").model
    assert "CURRENT STAGE: NEXT_TASK" in told
    assert ground.journal("transition") == [(task, "COMMIT_CLOSE", "NEXT_TASK")]


@SOAKED
def test_stats_know_the_labels_and_titles_of_the_stages_tasks(ground: Ground) -> None:
    """Driven from coding to the end, a task stands in `stats --label` with its title, to its last entry."""
    task = ground.task("First of all")
    ground.task("Other", LABEL, "backend")
    agent = ground.agent()
    agent.prompt(f"/bd-start {task}")
    agent.runs(f"bd update {task} --claim")
    for state in (Detected.CODING_COMPLETE, Detected.REQUIREMENTS_REVIEWED):
        assert agent.stops(marker(state)).model
    agent.runs("pytest", "4 passed in 0.1s")
    for state in (Detected.TESTS_PASSING, Detected.ORACLE_APPROVED):
        assert agent.stops(marker(state)).model
    ground.bd("close", task)
    agent.runs(f"bd close {task} --reason done", f"Closed {task}: done")
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops("That was it.").model

    def shown(*arguments: str) -> dict[str, Any]:
        done = ground.place.cli("stats", "--json", *arguments, **agent.environment)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    labelled = shown("--label", LABEL)
    (found,) = labelled["tasks"]
    assert (found["id"], found["title"]) == (task, "First of all")
    assert "COMMIT_CLOSE" in [visit["stage"] for visit in found["visits"]]
    assert LABEL in [group["name"] for group in labelled["labels"]]
    assert shown("--label", "backend")["tasks"] == []


@SOAKED
def test_a_task_that_a_command_of_ours_made_and_took_is_led_at_once(ground: Ground) -> None:
    """The last answer is some seconds old and has only another agent's task: that is nobody's here."""
    theirs = ground.task("Theirs")
    ground.bd("update", theirs, "--claim", actor="alice")
    agent = ground.agent()
    agent.starts("startup")
    own = {**agent.environment, "CLAUDE_CODE_SESSION_ID": agent.id}
    made = ground.place.cli("tracker", "create", "Mine", "--label", LABEL, "--json", **own)
    mine = json.loads(made.stdout)["task"]["id"]
    agent.prompt(f"/bd-start {mine}")
    done = ground.place.cli("tracker", "claim", mine, **own)
    assert done.returncode == 0, done.stderr
    agent.runs(f"lifecycle tracker claim {mine}", f"{mine} Mine is yours")
    told = agent.stops(marker(Detected.CODING_COMPLETE)).model
    assert f"bd show {mine}" in told
    assert theirs not in told
    assert ground.journal("transition") == [(mine, "CODING", "REQUIREMENTS_REVIEW")]


@SOAKED
def test_the_only_task_is_not_the_sessions_if_another_has_it(ground: Ground) -> None:
    """A marker in a session that took up nothing: no instruction speaks of what another agent holds."""
    theirs = ground.task("Theirs")
    ground.bd("update", theirs, "--claim", actor="alice")
    agent = ground.agent()
    agent.prompt("Write something")
    told = agent.stops(marker(Detected.CODING_COMPLETE)).model
    assert theirs not in told
    assert "REQUIREMENTS_REVIEW" in told


@SOAKED
def test_a_label_that_a_command_of_ours_put_on_is_seen_at_the_next_stop(ground: Ground) -> None:
    """No task had the label, so that no stop was looked at for minutes: now it is."""
    task = ground.task("First", "bug")
    agent = ground.agent()
    agent.prompt("Go on")
    agent.edits("code.py", "one = 1\n")
    assert agent.stops(marker(Detected.CODING_COMPLETE)).is_silent
    done = ground.place.cli("tracker", "label", task, "--add", LABEL, **agent.environment)
    assert done.returncode == 0, done.stderr
    agent.runs(f"lifecycle tracker claim {task}", "is yours")
    assert (
        "CURRENT STAGE: REQUIREMENTS_REVIEW"
        in agent.stops(marker(Detected.CODING_COMPLETE) + " ").model
    )


@SOAKED
def test_what_another_holds_is_refused_until_that_is_settled(ground: Ground) -> None:
    """Every marker after the first is refused as well, also that of a closing that did not happen."""
    task = ground.task("First")
    ground.bd("update", task, "--claim", actor="root-406334809238")
    agent = ground.agent()
    agent.prompt(f"/bd-start {task}")
    for number, state in enumerate(
        (
            Detected.CODING_COMPLETE,
            Detected.REQUIREMENTS_REVIEWED,
            Detected.REQUIREMENTS_REVIEWED,
            Detected.ISSUE_CLOSED,
        )
    ):
        agent.runs("ls")
        told = agent.stops(marker(state) + " " * number).model
        assert f"Task {task} is claimed by root-406334809238." in told, state
    assert ground.journal("transition") == []
    ground.bd("update", task, "--assignee", "", "--status", "open")
    agent.runs("ls")
    assert (
        "CURRENT STAGE: REQUIREMENTS_REVIEW" in agent.stops(marker(Detected.CODING_COMPLETE)).model
    )
