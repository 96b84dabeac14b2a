"""A session ended in the middle of a task: the next one hears of it, and goes on with it."""

from __future__ import annotations

import subprocess

import pytest

from lifecycle.core.stage_names import Detected
from lifecycle.stages.session import session_record as sessions
from lifecycle.storage.workflow_files import WorkflowFiles
from tests.e2e.agent import Agent
from tests.e2e.staged import Ground, marker

SOAKED = pytest.mark.soak(
    "e2e/test_stages_left.py::test_the_next_session_is_told_and_takes_it_over",
    "stages/test_session.py::test_what_is_read_is_what_was_kept",
)


def left(ground: Ground, task: str) -> Agent:
    """An agent that took the task, finished a stage, and is gone."""
    agent = ground.agent()
    agent.prompt(f"/bd-start {task}")
    agent.really_runs(ground.command, "tracker", "claim", task)
    assert (
        "CURRENT STAGE: REQUIREMENTS_REVIEW" in agent.stops(marker(Detected.CODING_COMPLETE)).model
    )
    return agent


def clients(ground: Ground, pid: int) -> None:
    """What is kept of each session says that this process is its client."""
    shelf = WorkflowFiles(ground.root)
    for path in shelf.path("x").parent.glob("*.json"):
        text = path.read_text()
        if '"client": ' in text:
            before = text.partition('"client": ')[2].partition(",")[0]
            path.write_text(text.replace(f'"client": {before}', f'"client": {pid}'))


def gone() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_the_next_session_is_told_and_takes_it_over(ground: Ground) -> None:
    """At its start it hears which task and how; then it is led as whoever had it before."""
    task = ground.task("Half done")
    left(ground, task)
    clients(ground, gone())
    ground.forget_the_minute()
    again = ground.agent()
    told = again.starts("startup").model
    assert f'{task} ("Half done") is in progress in this worktree' in told
    assert f"take it over with: lifecycle tracker claim {task}" in told
    again.prompt(f"Go on with {task}.")
    assert f"{task} was held by " in again.really_runs(ground.command, "tracker", "claim", task)
    assert (
        "CURRENT STAGE: REQUIREMENTS_REVIEW" in again.stops(marker(Detected.CODING_COMPLETE)).model
    )


def test_a_session_that_was_told_nothing_yet_leaves_its_task_too(ground: Ground) -> None:
    """Its client dies in the middle of coding: whose it was is kept from the claim on."""
    task = ground.task("Half done")
    agent = ground.agent()
    agent.prompt(f"/bd-start {task}")
    agent.really_runs(ground.command, "tracker", "claim", task)
    assert agent.stops("The parser is begun.").is_silent
    # It was not led yet, and no view says that it was.
    at_terminal = ground.place.cli("stage", "status", PATH=ground.agent().environment["PATH"])
    assert "No session has been led here yet" in at_terminal.stdout
    assert "Stage:" not in ground.place.cli("status").stdout
    clients(ground, gone())
    ground.forget_the_minute()
    again = ground.agent()
    assert f'{task} ("Half done") is in progress in this worktree' in again.starts("startup").model
    again.really_runs(ground.command, "tracker", "claim", task)
    # The same client with another session, as after `/resume`: what it is told to run is not refused.
    other = ground.agent()
    assert f"with: lifecycle tracker claim {task}" in other.starts("startup").model
    other.really_runs(ground.command, "tracker", "claim", task)


def test_a_session_that_lives_is_left_alone(ground: Ground) -> None:
    """Another client works on it in the same worktree: nobody is told to take it."""
    task = ground.task("Half done")
    left(ground, task)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
        clients(ground, other.pid)
        ground.forget_the_minute()
        assert "in progress in this worktree" not in ground.agent().starts("startup").model
    assert (
        "in progress in this worktree" in ground.agent().starts("startup").model
    )  # now it has ended


@SOAKED
def test_a_session_that_is_resumed_is_not_over(ground: Ground) -> None:
    """Its first client is gone; from its start on the one that goes on with it counts."""
    task = ground.task("Half done")
    agent = left(ground, task)
    clients(ground, gone())
    agent.starts("resume")
    kept = sessions.load(WorkflowFiles(ground.root), agent.id)
    assert kept is not None
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
        assert kept.client not in (0, other.pid)
        clients(ground, other.pid)
        assert "in progress in this worktree" not in ground.agent().starts("startup").model
    assert "in progress in this worktree" in ground.agent().starts("startup").model  # now it is


def test_a_task_that_somebody_closed_meanwhile_waits_for_nobody(ground: Ground) -> None:
    """Until the tracker is asked it waits; the start of a session asks, and ends that."""
    task = ground.task("Half done")
    left(ground, task)
    clients(ground, gone())
    over = f"The session that works on {task} is over"
    assert over in ground.place.cli("watch", "--once").stdout
    ground.bd("close", task)
    ground.forget_the_minute()
    assert "in progress in this worktree" not in ground.agent().starts("startup").model
    assert over not in ground.place.cli("watch", "--once").stdout
