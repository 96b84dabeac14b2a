"""The eight edge cases of the staged workflow, one by one, and what local state may do to it: nothing."""

from __future__ import annotations

import shutil

import pytest

from lifecycle.core.stage_names import Detected
from tests.e2e.agent import Agent
from tests.e2e.staged import Ground, marker

SOAKED = pytest.mark.soak(
    "e2e/test_stages_story.py::test_two_tasks_from_coding_to_the_end",
    "stages/test_decide.py::test_a_completed_stage_gives_the_next_ones_instruction",
)

CODED = marker(Detected.CODING_COMPLETE)
REVIEWED = marker(Detected.REQUIREMENTS_REVIEWED)
PASSING = marker(Detected.TESTS_PASSING)
APPROVED = marker(Detected.ORACLE_APPROVED)
CLOSED = marker(Detected.ISSUE_CLOSED)
CLEARED = marker(Detected.SESSION_CLEARED)


@pytest.fixture
def task(ground: Ground) -> str:
    """The one task."""
    return ground.task("First")


def led(ground: Ground, *markers: str) -> Agent:
    """An agent that came so far, marker by marker."""
    agent = ground.agent()
    agent.prompt("Do the first one")
    for text in markers:
        assert "CURRENT STAGE: " in agent.stops(text).model
    return agent


def test_edge_1_the_agent_forgets_the_marker(ground: Ground, task: str) -> None:
    """It runs `bd close` and says nothing: the issue counts as closed, and all is complete."""
    agent = led(ground, CODED, REVIEWED, PASSING, APPROVED)
    ground.bd("close", task)
    agent.runs(f"bd close {task} --reason done", f"Closed {task}: done")
    assert agent.stops("That was it.").person == "All auto-workflow tasks complete"
    assert f"Inferred from bd close: {Detected.ISSUE_CLOSED}" in ground.log()


@SOAKED
def test_edge_2_tests_fail(ground: Ground, task: str) -> None:
    """A red run lets the agent stop; its marker after a green one goes on."""
    agent = led(ground, CODED, REVIEWED)
    agent.runs("pytest", "1 failed, 3 passed in 0.1s", ok=False)
    assert agent.stops("One of them fails; I look into it.").is_silent
    assert any(str(Detected.IN_TESTING) in line for line in ground.log()[-3:])
    agent.runs("pytest", "4 passed in 0.1s")
    assert "CURRENT STAGE: ORACLE_REVIEW" in agent.stops(PASSING).model


@SOAKED
def test_edge_3_the_review_rejects(ground: Ground, task: str) -> None:
    """Feedback instead of an approval lets the agent stop; the approval goes on."""
    agent = led(ground, CODED, REVIEWED, PASSING)
    agent.uses("Skill", {"skill": "oracle-review", "args": ""}, "Launching skill: oracle-review")
    assert agent.stops("The review is not approved: changes requested in code.py.").is_silent
    assert any(str(Detected.IN_ORACLE_REVIEW) in line for line in ground.log()[-3:])
    assert "CURRENT STAGE: COMMIT_CLOSE" in agent.stops(APPROVED).model


@SOAKED
def test_edge_4_no_more_issues(ground: Ground, task: str) -> None:
    """The last one is closed: said once to the user. What the agent says of it leads to nothing more."""
    second = ground.task("Second")
    agent = led(ground, CODED, REVIEWED, PASSING, APPROVED)
    ground.bd("close", task)
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops(CLOSED).model
    assert "CURRENT STAGE: CODING" in agent.stops(CLEARED).model
    ground.bd("close", second)
    agent.runs("bd ready --json", "[]")
    assert agent.stops("All auto-workflow tasks complete").is_silent
    assert agent.stops(CLOSED).person == "All auto-workflow tasks complete"
    assert agent.stops(CLOSED).is_silent


def test_edge_5_the_hook_itself_fails(ground: Ground, task: str) -> None:
    """A command that crashes, or that is not there: the agent may stop, and no word of it is shown."""
    agent = led(ground, CODED)
    for script in ("#!/bin/sh\nexit 0\n", "#!/nowhere/python\n"):
        broken = ground.root.parent / "broken"
        broken.write_text(script)
        broken.chmod(0o755)
        away = Agent(ground.place, {**agent.environment, "LIFECYCLE_BIN": str(broken)}, agent.id)
        process = away.begins_to_stop(REVIEWED)
        stdout, _ = process.communicate(timeout=60)
        assert stdout == b""
        assert process.returncode != 2
    assert "CURRENT STAGE: TESTING" in agent.stops(REVIEWED).model


