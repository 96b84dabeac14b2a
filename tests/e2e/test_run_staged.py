"""A labelled task inside a run: what the run recorded is the evidence with which its stages end."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import pytest

from lifecycle.core.stage_names import Detected
from tests.bare_pytest import BARE
from tests.cli.outcome import ok
from tests.e2e.agent import Agent
from tests.e2e.staged import Ground, marker

COMPLETE = "## WORKFLOW_COMPLETE\n**Goal:** Say hello"
CLOSED = marker(Detected.ISSUE_CLOSED)
SETTINGS = """
require_evidence = true
[checks.commands]
test = "{python} -m pytest -q {bare}"
"""
UNTIL_WRITTEN = (
    "init 'Say hello' --autonomous",
    "update-phase analysis",
    "add-story Hello --size S",
    "update-phase planning",
    "story-plan S1 --criterion 'it says hello' --design 'A page' --file hello.md",
    "update-phase development",
    "update-story S1 in_progress",
    "tdd waive S1 --reason 'only a page'",
)
UNTIL_COMPLETE = (
    "gate G4 S1",
    "gate G5 S1",
    "criterion S1 1 met",
    "review S1 --by reviewer --verdict APPROVED",
    "commit S1",
    "update-story S1 completed",
    "finish",
)


def led_to_its_end(ground: Ground) -> Agent:
    """An agent that has claimed a labelled task and completed a run for it, whose gates ran the tests."""
    task = ground.task("First")
    ground.task("Second")
    agent = completed(ground, (ground.command, "tracker", "claim", task))
    assert "CURRENT STAGE: COMMIT_CLOSE" in agent.stops(COMPLETE).model
    ground.bd("close", task, "--reason", "Done")
    return agent


def completed(ground: Ground, *commands: tuple[str, ...]) -> Agent:
    """An agent that ran these commands and then completed a run; its next stop is the first after it."""
    place = ground.place
    place.git("switch", "-qc", "hello")
    place.git("rm", "-q", "-r", ".")  # a module there has the name of one of Python's own
    ground.settings(SETTINGS.format(python=shlex.quote(sys.executable), bare=" ".join(BARE)))
    (ground.root / ".gitignore").write_text("__pycache__/\n.beads/\n.claude/\n")
    (ground.root / "test_page.py").write_text("def test_page():\n    assert True\n")
    place.git("add", "-A")
    place.git("commit", "-qm", "Say how it is tested")
    agent = ground.agent()
    variables: dict[str, Any] = {
        "CLAUDE_CODE_SESSION_ID": agent.session.id,
        **agent.session.environment,
    }
    ok(place.cli("trust", "--yes"))
    agent.prompt("Do the first one")
    for command in commands:
        agent.really_runs(*command)
    for line in UNTIL_WRITTEN:
        ok(place.cli("run", *shlex.split(line), **variables))
    (ground.root / "hello.md").write_text("Hello\n")
    for line in UNTIL_COMPLETE:
        ok(place.cli("run", *shlex.split(line), **variables))
    return agent


def test_what_the_runs_gates_showed_closes_the_task_without_another_check(ground: Ground) -> None:
    """Evidence is required, nobody runs the tests again, and the next stage is told."""
    agent = led_to_its_end(ground)
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops(CLOSED).model
    assert ground.journal("refused") == []


def test_a_run_without_a_labelled_task_ends_without_a_stage(ground: Ground) -> None:
    """Nobody has begun the one labelled task: who looked at it and completed a run is to close nothing."""
    task = ground.task("Somebody's idea")
    agent = completed(ground, ("bd", "show", task))
    assert agent.stops(COMPLETE).is_silent
    assert ground.journal("block") == []


def test_a_task_that_was_closed_during_its_run_is_followed_by_the_next(ground: Ground) -> None:
    """The tracker's list has it no more, but this session began it: its stages end like any other's."""
    task = ground.task("First")
    ground.task("Second")
    agent = completed(ground, ("bd", "update", task, "--claim"))
    ground.bd("close", task, "--reason", "Done")
    assert f"bd close {task}" in agent.stops(COMPLETE).model
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops(CLOSED).model


@pytest.mark.soak(
    "e2e/test_run_staged.py::test_what_the_runs_gates_showed_closes_the_task_without_another_check"
)
def test_an_edit_after_the_run_voids_what_its_gates_showed(ground: Ground) -> None:
    """The records are of other files then, and the task's stages do not end."""
    agent = led_to_its_end(ground)
    (ground.root / "hello.md").write_text("Good bye\n")
    told = agent.stops(CLOSED).model
    assert "CURRENT STAGE: NEXT_TASK" not in told
    assert "CURRENT STAGE: TESTING" in told
