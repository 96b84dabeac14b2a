"""Evidence, limits, two sessions, doubled hooks, kills, and what a stop costs."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace

import pytest

from lifecycle.core.stage_names import Detected, Stage
from tests.e2e.agent import Agent
from tests.e2e.client import SECONDS, ended, heard
from tests.e2e.killer import KILL_AT, KILL_NOTE
from tests.e2e.staged import Ground, marker
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_stages_limits.py::test_tests_count_with_a_green_run_on_this_very_tree",
    "stages/test_decide.py::test_a_marker_may_skip_or_go_back",
)

CODED = marker(Detected.CODING_COMPLETE)
REVIEWED = marker(Detected.REQUIREMENTS_REVIEWED)
PASSING = marker(Detected.TESTS_PASSING)
APPROVED = marker(Detected.ORACLE_APPROVED)


def led(ground: Ground, *markers: str) -> Agent:
    """An agent that came so far, marker by marker."""
    agent = ground.agent()
    agent.prompt("Do the first one")
    for text in markers:
        assert "CURRENT STAGE: " in agent.stops(text).model
    return agent


def test_tests_count_with_a_green_run_on_this_very_tree(ground: Ground) -> None:
    """No run, a red one, a green one on another tree: refused, each with its reason. Then accepted."""
    task = ground.task("First", priority=1)
    ground.task("Second")
    ground.settings('require_evidence = true\ntest = ["make verify"]\n')
    ground.place.git("switch", "--quiet", "-c", "work")
    agent = led(ground, CODED, REVIEWED)
    told = agent.stops(PASSING).model
    assert "No test run was seen on this task yet" in told
    assert "`make verify`" in told
    assert "CURRENT STAGE: TESTING" in told
    agent.runs("make verify", "2 failed", ok=False)
    assert "The last test run was red" in agent.stops(PASSING).model
    agent.edits("code.py", "one = 1\n")
    agent.runs("make verify", "2 passed")
    agent.edits("code.py", "one = 2\n")
    assert "The code changed since the last green test run" in agent.stops(PASSING).model
    agent.runs("make verify", "2 passed")
    agent.really_runs("git", "add", "code.py")
    agent.really_runs("git", "commit", "--quiet", "-m", "Work")
    assert "CURRENT STAGE: ORACLE_REVIEW" in agent.stops(PASSING).model
    # What is changed for a review's feedback has to be tested again, before and after the review.
    agent.edits("code.py", "one = 3\n")
    told = agent.stops(APPROVED).model
    assert "The code changed since the last green test run" in told
    assert "CURRENT STAGE: TESTING" in told
    agent.runs("make verify", "2 passed")
    # What the tracker writes is no part of the code.
    ground.bd("label", "add", task, "needs-review")
    assert "CURRENT STAGE: COMMIT_CLOSE" in agent.stops(APPROVED).model
    agent.edits("code.py", "one = 4\n")
    ground.bd("close", task)
    told = agent.stops(marker(Detected.ISSUE_CLOSED)).model
    assert "The code changed since the last green test run" in told
    agent.runs("make verify", "2 passed")
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops(marker(Detected.ISSUE_CLOSED)).model
    assert len(ground.journal("refused")) == 5
    assert len(ground.journal("check")) == 5


@SOAKED
@pytest.mark.parametrize(
    ("output", "is_ok"),
    [
        ("Ran 0 tests in 0.000s\n\nOK", True),
        ("Exit code 5\ncollected 0 items\n\nno tests ran in 0.01s", False),
    ],
)
def test_a_run_without_a_test_is_named_so(ground: Ground, output: str, is_ok: bool) -> None:
    """unittest ends well with nothing run, pytest with status 5: neither is red, and both were seen."""
    ground.task("First")
    ground.settings('require_evidence = true\ntest = ["make verify"]\n')
    agent = led(ground, CODED, REVIEWED)
    agent.runs("make verify", output, ok=is_ok)
    assert "The last test run ran no test" in agent.stops(PASSING).model


@SOAKED
def test_a_stage_beyond_the_tests_needs_them_as_well(ground: Ground) -> None:
    """A marker that skips TESTING is refused without a green run; `status` says what is missing."""
    ground.task("First")
    ground.settings('require_evidence = true\ntest = ["pytest"]\n')
    agent = led(ground, CODED)
    assert "CURRENT STAGE: TESTING" in agent.stops(APPROVED).model
    shown = ground.place.cli("stage", "status", **agent.environment).stdout
    assert "[TESTING]" in shown
    assert "Missing: No test run was seen on this task yet." in shown


@SOAKED
def test_where_nothing_can_be_run_the_marker_counts_and_the_user_hears_it_once(
    ground: Ground,
) -> None:
    """No command for tests is known and no run was ever seen: evidence is advisory, and that is said."""
    ground.task("First")
    ground.settings("require_evidence = true\n")
    agent = led(ground, CODED, REVIEWED)
    told = agent.stops(PASSING)
    assert "CURRENT STAGE: ORACLE_REVIEW" in told.model
    assert "no command for tests is known here" in told.person
    assert "Missing" not in ground.place.cli("stage", "status", **agent.environment).stdout
    assert agent.stops(APPROVED).person == ""
    ground.settings('require_evidence = true\ntest = ["pytest"]\n')
    assert "No test run was seen on this task yet" in agent.stops(f"So: {PASSING}").model


@pytest.mark.parametrize(
    ("line", "output", "is_ok"),
    [
        ("pytest tests/unit/test_a.py", "Exit code 1\n1 failed in 0.1s", False),
        soaked("pytest -k a", "1 passed", True),
    ],
)
def test_a_part_shows_that_tests_can_be_run(
    ground: Ground, line: str, output: str, *, is_ok: bool
) -> None:
    """No command is known, and a part was seen: the marker is refused, and the part is what is named."""
    ground.task("First")
    ground.settings("require_evidence = true\n")
    agent = led(ground, CODED, REVIEWED)
    agent.runs(line, output, ok=is_ok)
    told = agent.stops(PASSING)
    assert "The last test run was only of a part of the tests" in told.model
    assert told.person == ""
    agent.runs("pytest", "2 passed in 0.1s")
    agent.runs(line, output, ok=is_ok)
    assert "CURRENT STAGE: ORACLE_REVIEW" in agent.stops(f"So: {PASSING}").model


@SOAKED
def test_where_git_cannot_tell_the_files_the_user_hears_it_once(ground: Ground) -> None:
    """A filter that fails: the agent may stop, and one message says why; mended, the same stop leads on."""
    ground.task("First")
    ground.settings("require_evidence = true\n")
    agent = led(ground, CODED, REVIEWED)
    agent.edits("code.py", "one = 1\n")
    agent.runs("pytest", "3 passed")
    rules = ground.root / ".git/info/attributes"
    rules.write_text("*.py filter=broken\n")
    for name, value in (("clean", "false"), ("required", "true")):
        ground.place.git("config", f"filter.broken.{name}", value)
    replies = [agent.stops(PASSING + " " * number) for number in range(3)]
    assert [reply.model for reply in replies] == [""] * 3
    (told,) = [reply.person for reply in replies if reply.person]
    assert told == replies[0].person
    assert "git could not read the files here" in told
    assert ground.log()[-1] == "The agent may stop"
    rules.unlink()
    assert "CURRENT STAGE: ORACLE_REVIEW" in agent.stops(PASSING).model


@SOAKED
def test_a_command_that_is_no_test_run_leaves_nothing(ground: Ground) -> None:
    """A search for the words: no evidence. One file's tests show that tests can be run, and no more."""
    ground.task("First")
    agent = led(ground, CODED)
    agent.runs("grep -rn pytest .", "3 passed")
    agent.runs("echo make test", "make test")
    assert not (ground.here / "evidence/records.json").exists()
    agent.runs("pytest tests/test_one.py", "1 passed")
    agent.runs("pytest", "3 passed")
    part, run = json.loads((ground.here / "evidence/records.json").read_text())["records"]
    assert (part["outcome"], part["tree"]) == ("partial", "")
    assert (run["command"], run["outcome"], run["tree"]) == ("pytest", "passed", "")