@SOAKED
def test_edge_6_an_ambiguous_stage(ground: Ground, task: str) -> None:
    """Asked, the agent answers with a stage, and the next stop goes on from there."""
    agent = led(ground, CODED)
    asked = agent.stops("Hm.").model
    assert "Which stage are you at?" in asked
    assert "- REQUIREMENTS_REVIEWED (verified requirements)" in asked
    assert "CURRENT STAGE: TESTING" in agent.stops("REQUIREMENTS_REVIEWED").model


@SOAKED
def test_edge_7_the_session_is_interrupted(ground: Ground, task: str) -> None:
    """Resumed, it is told its stage and its marker; the first stop goes on from the transcript."""
    agent = led(ground, CODED, REVIEWED)
    agent.session.end()
    told = agent.starts("resume").model
    assert "CURRENT STAGE: TESTING" in told
    assert "::: WORKFLOW_STAGE: TESTS_PASSING :::" in told
    agent.prompt("Go on")
    assert "CURRENT STAGE: ORACLE_REVIEW" in agent.stops(PASSING).model


@SOAKED
def test_edge_8_somebody_intervenes_by_hand(ground: Ground, task: str) -> None:
    """What a person runs triggers nothing; the workflow goes on from what the agent says next."""
    agent = led(ground, CODED)
    lines = len(ground.log())
    ground.bd("update", task, "--priority", "0")
    agent.prompt("I have changed the priority. What do you think of it?")
    assert agent.stops("A good idea.").is_silent
    assert "REQUIREMENTS" not in "".join(ground.log()[lines:])
    assert "CURRENT STAGE: TESTING" in agent.stops(REVIEWED).model


def test_without_local_state_the_transcript_says_the_same(ground: Ground, task: str) -> None:
    """`.lifecycle/` deleted before each stop: every instruction as before, and each just once."""
    ground.task("Second")
    agent = ground.agent()
    agent.prompt(f"/bd-start {task}")
    agent.runs(f"bd update {task} --claim")
    for text, stage in (
        (CODED, "REQUIREMENTS_REVIEW"),
        (REVIEWED, "TESTING"),
        (PASSING, "ORACLE_REVIEW"),
        (APPROVED, "COMMIT_CLOSE"),
    ):
        told = agent.stops(text).model
        assert f"CURRENT STAGE: {stage}" in told
        shutil.rmtree(ground.here)
        agent.edits("code.py", stage)
        assert agent.stops("I am at it.").is_silent
        shutil.rmtree(ground.here)
    ground.bd("close", task)
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops(CLOSED).model


@SOAKED
def test_a_transcript_that_comes_late(ground: Ground, task: str) -> None:
    """The client has not written the last message yet: the event's own text counts."""
    agent = led(ground, CODED)
    agent.is_lagging = True
    assert "CURRENT STAGE: TESTING" in agent.stops(REVIEWED).model


@SOAKED
def test_clearing_starts_the_next_task(ground: Ground, task: str) -> None:
    """After `/clear` behind a closed task the new session begins with the next one."""
    second = ground.task("Second")
    agent = led(ground, CODED, REVIEWED, PASSING, APPROVED)
    ground.bd("close", task)
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops(CLOSED).model
    again = agent.cleared()
    again.starts("clear")
    told = again.session.run("on-clear", "SessionStart", source="clear").model
    assert told.startswith("Session cleared. Ready for next task.")
    assert second in told
    again.prompt("Go")
    again.edits("code.py", "two = 2\n")
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in again.stops(CODED).model


@SOAKED
def test_clearing_in_the_middle_goes_on_with_the_task(ground: Ground, task: str) -> None:
    """After `/clear` in the middle of a task the new session is told its stage, and what was accepted."""
    ground.task("Second")
    agent = ground.agent()
    agent.prompt(f"Do {task}")
    agent.runs(f"bd update {task} --claim")
    ground.bd("update", task, "--claim")
    for text in (CODED, REVIEWED):
        agent.stops(text)
    again = agent.cleared()
    assert "CURRENT STAGE: TESTING" in again.starts("clear").model
    again.prompt("Go on")
    told = again.stops(PASSING).model
    assert "CURRENT STAGE: ORACLE_REVIEW" in told
    assert f"bd label add {task}" in told


@SOAKED
def test_a_start_says_that_there_are_tasks(ground: Ground, task: str) -> None:
    """One line in a fresh session; nothing without tasks."""
    told = ground.agent().starts("startup").model
    assert "1 task is ready with the label auto-workflow" in told
    assert task in told
    ground.bd("close", task)
    ground.forget_the_minute()
    assert "Staged workflow" not in ground.agent().starts("startup").model
