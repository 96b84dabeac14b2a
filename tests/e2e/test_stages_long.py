"""Stages with megabytes of work in them, and sessions that nobody asked to follow the workflow."""

from __future__ import annotations

import shutil

import pytest

from lifecycle.core.stage_names import Detected
from tests.e2e.agent import Agent
from tests.e2e.staged import Ground, marker
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_stages_long.py::test_a_green_run_on_the_side_skips_no_stage",
    "stages/test_heard.py::test_a_stage_stays_in_force_however_much_was_read_in_it",
)

CODED = marker(Detected.CODING_COMPLETE)
REVIEWED = marker(Detected.REQUIREMENTS_REVIEWED)
PASSING = marker(Detected.TESTS_PASSING)

LENGTHS = pytest.mark.parametrize("megabytes", [soaked(0), 3])


def much(agent: Agent, megabytes: int) -> None:
    """The agent reads so much."""
    for number in range(megabytes * 10):
        agent.uses("Read", {"file_path": f"/w/{number}.py"}, "x = 1  # padding\n" * 6_000)


def begun(ground: Ground) -> Agent:
    """An agent that works on a task, with another one behind it."""
    task = ground.task("First")
    ground.task("Second")
    agent = ground.agent()
    agent.starts("startup")
    agent.prompt(f"/bd-start {task}")
    agent.runs(f"bd update {task} --claim")
    ground.bd("update", task, "--claim")
    return agent


@LENGTHS
def test_a_green_run_on_the_side_skips_no_stage(ground: Ground, megabytes: int) -> None:
    """In a review nothing is said; in TESTING the same run, however far the instruction is, leads on."""
    agent = begun(ground)
    agent.stops(CODED)
    much(agent, megabytes)
    agent.runs("pytest", "3 passed")
    assert agent.stops("I have read half of the requirements.").is_silent
    assert "CURRENT STAGE: TESTING" in agent.stops(REVIEWED).model
    much(agent, megabytes)
    agent.runs("pytest", "3 passed")
    assert "CURRENT STAGE: ORACLE_REVIEW" in agent.stops("It is fine.").model


@SOAKED
@LENGTHS
def test_the_end_of_a_long_first_task_is_heard(ground: Ground, megabytes: int) -> None:
    """No instruction was given yet; what took the task up is found however far back it is."""
    agent = begun(ground)
    much(agent, megabytes)
    told = agent.stops("The implementation is complete.").model
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in told


@SOAKED
@LENGTHS
def test_deleting_all_local_state_in_a_long_stage_loses_nothing(
    ground: Ground, megabytes: int
) -> None:
    """Stage and task are told by the transcript alone."""
    agent = begun(ground)
    agent.stops(CODED)
    told = agent.stops(REVIEWED).model
    assert "CURRENT STAGE: TESTING" in told
    agent.edits("code.py", "one = 1\n")
    much(agent, megabytes)
    shutil.rmtree(ground.here)
    assert agent.stops("All requirements are satisfied.").is_silent
    agent.runs("pytest", "3 passed")
    assert "CURRENT STAGE: ORACLE_REVIEW" in agent.stops("It is fine.").model


@SOAKED
def test_a_first_task_is_not_over_with_its_first_green_run(ground: Ground) -> None:
    """Test first, step by step: the tests are green in between, and the agent is at work."""
    agent = begun(ground)
    agent.edits("code.py", "one = 1\n")
    agent.runs("pytest", "3 passed")
    assert agent.stops("Step one of five is there. Next I write the parser.").is_silent
    agent.edits("code.py", "one = 2\n")
    agent.runs("pytest", "4 passed")
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in agent.stops(CODED).model


@SOAKED
def test_who_asks_is_answered_and_no_more(ground: Ground) -> None:
    """A person's question in the middle of a stage: the agent may stop with its answer."""
    agent = begun(ground)
    agent.stops(CODED)
    agent.prompt("Just answer: are the requirements satisfied?")
    assert agent.stops("Yes, all requirements are satisfied.").is_silent
    agent.prompt("Then go on.")
    agent.runs("bd show x")
    assert "CURRENT STAGE: TESTING" in agent.stops("All requirements are satisfied.").model


@SOAKED
@LENGTHS
def test_a_build_that_ends_in_the_middle_of_a_stage(ground: Ground, megabytes: int) -> None:
    """The client wakes the agent, which says so in words: the stage is known, and nothing is asked."""
    agent = begun(ground)
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    agent.runs("make build &")
    much(agent, megabytes)
    agent.stops("The build runs.")
    agent.wakes("The build finished.")
    assert agent.stops("The build finished.").is_silent


@SOAKED
def test_a_stranger_who_writes_of_markers_hears_nothing(ground: Ground) -> None:
    """In a sentence or in a list they are documentation; on a line of its own one is the agent's word."""
    ground.task("First")
    agent = ground.agent()
    agent.starts("startup")
    agent.prompt("Document the markers in the README")
    agent.edits("README.md", "x")
    aside = "The text ends with ::: WORKFLOW_STAGE: ISSUE_CLOSED ::: now."
    assert agent.stops(aside).is_silent
    every = "\n".join(f"- ::: WORKFLOW_STAGE: {d} :::" for d in Detected if d.is_completion)
    assert agent.stops(f"These are described:\n\n{every}").is_silent
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in agent.stops(CODED).model
