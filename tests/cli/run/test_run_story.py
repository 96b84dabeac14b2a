"""A run's beginning, its stories and what was clarified, as processes."""

from __future__ import annotations

import os
from typing import Any

import pytest
from msgspec.structs import replace

from tests.cli.outcome import refused
from tests.run.run_ground import RunGround

SOAKED = pytest.mark.soak(
    "cli/run/test_run_story.py::test_a_run_from_its_questions_to_its_criteria",
    "run/stop/test_next_step.py::test_a_story_goes_from_begin_to_completion",
)

ATTENDED = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CLAUDE_CODE_SESSION_ATTENDED": "1",
    "CLAUDE_CODE_SESSION_ID": "session-1",
}


def state(ground: RunGround) -> Any:
    """The run as its file holds it."""
    run = ground.store.load()
    assert run is not None
    return run


@SOAKED
def test_without_a_run_recover_says_no_and_other_commands_name_init(ground: RunGround) -> None:
    """It exits 0: a session's start is no failure."""
    said = ground.said("recover")
    assert "## Session Recovery" in said
    assert "| Existing workflow | No |" in said
    assert ground.data("recover") == {"existing_workflow": False, "last_workflow_id": None}
    for words in (
        ["add-story", "A"],
        ["story-plan", "S1", "--design", "d"],
        ["criterion", "S1", "1", "met"],
    ):
        assert 'lifecycle run init "GOAL"' in refused(ground.run(*words))


def test_a_run_from_its_questions_to_its_criteria(ground: RunGround) -> None:
    """What was clarified before init is adopted by it; each text is the one that the pages name."""
    asked = ground.said("questions", "pre-analysis")
    assert asked.startswith("## Pre-Analysis Clarification Required")
    kept = ground.said(
        "add-clarification", "What payment provider?", "Stripe", "--category", "technical"
    )
    assert "[pre-analysis]" in kept
    assert "the next run adopts it" in kept
    begun = ground.said("init", "Goal: Implement payment processing")
    assert "Adopted 1 clarification\n" in begun
    assert state(ground).goal == "Implement payment processing"
    assert not (ground.root / ".lifecycle" / "clarifications.json").exists()
    assert ground.said("add-story", "Keep payments").startswith("Added story: S1 Keep payments (M)")
    added = ground.data("add-story", "Pay with a card", "--size", "L", "--security")
    assert (added["id"], added["size"], added["security"]) == ("S2", "L", True)
    asked = ground.said("questions", "pre-plan")
    assert "## Pre-Plan Clarification Required" in asked
    assert "| # | Story | Size | Security |" in asked
    assert "| S2 | Pay with a card | L | Yes |" in asked
    plan = ["--criterion", "a payment is kept", "--design", "a table", "--file", "pay.py"]
    planned = ground.said("story-plan", "S2", *plan, "--depends-on", "S1", "--risk", "slow")
    assert '- Criterion 1 (pending): "a payment is kept"' in planned
    assert "Depends on: S1" in planned
    ground.said("add-story", "By mistake")
    taken = ground.said("remove-story", "S3", "--reason", "it is S2")
    assert taken == "Took out story: S3 By mistake (it is S2)\n"
    assert "| Taken out | S3 |" in ground.said("status")
    found = ground.said("criterion", "S2", "1", "manual", "--note", "needs a real card")
    assert found.startswith("Criterion S2 1: MANUAL_VERIFICATION_REQUIRED")
    one = state(ground).story("S2").criteria[0]
    assert (one.by, one.note, len(one.tree)) == ("terminal", "needs a real card", 40)
    recovered = ground.said("recover")
    assert "| Stories completed | 0/2 |" in recovered
    assert "| Current story | S1 Keep payments |" in recovered
    assert "Continuing from S1 (pending). Skipping to Phase 1." in recovered
    lines = [line.partition("Z ")[2] for line in ground.store.progress(20)]
    assert lines == [
        f"Run {state(ground).id} began: Implement payment processing",
        "Added story: S1 Keep payments (M)",
        "Added story: S2 Pay with a card (L, security)",
        "Planned story: S2",
        "Added story: S3 By mistake (M)",
        "Took out story: S3 By mistake (it is S2)",
        "Criterion S2 1: MANUAL_VERIFICATION_REQUIRED",
    ]


@SOAKED
def test_where_somebody_attends_the_phases_wait_for_answers(ground: RunGround) -> None:
    """The analysis and the plan each want one; an assumed one is none, but in an autonomous run."""
    ground.said("init", "Pay", **ATTENDED)
    said = refused(ground.run("add-story", "Keep", **ATTENDED))
    assert "lifecycle run questions pre-analysis" in said
    guess = ["add-clarification", "Scope?", "Assumed: best judgment", "--phase", "pre-analysis"]
    ground.said(*guess, **ATTENDED)
    assert "was assumed" in refused(ground.run("add-story", "Keep", **ATTENDED))
    ground.said("add-clarification", "Scope?", "Cards", "--phase", "pre-analysis", **ATTENDED)
    ground.said("add-story", "Keep", **ATTENDED)
    assert "pre-plan" in refused(ground.run("story-plan", "S1", "--design", "d", **ATTENDED))
    ground.said("init", "Pay", "--anew", "--autonomous")
    ground.said("add-story", "Keep", **ATTENDED)
    ground.said("story-plan", "S1", "--design", "d", **ATTENDED)
    assert [one.assumed for one in state(ground).clarifications] == [True, True]


def test_an_agent_sets_no_run_aside_of_its_own_accord(ground: RunGround) -> None:
    """With a run goes what stopped it: a prompt after that, or a terminal of their own, shows a person."""
    ground.said("init", "Pay", **ATTENDED)
    before = ground.state.read_bytes()
    for content in (before, b"{"):
        ground.state.write_bytes(content)
        said = refused(ground.run("init", "Another", "--anew", **ATTENDED))
        assert "Only a person may say this" in said
        assert "lifecycle run init --anew" in said
        assert ground.state.read_bytes() == content
    ground.said("init", "Another", "--anew")
    assert state(ground).goal == "Another"


@SOAKED
def test_a_prompt_from_before_the_last_turn_sets_no_run_aside(ground: RunGround) -> None:
    """What the user wrote hours ago was about something else; one since then may ask for it."""
    ground.said("init", "Pay", **ATTENDED)
    run, mark = state(ground), ground.root / ".lifecycle/answered"
    ground.kept(replace(run, led_on_at=run.started + 20))
    mark.touch()
    os.utime(mark, (run.started + 10,) * 2)
    assert "Only a person" in refused(ground.run("init", "Another", "--anew", **ATTENDED))
    os.utime(mark, (run.started + 30,) * 2)
    ground.said("init", "Another", "--anew", **ATTENDED)


@SOAKED
def test_a_run_that_is_not_over_is_not_begun_again(ground: RunGround) -> None:
    """Only --anew sets it aside, and keeps it."""
    ground.said("init", "Pay")
    assert 'lifecycle run init --anew "GOAL"' in refused(ground.run("init", "Another"))
    before = ground.state.read_bytes()
    ground.said("init", "Another", "--anew")
    [aside] = ground.root.glob(".claude/workflow-state.json*replaced*")
    assert aside.read_bytes() == before
    assert ground.git("status", "--porcelain") == ""