@SOAKED
def test_eight_times_without_progress_and_the_session_is_let_go(ground: Ground) -> None:
    """No tool in between: eight instructions, then a word to the user, once. A tool, and it goes on."""
    ground.task("First")
    agent = ground.agent()
    agent.prompt("Do the first one")
    markers = [CODED, REVIEWED] * 6
    replies = [agent.stops(text + " " * number) for number, text in enumerate(markers)]
    assert [bool(reply.model) for reply in replies] == [True] * 8 + [False] * 4
    told = [reply.person for reply in replies if reply.person]
    assert len(told) == 1
    assert "8 times in a row" in told[0]
    agent.prompt("Go on")
    agent.edits("code.py", "one = 1\n")
    assert agent.stops(CODED).model
    assert len(ground.journal("let_go")) == 1


@SOAKED
def test_max_blocks_in_all(ground: Ground) -> None:
    """Tools or not: after max_blocks the session is let go; `stage set` begins anew."""
    ground.task("First")
    ground.settings("max_blocks = 3\n")
    agent = ground.agent()
    agent.prompt("Do the first one")
    replies = []
    for number in range(5):
        agent.edits("code.py", str(number))
        replies.append(agent.stops(CODED + " " * number))
    assert [bool(reply.model) for reply in replies] == [True] * 3 + [False] * 2
    assert "stages.max_blocks" in replies[3].person
    done = ground.place.cli(
        "stage", "set", "TESTING", **agent.environment, CLAUDE_CODE_SESSION_ID=agent.id
    )
    assert done.returncode == 0, done.stderr
    told = agent.stops("Well.").model
    assert told.startswith("The stage was set by hand.")
    assert "CURRENT STAGE: TESTING" in told


