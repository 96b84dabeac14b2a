"""The staged workflow over GitHub's issues, under a claim, which closes after the merge."""

from __future__ import annotations

import json
import shutil

import pytest

from lifecycle.core.stage_names import Detected
from lifecycle.storage import journal
from tests.conftest import Place
from tests.e2e.agent import Agent
from tests.e2e.forked import Forked
from tests.e2e.staged import LABEL, Ground, marker

SOAKED = pytest.mark.soak(
    "e2e/test_stages_github.py::test_a_task_under_a_claim_from_coding_to_its_end",
    "stages/test_decide.py::test_a_completed_stage_gives_the_next_ones_instruction",
)


@pytest.fixture
def ground(place: Place, forked: Forked) -> Ground:
    """A worktree with the workflow on, whose tasks are issue 42 and issue 45 of the embedded GitHub."""
    found = Ground(place, place.root.parent, str(forked.command))
    found.settings()
    with place.tree() as tree:
        for number in ("42", "45"):
            tree.world.tracker.edit_labels(number, add=(LABEL,))
    place.clear()
    return found


def claimed(ground: Ground) -> Agent:
    """An agent that took issue 42 and did some work."""
    agent = ground.agent()
    agent.prompt("Do issue 42")
    agent.really_runs(str(ground.command), "claim", "42")
    agent.runs("lifecycle claim 42", "Claimed #42")
    agent.edits("code.py", "one = 1\n")
    agent.really_runs("git", "add", "code.py")
    agent.really_runs("git", "commit", "--quiet", "-m", "Work")
    return agent


def test_a_task_under_a_claim_from_coding_to_its_end(ground: Ground) -> None:
    """COMMIT_CLOSE asks for the handoff; the merge is waited for in silence; then comes the next task."""
    place = ground.place
    agent = claimed(ground)
    told = agent.stops(marker(Detected.CODING_COMPLETE)).model
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in told
    assert "`lifecycle tracker show 42`" in told
    agent.stops(marker(Detected.REQUIREMENTS_REVIEWED))
    agent.stops(marker(Detected.TESTS_PASSING))
    told = agent.stops(marker(Detected.ORACLE_APPROVED)).model
    assert "CURRENT STAGE: COMMIT_CLOSE" in told
    assert "lifecycle handoff --summary" in told
    assert "tracker close" not in told
    # Said too early, it is not believed.
    told = agent.stops(marker(Detected.ISSUE_CLOSED)).model
    assert "The claim is still held" in told
    assert "CURRENT STAGE: COMMIT_CLOSE" in told
    agent.really_runs(str(ground.command), "handoff", "--summary", "Fix race condition")
    told = agent.stops("Handed off.").model
    assert told.startswith("PR #46 created")
    agent.runs("git status")
    for text in ("I wait for the merge.", marker(Detected.ISSUE_CLOSED)):
        assert agent.stops(text).is_silent
        shown = place.cli("stage", "status", **agent.environment).stdout
        assert "[COMMIT_CLOSE] → NEXT_TASK" in shown
    place.control.merge_pull(46)
    agent.really_runs(str(ground.command), "tick")
    agent.prompt("yes, close it")
    place.write(phase="done")
    place.clear()
    reply = agent.stops("I have noted the yes.")
    assert "Issue #42 closed." in reply.person
    assert "CURRENT STAGE: NEXT_TASK" in reply.model
    told = agent.stops(marker(Detected.SESSION_CLEARED)).model
    assert "CURRENT STAGE: CODING" in told
    assert "Start work with `lifecycle tracker claim 45`" in told
    targets = [target for _, _, target in ground.journal("transition")]
    assert targets[-2:] == ["NEXT_TASK", "CODING"]
    assert {task for task, _, _ in ground.journal("transition")[:-1]} == {"#42"}
    # The next one without a claim: the end of the last claim says nothing of it.
    agent.runs("lifecycle tracker show 45", "45")
    for state in (Detected.CODING_COMPLETE, Detected.ORACLE_APPROVED):
        told = agent.stops(marker(state)).model
    assert "`lifecycle tracker close 45" in told
    for number in range(2):
        agent.runs("git push")
        assert agent.stops(f"I push it first: {number}.").is_silent
        shutil.rmtree(ground.here / "stages", ignore_errors=True)


