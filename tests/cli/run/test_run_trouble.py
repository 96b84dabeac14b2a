"""What fails in a run and what stands before it, as processes: each text is the design's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
from msgspec.structs import replace

from lifecycle.run.run_store import decoded
from lifecycle.run.state import Led, Story
from lifecycle.run.table import RunStatus, StoryStatus
from lifecycle.storage import journal
from lifecycle.views.stats.summary import Summary
from tests.cli.outcome import refused
from tests.conftest import COMMAND
from tests.persons import at_terminal, variables_of_a_client
from tests.run.run_ground import RunGround

SOAKED = pytest.mark.soak(
    "cli/run/test_run_trouble.py::test_the_designs_blocker_from_the_beginning_to_the_persons_word",
    "run/trouble/test_blockers.py::test_awaiting_says_what_the_design_says",
)

AGENT = variables_of_a_client()


@pytest.fixture
def working(ground: RunGround) -> RunGround:
    """A run with two stories, the first of them at work; a commit."""
    (ground.root / "pay.py").write_text("pay = 1\n")
    ground.git("add", ".")
    ground.git("commit", "--quiet", "--message", "first")
    base = ground.git("rev-parse", "HEAD")
    first = Story("S1", "Pay", status=StoryStatus.IN_PROGRESS, started=1.0, base=base)
    run = ground.begun()
    ground.kept(replace(run, stories=(first, Story("S2", "Mail with SendGrid, pay with Stripe"))))
    return ground


def by_person(ground: RunGround, *words: str) -> str:
    """What a command shows that a person runs in a terminal; it must succeed."""
    code, shown = at_terminal([COMMAND, "run", *words], ground.root, ground.environment)
    assert code == 0, shown
    return shown


@SOAKED
def test_a_failure_is_added_with_its_category(working: RunGround) -> None:
    """As the design prints it; the recommendation follows from it, and doubles its wait."""
    text = "Connection refused: database not available"
    assert working.said("add-failure", "S1", text) == "Added failure: F1 [infra]\n"
    told = json.loads(working.said("retry-recommendation", "S1"))
    assert told == {"should_retry": True, "backoff_seconds": 30}
    working.said("add-failure", "S1", text)
    assert working.data("retry-recommendation", "S1")["backoff_seconds"] == 60
    lines = working.said(
        "add-failure", "S1", "API key not configured", "--category", "external"
    ).splitlines()
    assert lines[0] == "Added failure: F3 [external]"
    assert lines[1].startswith("ESCALATION_REQUIRED: B1: API key not configured; to ask the user: ")
    assert working.data("retry-recommendation", "S1") == {
        "should_retry": False,
        "escalate": True,
        "reason": "External service failures",
    }
    where = working.data("add-failure", "S1", "KeyError", "--file", "pay.py", "--line", "4")
    assert (where["id"], where["category"], where["file"], where["line"]) == (
        "F4", "code", "pay.py", 4,
    )  # fmt: skip


@SOAKED
def test_the_same_failure_on_an_unchanged_tree_is_stuck_and_then_given_up(
    working: RunGround,
) -> None:
    """An edit of a file makes it worth another try; three iterations are the last."""
    for _ in range(2):
        working.said("add-failure", "S1", "KeyError: 'a'")
    told = working.data("retry-recommendation", "S1")
    assert "same failure came twice" in told["reason"]
    (working.root / "pay.py").write_text("pay = 2\n")
    assert working.data("retry-recommendation", "S1")["should_retry"]
    said = working.said("add-failure", "S1", "KeyError: 'a'")
    assert "ESCALATION_REQUIRED: B1: S1 failed in 3 iterations" in said
    assert working.store.demanded().story("S1").status is StoryStatus.BLOCKED
    assert "ESCALATION_REQUIRED" in (working.root / ".claude/workflow-progress.txt").read_text()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["add-failure", "S9", "x"], 1),
        (["add-failure", "S1", ""], 1),
        (["add-failure", "S1", "x", "--category", "magic"], 2),
        (["add-failure", "S1", "x", "--line", "0"], 2),
        (["add-failure", "S1"], 2),
        (["retry-recommendation", "S9"], 1),
        (["retry-context", "S9"], 1),
        (["scan-dependencies", "S9"], 1),
        (["add-blocker", ""], 1),
        (["add-blocker", "x", "--severity", "huge"], 2),
        (["add-blocker", "x", "--story", "S9"], 1),
        (["await-user-fix", "0", "x"], 1),
        (["check-user-fix"], 1),
        (["user-fix-complete"], 1),
        (["user-fix-complete", "7"], 1),
    ],
)
def test_bad_input_changes_nothing(working: RunGround, words: list[str], code: int) -> None:
    """A usage error is 2, a refusal 1 with one sentence."""
    before = working.state.read_bytes()
    done = working.run(*words)
    assert done.returncode == code, done.stderr
    if code == 1:
        refused(done)
    assert working.state.read_bytes() == before


@SOAKED
def test_dependencies_are_printed_as_designed(working: RunGround) -> None:
    """And kept with the story; `--table` is the developer's block; none is one line."""
    assert working.said("scan-dependencies", "S2") == (
        "Detected 2 external dependencies:\n"
        "[payment] payment_processing\n"
        "  Keyword: stripe\n"
        "  Mock: Use test/sandbox API keys or mock payment service\n"
        "  Requires secrets: True\n"
        "\n"
        "[email] email_service\n"
        "  Keyword: sendgrid\n"
        "  Mock: Use local mailhog/papercut or mock email sender\n"
        "  Requires secrets: True\n"
    )
    kept = working.store.demanded().story("S2").dependencies
    assert [one.type for one in kept or ()] == ["payment", "email"]
    table = working.said("scan-dependencies", "S2", "--table")
    assert table.startswith("## External Dependencies Detected for Story S2\n")
    assert working.data("scan-dependencies", "S2")["dependencies"][0]["requires_secrets"] is True
    assert len(working.said("scan-dependencies", "S1").splitlines()) == 1