def test_two_sessions_in_one_worktree_share_nothing(ground: Ground) -> None:
    """Each is led through its own stages, on its own task, with its own counts."""
    first, second = ground.task("First", priority=1), ground.task("Second", priority=2)
    one, two = ground.agent(), ground.agent()
    for agent, task in ((one, first), (two, second)):
        agent.prompt(f"Do {task}")
        agent.runs(f"bd update {task} --claim")
    assert f"bd show {first}" in one.stops(CODED).model
    assert "CURRENT STAGE: TESTING" in one.stops(REVIEWED).model
    assert f"bd show {second}" in two.stops(CODED).model
    assert "CURRENT STAGE: ORACLE_REVIEW" in one.stops(PASSING).model
    kept = {p.stem: json.loads(p.read_text()) for p in (ground.here / "stages").glob("*-*.json")}
    assert {name: (k["task"], k["memory"]["blocks"]) for name, k in kept.items()} == {
        one.id: (first, 3),
        two.id: (second, 1),
    }


@SOAKED
def test_a_task_that_another_agent_took_meanwhile(ground: Ground) -> None:
    """Seen at the next stage: the agent is told who has it; the same for a new blocker."""
    task, other = ground.task("First"), ground.task("Other", "bug")
    agent = ground.agent()
    agent.prompt(f"Do {task}")
    agent.runs(f"bd update {task} --claim")
    ground.bd("update", task, "--claim", actor="me")
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    ground.bd("update", task, "--assignee", "somebody")
    told = agent.stops(REVIEWED).model
    assert f"Task {task} is claimed by somebody." in told
    ground.bd("update", task, "--assignee", "me")
    ground.bd("dep", "add", task, other)
    agent.runs("ls")
    told = agent.stops(REVIEWED + " ").model
    assert f"Task {task} is blocked by {other}." in told
    ground.bd("close", other)
    agent.runs("ls")
    assert "CURRENT STAGE: TESTING" in agent.stops(REVIEWED + "  ").model