@SOAKED
def test_the_claims_words_come_first_and_both_stand_in_one_reply(ground: Ground) -> None:
    """A stop that opens the pull request and completes a stage: one block, the new PR before the stage."""
    agent = claimed(ground)
    agent.really_runs(str(ground.command), "handoff", "--summary", "Fix race condition")
    told = agent.stops(marker(Detected.CODING_COMPLETE)).model
    assert told.startswith("PR #46 created")
    assert told.index("PR #46") < told.index("CURRENT STAGE: REQUIREMENTS_REVIEW")


@SOAKED
def test_nothing_is_asked_of_github_at_a_stop_where_nothing_changed(ground: Ground) -> None:
    """A claim that was looked at, an agent at work: no request, however often it stops."""
    agent = claimed(ground)
    assert "REQUIREMENTS_REVIEW" in agent.stops(marker(Detected.CODING_COMPLETE)).model
    ground.forget_the_minute()
    agent.edits("code.py", "one = 2\n")
    ground.place.clear()
    for number in range(3):
        assert agent.stops(f"Step {number}.").is_silent
    assert ground.place.requests() == []


@SOAKED
def test_without_a_token_the_agent_may_stop(ground: Ground) -> None:
    """The tracker cannot be asked: nothing is said by the workflow, and the log has the sentence."""
    ground.place.environment.pop("GH_TOKEN")
    agent = ground.agent()
    agent.prompt("Do issue 42")
    assert agent.stops(marker(Detected.CODING_COMPLETE)).is_silent
    assert "GH_TOKEN" in ground.log()[-1]


@SOAKED
def test_a_session_whose_claim_is_for_another_task_is_not_asked(ground: Ground) -> None:
    """The claim's issue has no label: plain words bring no question, the claim's own looks go on."""
    ground.place.cli("claim", "44")
    agent = ground.agent()
    agent.prompt("Do issue 44")
    agent.wakes("CI failed")
    assert agent.stops("I see.").is_silent
    assert agent.stops("The implementation is complete.").is_silent
    assert "REQUIREMENTS_REVIEW" in agent.stops(marker(Detected.CODING_COMPLETE)).model


@SOAKED
def test_while_the_merge_is_waited_for_nobody_is_asked_at_a_stop(ground: Ground) -> None:
    """ISSUE_CLOSED said too early stands in the transcript: questions of a person cost no request."""
    place = ground.place
    agent = claimed(ground)
    for state in (Detected.CODING_COMPLETE, Detected.ORACLE_APPROVED):
        agent.stops(marker(state))
    agent.really_runs(str(ground.command), "handoff", "--summary", "Fix race condition")
    agent.stops("Handed off.")
    assert agent.stops(marker(Detected.ISSUE_CLOSED)).is_silent
    ground.forget_the_minute()
    place.clear()
    for number in range(3):
        agent.prompt(f"And what is {number}?")
        assert agent.stops(f"An answer: {number}.").is_silent
    assert place.requests() == []
    # What was said too early is true in the end: no second marker is needed.
    place.control.merge_pull(46)
    agent.really_runs(str(ground.command), "tick")
    agent.prompt("yes, close it")
    place.write(phase="done")
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops("I have noted the yes.").model
    entries = [e for e in journal.read(ground.root) if e.system == journal.STAGES]
    assert len({entry.actor for entry in entries}) == 1, "one name, also when the claim is over"
    assert {entry.task for entry in entries} == {"#42"}


@SOAKED
def test_a_session_cleared_under_a_claim_is_told_to_hand_off(ground: Ground) -> None:
    """The instruction that goes on closes with the merge as well, and never by hand."""
    agent = claimed(ground)
    agent.stops(marker(Detected.ORACLE_APPROVED))
    told = agent.cleared().starts("clear").model
    assert "CURRENT STAGE: COMMIT_CLOSE" in told
    assert "lifecycle handoff --summary" in told
    assert "tracker close" not in told


