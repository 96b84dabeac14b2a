"""Whose task it is: what another agent has is not gone on with, whatever says that it does.

The tasks are issues of the embedded GitHub, the leases real refs in its git, the other agent another
clone on this machine, or a person on GitHub.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.core.stage_names import Detected
from tests.clones import clone
from tests.conftest import Place, environment_of
from tests.e2e.agent import Agent
from tests.e2e.forked import Forked
from tests.e2e.staged import LABEL, Ground, marker
from tests.trackers.beads import simulated

SOAKED = pytest.mark.soak(
    "e2e/test_stages_taken.py::test_an_own_claim_that_is_taken_over",
    "trackers/test_github_claims.py::test_whoever_else_has_it_is_known_by_lease_assignee_and_comment",
)

CODED = marker(Detected.CODING_COMPLETE)
REVIEWED = marker(Detected.REQUIREMENTS_REVIEWED)
CLOSED = marker(Detected.ISSUE_CLOSED)
CLEARED = marker(Detected.SESSION_CLEARED)
START = 'start = "/task-start"\n'


@pytest.fixture
def ground(place: Place, forked: Forked) -> Ground:
    """A worktree with the workflow on, whose tasks are issues 41 and 45 of the embedded GitHub."""
    ground = Ground(place, place.root.parent, str(forked.command))
    ground.settings(START)
    with place.tree() as tree:
        for number in ("41", "45"):
            tree.world.tracker.edit_labels(number, add=(LABEL,))
    place.clear()
    return ground


@pytest.fixture
def other(place: Place, tmp_path: Path) -> Place:
    """Another clone, of the same account, on the same board."""
    root = tmp_path / "other"
    environment = environment_of(place.info, root, place.command)
    clone(place.info.git_url, root, environment)
    return replace(place, root=root, environment=environment)


def begun(ground: Ground) -> Agent:
    """An agent that began with issue 41 by the client's command, and claimed nothing."""
    agent = ground.agent()
    agent.prompt("/task-start 41")
    agent.edits("code.py", "one = 1\n")
    return agent


def agent_of(place: Place) -> str:
    """The agent that a clone's claim names."""
    return str(place.claim()["agent_id"])


def takes(other: Place, *words: str) -> str:
    """The other clone takes the task, and says as whom."""
    done = other.cli(*words)
    assert done.returncode == 0, done.stderr
    return agent_of(other)


@SOAKED
@pytest.mark.parametrize("is_early", [True, False])
def test_another_clone_claims_the_task_of_a_session_without_a_claim(
    ground: Ground, other: Place, is_early: bool
) -> None:
    """Before the first stage or after it: the next stop says who has it, and is told of no stage."""
    agent = begun(ground)
    if is_early:
        assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
        agent.runs("ls")
    name = takes(other, "claim", "41")
    told = agent.stops(REVIEWED if is_early else CODED).model
    assert told.startswith(f"Task 41 is claimed by {name}.")
    assert "Do not continue with this task until that is settled." in told
    assert len(ground.journal("transition")) == is_early
    # It was told to tell its user, and does: no question.
    assert agent.stops(f"{name} has 41; please look at that first.").is_silent
    released = other.cli("release", "--reason", "done")
    assert released.returncode == 0, released.stderr
    agent.runs("ls")
    assert "CURRENT STAGE: " in agent.stops(REVIEWED).model


def test_an_own_claim_that_is_taken_over(ground: Ground, other: Place) -> None:
    """From coding on, at each stage, also at the closing: nobody goes on with it."""
    agent = ground.agent()
    agent.prompt("Do issue 41")
    agent.really_runs(str(ground.command), "claim", "41")
    agent.edits("code.py", "one = 1\n")
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    name = takes(other, "takeover", "41")
    for number, state in enumerate((Detected.REQUIREMENTS_REVIEWED, Detected.ISSUE_CLOSED)):
        agent.runs("ls")
        told = agent.stops(marker(state) + " " * number).model
        assert f"Task 41 is claimed by {name}." in told
        assert "Do not continue with this task" in told
        assert "lifecycle handoff" not in told
    assert len(ground.journal("transition")) == 1


@SOAKED
def test_a_task_that_is_assigned_to_somebody_else(ground: Ground) -> None:
    """From the start, and in the middle; a task of two people, of whom the account is one, is its own."""
    control = ground.place.control
    control.assign(41, "maria")
    agent = begun(ground)
    assert agent.stops(CODED).model.startswith("Task 41 is claimed by maria.")
    control.assign(41, "octocat")
    agent.runs("ls")
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED + " ").model
    control.unassign(41, "octocat")
    agent.runs("ls")
    assert agent.stops(REVIEWED).model.startswith("Task 41 is claimed by maria.")