@SOAKED
def test_a_sequence_of_its_own_for_a_label(ground: Ground) -> None:
    """The line of stages and the next marker follow it; a line without NEXT_TASK ends with one word."""
    task = ground.task("Quick", "auto-workflow:quick-fix")
    line = '[stages.workflows]\n"auto-workflow:quick-fix" = ["CODING", "TESTING", "COMMIT_CLOSE"]\n'
    ground.settings(line)
    ground.task("Another")
    agent = ground.agent()
    agent.prompt(f"Do {task}")
    agent.runs(f"bd update {task} --claim")
    told = agent.stops(CODED).model
    assert "CURRENT STAGE: TESTING" in told
    assert "WORKFLOW STAGES: CODING → TESTING → COMMIT_CLOSE\n" in told
    assert "CURRENT STAGE: COMMIT_CLOSE" in agent.stops(PASSING).model
    ground.bd("close", task)
    over = agent.stops(marker(Detected.ISSUE_CLOSED))
    assert over.model == ""
    assert over.person == f"The last stage of {task} is complete: COMMIT_CLOSE"


@pytest.mark.parametrize("copies", [2, soaked(4)])
def test_hooks_that_are_installed_twice_say_it_once(ground: Ground, copies: int) -> None:
    """The plugin's copy and init's run at the same stop: one instruction, one line of the journal."""
    ground.task("First")
    agent = led(ground, CODED)
    agent.says(REVIEWED)
    processes = [agent.begins_to_stop(REVIEWED) for _ in range(copies)]
    with ended(*processes):
        replies = [heard(process) for process in processes]
    assert [reply.code for reply in replies] == [0] * copies
    (told,) = [reply for reply in replies if not reply.is_silent]
    assert "CURRENT STAGE: TESTING" in told.model
    assert ground.journal("transition")[-1][2] == "TESTING"
    assert len(ground.journal("transition")) == 2


@SOAKED
def test_killed_at_any_moment_it_is_said_once_at_the_most_and_goes_on(ground: Ground) -> None:
    """SIGKILL before each change of a file and before the print: the next stop leads on in any case."""
    ground.task("First")
    note = ground.root.parent / "note"
    moment, lost = 0, 0
    while True:
        moment += 1
        agent = led(ground, CODED)
        agent.says(REVIEWED)
        killed = replace(
            agent, environment={**agent.environment, KILL_AT: str(moment), KILL_NOTE: str(note)}
        )
        note.unlink(missing_ok=True)
        process = killed.begins_to_stop(REVIEWED)
        stdout, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == -signal.SIGKILL
        again = heard(agent.begins_to_stop(REVIEWED))
        assert (not stdout) or again.is_silent
        lost += not stdout and again.is_silent
        agent.says("I look at the code.")
        agent.prompt("Go on")
        assert "CURRENT STAGE: ORACLE_REVIEW" in agent.stops(PASSING).model
        if note.read_text().splitlines()[-1] == "end":
            break
    assert moment >= 3
    assert lost <= 2


def test_a_stop_at_which_nothing_changed_asks_nobody(ground: Ground) -> None:
    """No process of the tracker's and no request, however often; an instruction costs a few calls."""
    ground.task("First")
    agent = led(ground, CODED)
    ground.place.clear()
    calls = ground.calls()
    agent.edits("code.py", "one = 1\n")
    for number in range(5):
        assert agent.stops(f"Step {number}.").is_silent
        ground.forget_the_minute()
    assert (ground.calls(), ground.place.requests()) == (calls, [])
    assert "CURRENT STAGE: TESTING" in agent.stops(REVIEWED).model
    assert ground.calls() - calls <= 6
    assert ground.place.requests() == []