@SOAKED
def test_test_runs_and_stages_spell_an_issue_alike(ground: Ground) -> None:
    """`#42` in every entry, and one actor."""
    agent = claimed(ground)
    agent.stops(marker(Detected.CODING_COMPLETE))
    agent.runs("pytest", "3 passed")
    agent.stops(marker(Detected.REQUIREMENTS_REVIEWED))
    entries = [e for e in journal.read(ground.root) if e.system == journal.STAGES]
    assert journal.CHECK in {entry.kind for entry in entries}
    assert {entry.task for entry in entries} == {"#42"}
    assert len({entry.actor for entry in entries}) == 1


@SOAKED
def test_a_person_merges_and_closes_in_the_middle_of_the_stages(ground: Ground) -> None:
    """Nothing is asked of a closed task any more, not even tests: the next marker leads to NEXT_TASK."""
    ground.settings("require_evidence = true\n")
    place = ground.place
    agent = claimed(ground)
    for state in (Detected.CODING_COMPLETE, Detected.REQUIREMENTS_REVIEWED):
        assert "CURRENT STAGE: " in agent.stops(marker(state)).model
    agent.really_runs(str(ground.command), "handoff", "--summary", "Fix race condition")
    agent.stops("Handed off.")
    place.control.merge_pull(46)
    agent.really_runs(str(ground.command), "tick")
    agent.really_runs(str(ground.command), "close")
    told = agent.stops(marker(Detected.TESTS_PASSING)).model
    assert "CURRENT STAGE: NEXT_TASK" in told
    assert ground.journal("refused") == []


@SOAKED
def test_a_check_is_the_evidence_that_a_stage_asks_for(ground: Ground) -> None:
    """The instruction names it; it is remembered once; an edit voids it, and the stop says how to go on."""
    ground.settings(
        "require_evidence = true\n[checks.commands]\ntest = \"sh -c 'echo 3 passed in 0.1s'\"\n"
    )
    ground.place.cli("trust", "--yes")
    agent = claimed(ground)
    command = "lifecycle check test"
    agent.stops(marker(Detected.CODING_COMPLETE))
    told = agent.stops(marker(Detected.REQUIREMENTS_REVIEWED)).model
    assert "CURRENT STAGE: TESTING" in told
    assert f"Run the tests with `{command}`" in told
    told = agent.stops(marker(Detected.TESTS_PASSING)).model
    assert "CURRENT STAGE: TESTING" in told
    assert "No test run was seen on this task yet" in told
    assert f"Run `{command}`" in told
    shown = ground.place.cli("stage", "status", CLAUDE_CODE_SESSION_ID=agent.id).stdout
    assert f"Run: {command}" in shown
    printed = agent.really_runs(str(ground.command), "check", "test")
    agent.runs(command, printed)
    (run,) = json.loads((ground.here / "evidence/records.json").read_text())["records"]
    assert (run["name"], run["outcome"], run["session"]) == ("test", "passed", agent.id)
    agent.edits("code.py", "one = 2\n")
    told = agent.stops(marker(Detected.TESTS_PASSING) + " ").model
    assert "The code changed since the last green test run" in told
    agent.really_runs(str(ground.command), "check", "test")
    agent.runs(command, printed)
    agent.really_runs("git", "commit", "--quiet", "-am", "Two")
    told = agent.stops(marker(Detected.TESTS_PASSING)).model
    assert "CURRENT STAGE: ORACLE_REVIEW" in told


@SOAKED
def test_a_check_that_was_seen_completes_the_stage_without_a_marker(ground: Ground) -> None:
    """What the agent ran by our command is read like any other run of the suite, from its last line."""
    agent = claimed(ground)
    agent.stops(marker(Detected.CODING_COMPLETE))
    agent.stops(marker(Detected.REQUIREMENTS_REVIEWED))
    agent.runs("lifecycle check test", "lifecycle: test NOTHING_RAN (it ran no test) in 0.1 s")
    assert agent.stops("I ran them.").is_silent
    agent.runs("lifecycle check test", "3 passed\nlifecycle: test PASSED: 3 passed in 0.1 s")
    assert "CURRENT STAGE: ORACLE_REVIEW" in agent.stops("I ran them.").model
    assert not (ground.here / "evidence/records.json").exists()