def test_the_blocker_that_was_added_is_told_and_no_other(working: RunGround) -> None:
    """Also where one is logged with it, for a story that stands still without anybody's word."""
    run = working.store.demanded()
    first, second = run.stories
    working.kept(replace(run, stories=(first, replace(second, status=StoryStatus.BLOCKED))))
    told = working.data("add-blocker", "no key", "--severity", "high", "--story", "S1")
    assert (told["id"], told["index"], told["description"]) == ("B1", 0, "no key")
    assert [blocker.story for blocker in working.store.demanded().blockers] == ["S1", "S2"]


def test_the_designs_blocker_from_the_beginning_to_the_persons_word(working: RunGround) -> None:
    """Each command as the design has it; the agent cannot say the person's part."""
    said = working.said(
        "add-blocker", "Stripe API key not configured in .env", "--severity", "high"
    )
    assert said.startswith("Added blocker: B1 (index 0) [high] Stripe API key")
    check = f"{sys.executable} -c 'import os, sys; sys.exit(not os.path.exists(\".env\"))'"
    done = working.run(
        "await-user-fix", "0", "Add Stripe API key to .env file",
        "--check-command", check, "--timeout", "60", **AGENT,
    )  # fmt: skip
    data = json.loads(done.stdout)
    assert (data["status"], data["check_command"]) == ("awaiting_user", check)
    assert data["instructions"][0] == "1. Fix the issue: Add Stripe API key to .env file"
    assert "HUMAN_INTERVENTION_NEEDED: Add Stripe API key to .env file" in done.stderr
    assert working.store.demanded().status is RunStatus.AWAITING_USER
    checked = working.run("check-user-fix")
    assert "a person says so: lifecycle run user-fix-complete" in checked.stderr
    told = json.loads(checked.stdout)
    assert (told["is_fixed"], told["verified"], told["can_resume"]) == (False, False, False)
    assert "exited with 1" in told["reason"]
    (working.root / ".env").write_text("KEY=1\n")
    assert json.loads(working.said("check-user-fix")) == {
        "is_fixed": True, "verified": True, "can_resume": True,
    }  # fmt: skip
    before = working.state.read_bytes()
    assert "Only a person may say this" in refused(working.run("user-fix-complete", **AGENT))
    assert working.state.read_bytes() == before
    shown = by_person(working, "user-fix-complete", "--notes", "Added test API key")
    assert "Resolved: B1" in shown
    run = working.store.demanded()
    assert (run.status, run.blockers[0].notes) == (RunStatus.ACTIVE, "Added test API key")
    assert run.acts[-1].by == "terminal outside of the client"