@SOAKED
def test_switched_off_and_on_in_this_worktree(ground: Ground) -> None:
    """Off: the shell ends each stop. On: the next one is led. `status` says which."""
    ground.task("First")
    agent = led(ground, CODED)
    names = {**agent.environment, "CLAUDE_CODE_SESSION_ID": agent.id}
    assert ground.place.cli("stage", "off", **names).returncode == 0
    lines = len(ground.log())
    assert agent.stops(REVIEWED).is_silent
    assert len(ground.log()) == lines
    assert "switched off" in ground.place.cli("stage", "status", **names).stdout
    assert ground.place.cli("stage", "set", "TESTING", **names).returncode == 1
    assert ground.place.cli("stage", "on", **names).returncode == 0
    assert "CURRENT STAGE: TESTING" in agent.stops(REVIEWED).model
    shown = json.loads(ground.place.cli("stage", "status", "--json", **names).stdout)
    assert (shown["active"], shown["stage"], shown["blocks"]) == (True, Stage.TESTING, 2)


@SOAKED
def test_an_agent_that_waits_for_something_in_the_background_may_stop(ground: Ground) -> None:
    """It said nothing of a stage, and the client wakes it when that ends: no question; nor in plan mode."""
    ground.task("First")
    agent = led(ground, CODED)
    running = [{"id": "b1", "type": "shell", "status": "running", "command": "pytest"}]
    assert agent.stops("The tests run.", background_tasks=running).is_silent
    assert agent.stops("They ran.", permission_mode="plan").is_silent
    assert "Unable to determine" in agent.stops("They ran.").model


@SOAKED
def test_the_log_is_as_the_design_says_and_holds_no_secret(ground: Ground) -> None:
    """Moments in brackets, one line for each step; a token in a command is stars."""
    ground.task("First")
    agent = led(ground, CODED)
    agent.runs("GH_TOKEN=ghp_abcdefghijklmnopqrst0123 pytest", "1 passed")
    text = (ground.root / ".claude/workflow_orchestrator.log").read_text()
    assert "ghp_" not in text
    assert "Test run seen: passed (GH_TOKEN=*** pytest)" in text
    shown = [line.partition("] ")[2] for line in text.splitlines()[:6]]
    assert shown[-5:] == [
        "Hook triggered",
        "Detecting stage from message",
        "Found explicit marker: CODING_COMPLETE",
        "Getting instruction for stage: CODING_COMPLETE",
        "Injecting instruction for stage: CODING_COMPLETE",
    ] or shown[:5] == [
        "Hook triggered",
        "Detecting stage from message",
        "Found explicit marker: CODING_COMPLETE",
        "Getting instruction for stage: CODING_COMPLETE",
        "Injecting instruction for stage: CODING_COMPLETE",
    ]
    assert os.stat(ground.root / ".claude/workflow_orchestrator.log").st_size < 5_000  # noqa: PTH116


@SOAKED
def test_a_marker_that_there_is_not_is_told_each_time(ground: Ground) -> None:
    """A slip in the name: the agent hears which there are, also when it was the answer to that."""
    task = ground.task("First")
    agent = ground.agent()
    agent.prompt(f"/bd-start {task}")
    agent.edits("code.py", "one = 1\n")
    told = agent.stops("Done.\n\n::: WORKFLOW_STAGE: CODING_COMPLETED :::").model
    assert told.startswith("There is no marker CODING_COMPLETED; the markers are CODING_COMPLETE, ")
    again = agent.stops("Hm.\n\n::: WORKFLOW_STAGE: CODING_COMPLETED :::").model
    assert again.startswith(
        "There is no marker CODING_COMPLETED; the markers are CODING_COMPLETE, "
    )
    assert ground.journal("block") == [(task, "", "")] * 2
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in agent.stops(CODED).model


@SOAKED
def test_a_stage_set_by_hand_names_the_sessions_own_task(ground: Ground) -> None:
    """CODING in the middle of a task is about that task, and not about finding the next one."""
    task = ground.task("First")
    ground.task("Second")
    agent = ground.agent()
    agent.prompt(f"/bd-start {task}")
    agent.runs(f"bd update {task} --claim")
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    own = {**agent.environment, "CLAUDE_CODE_SESSION_ID": agent.id}
    assert ground.place.cli("stage", "set", "CODING", **own).returncode == 0
    agent.runs("ls")
    told = agent.stops("I look around.").model
    assert f"Next step: Continue with task {task}." in told
    assert "Find and start" not in told
