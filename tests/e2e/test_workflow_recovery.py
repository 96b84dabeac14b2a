"""What a start tells of all at once: a merge that came meanwhile, and four systems in one message."""

from __future__ import annotations

import subprocess

import pytest

from lifecycle.app.guidance.guidance_text import READ
from lifecycle.app.guidance.recovery_message import LIMIT
from lifecycle.core.stage_names import Detected
from lifecycle.sandbox.control.faults import Fault
from tests.cli.outcome import ok
from tests.conftest import Place
from tests.e2e.client import Session, ended, heard
from tests.e2e.forked import Forked
from tests.e2e.staged import LABEL, Ground, marker
from tests.e2e.test_workflow_hooks import begin, compact
from tests.factories import client
from tests.repeated import soaked

QUESTION = "PR #46 merged! Should I close issue #42?"
IN_REVIEW = "Claim: issue #42 on branch claude/fix-42, phase pr_created, PR #46"


@pytest.fixture
def session(place: Place) -> Session:
    """A session whose pull request is open and whose workflow is in its first phase; no board."""
    made = Session(place, environment={"LIFECYCLE_PROJECT_NUMBER": ""})
    place.ready()
    made.prompt()
    assert "PR #46 created" in made.on_stop().model
    begin(made)
    return made


def test_a_merge_during_a_compaction_is_told_at_the_start(session: Session) -> None:
    """One request shows it; claim and workflow come in one message; the next start looks again."""
    place = session.place
    assert "phase pr_created, PR #46" in compact(session)
    place.control.merge_pull(46)
    place.clear()
    told = session.start("compact").model
    assert told.count(QUESTION) == 1
    assert "phase merged_detected" in told
    assert "ACTION REQUIRED" in told
    assert len(place.requests()) == 1
    assert place.writes() == []
    assert place.claim()["phase"] == "merged_detected"
    assert session.start("resume").model.count(QUESTION) == 1
    assert len(place.requests()) == 2


@pytest.mark.parametrize("is_slow", [False, soaked(True)], ids=["offline", "slow"])
def test_a_github_that_does_not_answer_costs_the_look_and_nothing_else(
    session: Session, is_slow: bool
) -> None:
    """Offline, or slower than the start has time for: the claim is told as it was, the workflow whole."""
    place = session.place
    compact(session)
    place.control.merge_pull(46)
    if is_slow:
        place.control.add_fault(Fault("trickle", operation="ObserveClaim", seconds=0.05, count=9))
    nowhere = "http://127.0.0.1:9"
    away = {} if is_slow else {"GITHUB_API_URL": nowhere, "GITHUB_GRAPHQL_URL": nowhere}
    told = Session(place, session.id, {**session.environment, **away}).start("compact").model
    assert IN_REVIEW in told
    assert QUESTION not in told
    assert READ in told
    assert "ACTION REQUIRED" in told
    assert place.claim()["phase"] == "pr_created"


def test_a_prompt_that_tells_it_first_leaves_nothing_to_either_copy_of_the_start(
    session: Session,
) -> None:
    """The hooks are installed twice, and a prompt comes before the compaction's start: it alone tells."""
    compact(session)
    assert IN_REVIEW in session.prompt().model
    copies = [session.begin("session-start", source="compact") for _ in range(2)]
    with ended(*copies):
        assert [heard(copy).model for copy in copies] == ["", ""]
    assert IN_REVIEW in session.start("resume").model


def test_a_state_that_cannot_be_read_costs_a_summary_the_claims_lines_alone(
    session: Session,
) -> None:
    """Whatever is in the place of `state.json`: what the summary keeps of the workflow is there, whole."""
    assert "PR #46" in compact(session)
    state = session.place.root / ".lifecycle/state.json"
    state.unlink()
    state.mkdir()
    kept = compact(session)
    assert 'Workflow "User auth", phase 1/3' in kept
    assert "PR #46" not in kept


def test_claim_stage_run_and_workflow_are_one_message_in_which_what_counts_is_whole(
    place: Place, forked: Forked
) -> None:
    """1,500 characters at the most, however much the four have to say; the rest is named by its command."""
    ground = Ground(place, place.root.parent, str(forked.command))
    ground.settings()
    with place.tree() as tree:
        tree.world.tracker.edit_labels("42", add=(LABEL,))
    agent = ground.agent()
    agent.prompt("Do issue 42")
    agent.really_runs(ground.command, "claim", "42")
    agent.edits("code.py", "one = 1\n")
    assert "CURRENT STAGE" in agent.stops(marker(Detected.CODING_COMPLETE)).model
    reading = tuple(f"@docs/{number}/{'long' * 12}.md" for number in range(40))
    workflow = begin(
        agent.session,
        task="Let users sign in. " * 40,
        reading=reading,
        reminders=tuple(f"Remember {number}: {'much ' * 20}" for number in range(20)),
    )
    with subprocess.Popen(["sleep", "60"]) as other:
        leader = {"CLAUDE_CODE_SESSION_ID": "another", **client(process=other.pid)}
        ok(place.cli("run", "init", "Say hello", "--autonomous", **leader))
        kept = compact(agent.session, transcript_path=str(agent.transcript))
        told = agent.starts("compact").model.partition("\nBoard")[0]
        other.kill()
    lines = told.splitlines()
    assert len(told) <= LIMIT
    assert lines[0].startswith("Claim: issue #42 on branch")
    assert any(line.startswith("The autonomous run") for line in lines)
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in told
    assert f'Workflow "{workflow.name}", phase 1/3: "Design", in progress' in told
    at = lines.index(READ)
    assert lines[at + 1] == reading[0]
    assert any("more: lifecycle workflow guidance" in line for line in lines[at:])
    (action,) = (line for line in lines if line.startswith("ACTION REQUIRED"))
    assert action.endswith("When it is done: lifecycle workflow advance")
    assert "✅ Workflow restored: User auth, Phase 1/3" in action
    assert "lifecycle workflow guidance" in lines[-1]
    assert all(path in kept for path in reading)