@SOAKED
def test_a_prompt_after_the_question_is_the_persons_word(working: RunGround) -> None:
    """One from before it is none."""
    answered = working.root / ".lifecycle" / "answered"
    answered.touch()
    os.utime(answered, (1_000_000_000, 1_000_000_000))
    working.said("add-blocker", "no key", "--severity", "high")
    working.said("await-user-fix", "B1", "add it")
    refused(working.run("user-fix-complete", **AGENT))
    answered.touch()
    assert working.data("user-fix-complete", **AGENT)["by"] == "prompt after the question"


@pytest.mark.parametrize("hidden", ["env -i", "exec env -i", "setsid", "setsid env -i"])
def test_an_agent_that_hides_its_client_is_no_person(working: RunGround, hidden: str) -> None:
    """The processes above it tell; what has none and no terminal may be anybody's."""
    led = (Led("session-1", 1.0, os.getpid()),)  # this process stands for the client
    working.kept(replace(working.store.demanded(), led=led))
    working.said("add-blocker", "no key", "--severity", "high")
    working.said("await-user-fix", "B1", "add it")
    user = " ".join(f"{name}='{text}'" for name, text in working.environment.items())
    apart = " &" if hidden.startswith("setsid") else ""
    words = hidden.replace("env -i", f"env -i {user}")
    done = subprocess.run(  # ends when nobody has its stdout any more: with the last process
        ["sh", "-c", f'{words} "{COMMAND}" run user-fix-complete{apart}'],
        cwd=working.root,
        env={**working.environment, **AGENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Only a person may say this" in done.stdout
    assert working.store.demanded().status is RunStatus.AWAITING_USER


@SOAKED
def test_a_check_that_takes_too_long_or_is_not_there(working: RunGround) -> None:
    """Its own limit ends it; the sentence says what was wrong."""
    working.said("add-blocker", "slow", "--severity", "high")
    working.said("await-user-fix", "0", "x", "--check-command", "sleep 60", "--timeout", "1")
    assert "stopped after 1 s" in json.loads(working.said("check-user-fix"))["reason"]
    working.said("await-user-fix", "0", "x", "--check-command", "no-such-program-here")
    assert "not installed" in json.loads(working.said("check-user-fix"))["reason"]
    sentence = refused(working.run("await-user-fix", "0", "x", "--check-command", "a && b"))
    assert '[["a"], ["b"]]' in sentence


@SOAKED
def test_the_resume_context_is_json_for_a_program_and_a_block_for_a_reader(
    working: RunGround,
) -> None:
    """On a terminal and with `--text` the block, else the design's JSON."""
    working.said("add-blocker", "Stripe API key", "--severity", "high", "--story", "S1")
    working.said("await-user-fix", "0", "Add it", "--check-command", "test -e .env")
    by_person(working, "user-fix-complete", "--notes", "added")
    data = json.loads(working.said("resume-context"))
    assert list(data) == [
        "workflow_id", "goal", "current_phase", "recently_resolved_blockers", "current_story",
        "resume_instructions",
    ]  # fmt: skip
    assert data["recently_resolved_blockers"][0]["index"] == 0
    assert (data["current_story"]["id"], data["current_story"]["status"]) == ("S1", "in_progress")
    shown = working.said("resume-context", "--text")
    assert shown.startswith("## RESUMING AFTER BLOCKER\n")
    assert by_person(working, "resume-context").startswith("## RESUMING AFTER BLOCKER")
    assert json.loads(by_person(working, "resume-context", "--json"))["workflow_id"]


@SOAKED
def test_a_run_is_stopped_and_resumed_by_a_person_alone(working: RunGround) -> None:
    """In the client it takes a prompt after the question; who did it stands in the progress file."""
    before = working.state.read_bytes()
    assert "lifecycle run stop" in refused(working.run("stop", **AGENT))
    assert "there is nothing to resume" in refused(working.run("resume", **AGENT))
    assert working.state.read_bytes() == before
    assert "Stopped: " in by_person(working, "stop", "--why", "too dear")
    assert working.store.demanded().status is RunStatus.STOPPED
    assert "Only a person may say this" in refused(working.run("resume", **AGENT))
    (working.root / ".lifecycle" / "answered").touch()
    data = working.data("resume", "--iterations", "3", **AGENT)
    assert (data["status"], data["by"]) == ("active", "prompt after the question")
    assert working.store.demanded().forgiven.iterations == 3 - 100
    refused(working.run("stop", **AGENT))
    assert "is active" in refused(working.run("resume"))
    assert working.run("resume", "--iterations", "0").returncode == 2
    noted = (working.root / ".claude/workflow-progress.txt").read_text()
    assert "too dear; by a terminal outside of the client" in noted


@pytest.mark.parametrize(
    ("iterations", "says"),
    [(1, ""), (100, "(it reached its cap of 100 iterations), and may take 2 turns more.")],
)
def test_a_cap_that_was_reached_is_said_with_what_is_granted(
    working: RunGround, iterations: int, says: str
) -> None:
    """As it was when the run was stopped: the time in which it was stopped reached nothing."""
    run, now = working.store.demanded(), time.time()
    hours = {"started": now - 30 * 3_600, "stopped_at": now - 29 * 3_600}
    working.kept(replace(run, status=RunStatus.STOPPED, iterations=iterations, **hours))
    shown = by_person(working, "resume", "--iterations", "2")
    assert says in shown
    assert ("was at a limit" in shown) is bool(says)


def test_a_run_that_is_stopped_for_good_is_heard_of_no_more(working: RunGround) -> None:
    """A person ends it: its file is set aside, guards let stops through, and another run may begin.

    An agent is told the very command that a person types.
    """
    before = working.state.read_bytes()
    told = refused(working.run("stop", "--for-good", **AGENT))
    assert "lifecycle run stop --for-good" in told
    assert working.state.read_bytes() == before
    run = working.store.demanded()
    shown = by_person(working, "stop", "--for-good", "--why", "too dear")
    assert f"Stopped for good: {run.id} (too dear; by a terminal outside of the client)" in shown
    kept = working.state.with_name(f"workflow-state.json.{run.id}")
    assert f".claude/{kept.name}" in shown
    assert decoded(kept.read_bytes()).status is RunStatus.STOPPED
    assert not working.state.exists()
    assert not (working.root / ".lifecycle/run").exists()
    assert "| Existing workflow | No |" in working.said("recover")
    summary = Summary(journal.read(working.root))
    assert (summary.tasks[run.id], run.id in summary.spent, summary.done) == (run.goal, True, {})
    assert "There is no run here" in refused(working.run("resume"))
    assert working.said("init", "Another goal").startswith("Initialized workflow: ")


def test_a_run_that_was_stopped_is_ended_for_good_with_what_stopped_it(working: RunGround) -> None:
    """What was said of why it stopped stays in the file that is kept."""
    by_person(working, "stop", "--why", "too dear")
    run = working.store.demanded()
    assert "(too dear; " in by_person(working, "stop", "--for-good")
    kept = working.state.with_name(f"workflow-state.json.{run.id}")
    assert decoded(kept.read_bytes()) == run


@SOAKED
def test_the_retry_context_has_what_was_recorded_and_what_git_shows(working: RunGround) -> None:
    """The files that differ from the commit on which the story began, and the checks on these files."""
    working.said("add-failure", "S1", "KeyError: 'amount'", "--file", "pay.py", "--line", "7")
    (working.root / "pay.py").write_text("pay = 2\n")
    working.git("commit", "--quiet", "--all", "--message", "second")
    (working.root / "test_pay.py").write_text("new\n")
    lines = working.said("retry-context", "S1").splitlines()
    for line in (
        "## Retry Context",
        "**Iteration:** 2/3",
        "  - File: pay.py:7",
        "  - Error: KeyError: 'amount'",
        "- pay.py",
        "- test_pay.py",
        "| testsPass | PENDING |",
        "| securityCleared | N/A |",
        '{"should_retry": true, "backoff_seconds": 0}',
    ):
        assert line in lines
    data = working.data("retry-context", "S1")
    assert data["files"] == ["pay.py", "test_pay.py"]
    assert data["recommendation"]["should_retry"]
    assert data["checks"]["reviewApproved"] == "PENDING"