@SOAKED
def test_a_card_that_names_another_agent(ground: Ground) -> None:
    """Nobody wrote a lease: a person, or another system, says on the board who is at work."""
    control = ground.place.control
    agent = begun(ground)
    control.set_field(41, "Agent", "maria-laptop")
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model, "a card in Todo is nobody's"
    control.set_field(41, "Status", "In Progress")
    agent.runs("ls")
    assert agent.stops(REVIEWED).model.startswith("Task 41 is claimed by maria-laptop.")


@SOAKED
def test_ones_own_claim_by_any_name_is_no_other_agents(ground: Ground) -> None:
    """A claim in the tracker, in the session's own name: also after `/clear`, where that is another."""
    agent = ground.agent()
    agent.prompt("/task-start 41")
    agent.really_runs(str(ground.command), "tracker", "claim", "41")
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    after = agent.cleared()
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in after.starts("clear").model
    assert "CURRENT STAGE: TESTING" in after.stops(REVIEWED).model


@SOAKED
def test_what_is_asked_where_a_stage_was_completed_and_where_not(ground: Ground) -> None:
    """The issue, its card and its lease once each; at a stop where nothing was completed, nothing."""
    place = ground.place
    agent = begun(ground)
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    agent.edits("code.py", "one = 2\n")
    place.clear()
    assert agent.stops("I go on.").is_silent
    assert place.control.requests() == ()
    assert "CURRENT STAGE: TESTING" in agent.stops(REVIEWED).model
    asked = [
        request.operation or request.path.rpartition("/repos/")[2] for request in place.requests()
    ]
    assert len(asked) == len(set(asked))
    assert len([name for name in asked if name.endswith("/issues/41")]) == 1
    assert len(asked) <= 3
    git = [request for request in place.control.requests() if request.kind == "git"]
    assert 1 <= len(git) <= 2


@SOAKED
def test_who_says_that_it_is_over_while_it_is_open_goes_back(ground: Ground) -> None:
    """SESSION_CLEARED in mid-stage, and after an ISSUE_CLOSED that was refused; then it is closed."""
    with ground.place.tree() as tree:
        tree.world.tracker.close("45")
    agent = begun(ground)
    for text in (CODED, REVIEWED):
        assert "CURRENT STAGE: " in agent.stops(text).model
    told = agent.stops(CLEARED).model
    assert told.startswith("Task 41 is still open in the tracker")
    assert "CURRENT STAGE: TESTING" in told
    agent.runs("ls")
    told = agent.stops(CLOSED).model
    assert "CURRENT STAGE: COMMIT_CLOSE" in told
    agent.runs("ls")
    told = agent.stops(CLEARED + " ").model
    assert told.startswith("Task 41 is still open in the tracker")
    assert "CURRENT STAGE: COMMIT_CLOSE" in told
    agent.really_runs(str(ground.command), "tracker", "close", "41")
    over = agent.stops(CLOSED + " ")
    assert (over.model, over.person) == ("", "All auto-workflow tasks complete")
    assert [source for _, source, _ in ground.journal("refused")] == [
        "NEXT_TASK",
        "COMMIT_CLOSE",
        "NEXT_TASK",
    ]


@SOAKED
def test_all_is_not_complete_while_somebody_works_on_another(ground: Ground, other: Place) -> None:
    """The tracker is asked at that very stop: what another clone took since is in progress."""
    agent = begun(ground)
    for state in (Detected.CODING_COMPLETE, Detected.ORACLE_APPROVED):
        assert "CURRENT STAGE: " in agent.stops(marker(state)).model
    takes(other, "claim", "45")
    agent.really_runs(str(ground.command), "tracker", "close", "41")
    over = agent.stops(CLOSED)
    assert over.person == "No auto-workflow task is left to begin: 1 is in progress"


@SOAKED
def test_a_claim_in_another_tracker_that_is_taken_over_on_github(
    place: Place, forked: Forked, other: Place, tmp_path: Path
) -> None:
    """The task lies in bd, its claim is the issue's: the lease on GitHub says whose it is."""
    folder = tmp_path / "bin"
    simulated.install(folder)
    simulated.workspace(place.root, folder)
    simulated.allow(place.root, place.environment)
    ground = Ground(place, folder, str(forked.command))
    ground.settings()
    task = simulated.create(folder, place.root, "Linked", LABEL, priority=1)
    ground.bd("update", task, "--external-ref", "gh-42")
    agent = ground.agent()
    agent.prompt(f"Do {task}")
    agent.really_runs(str(ground.command), "claim", task)
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    name = takes(other, "takeover", "42")
    agent.runs("ls")
    assert agent.stops(REVIEWED).model.startswith(f"Task {task} is claimed by {name}.")
