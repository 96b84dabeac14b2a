"""Which task a session is led through: its own, whatever else it looks at, closes or is asked about."""

from __future__ import annotations

import json
import os

import pytest

from lifecycle.core.stage_names import Detected
from tests.cli.outcome import ok
from tests.e2e.agent import Agent
from tests.e2e.staged import Ground, marker
from tests.repeated import soaked
from tests.trackers.beads.program.database import Database

SOAKED = pytest.mark.soak(
    "e2e/test_stages_own_task.py::test_closed_is_believed_when_the_tracker_says_so",
    "stages/test_taken.py::test_commands_that_take_a_task_up",
)

CODED = marker(Detected.CODING_COMPLETE)
REVIEWED = marker(Detected.REQUIREMENTS_REVIEWED)
PASSING = marker(Detected.TESTS_PASSING)
APPROVED = marker(Detected.ORACLE_APPROVED)
CLOSED = marker(Detected.ISSUE_CLOSED)
CLEARED = marker(Detected.SESSION_CLEARED)


def begun(ground: Ground, task: str) -> Agent:
    """An agent that began with this task and claimed it."""
    agent = ground.agent()
    agent.prompt(f"/bd-start {task}")
    agent.runs(f"bd update {task} --claim")
    return agent


def task_of(ground: Ground, agent: Agent) -> str:
    """The task that is kept of the session."""
    kept = json.loads((ground.here / f"stages/{agent.id}.json").read_text())
    return str(kept["task"])


@SOAKED
@pytest.mark.parametrize(
    "command", ["bd show {}", "git log --grep {}", "grep -rn {} .", "bd close {}"]
)
def test_another_task_that_is_looked_at_or_closed_takes_no_place(
    ground: Ground, command: str
) -> None:
    """Not before the first stage, and not in the middle: the instructions name the session's own."""
    own, other = ground.task("First", priority=1), ground.task("Second")
    agent = begun(ground, own)
    for text, verb in (
        (CODED, "show"),
        (REVIEWED, ""),
        (PASSING, "label add"),
        (APPROVED, "close"),
    ):
        agent.runs(command.format(other), "related")
        told = agent.stops(text).model
        assert other not in told
        assert not verb or f"bd {verb} {own}" in told
        assert task_of(ground, agent) == own


@SOAKED
def test_numbers_in_other_commands_are_no_tasks(ground: Ground) -> None:
    """`-n 42` and `head -n 42` while a task has a number for its id."""
    own = ground.task("First", priority=1)
    number = own.rpartition("-")[2]
    other = ground.task("Second")
    agent = begun(ground, own)
    agent.runs(f"git log --oneline -n {number}", "x")
    agent.runs(f"head -n {other} x.py", "x")
    assert f"bd show {own}" in agent.stops(CODED).model


@SOAKED
def test_another_that_is_begun_takes_the_place(ground: Ground) -> None:
    """A claim or a start says what the session works on from then on."""
    own, other = ground.task("First", priority=1), ground.task("Second")
    agent = begun(ground, own)
    assert f"bd show {own}" in agent.stops(CODED).model
    agent.runs(f"bd update {other} --claim")
    assert f"bd show {other}" in agent.stops(CODED + " ").model
    assert task_of(ground, agent) == other


@SOAKED
@pytest.mark.parametrize("label", ["bug", "auto-workflow"])
@pytest.mark.parametrize("is_first", [True, False])
def test_closing_another_in_the_middle_ends_nothing(
    ground: Ground, label: str, is_first: bool
) -> None:
    """With the label or without, before the first stage or after it."""
    own, other = ground.task("First", priority=1), ground.task("Duplicate", label)
    ground.task("Third")
    agent = begun(ground, own)
    if not is_first:
        assert agent.stops(CODED).model
    agent.edits("x.py", "1")
    ground.bd("close", other)
    agent.runs(f"bd close {other}", f"Closed {other}")
    assert agent.stops("I closed the duplicate and go on.").is_silent
    told = agent.stops(REVIEWED).model
    assert "CURRENT STAGE: TESTING" in told
    assert task_of(ground, agent) == own


def test_closed_is_believed_when_the_tracker_says_so(ground: Ground) -> None:
    """The marker while the task is open: the command once more. Closed: the next one follows."""
    own = ground.task("First", priority=1)
    ground.task("Second")
    agent = begun(ground, own)
    agent.stops(APPROVED)
    told = agent.stops(CLOSED).model
    assert told.startswith(f"Task {own} is still open in the tracker")
    assert "CURRENT STAGE: COMMIT_CLOSE" in told
    assert f"`bd close {own}" in told
    agent.runs("git push")
    agent.runs(f"bd close {own}", f"Closed {own}")  # it says so, and it was not
    assert "is still open in the tracker" in agent.stops("It is closed now.").model
    assert ground.journal("refused") == [(own, "COMMIT_CLOSE", "COMMIT_CLOSE")] * 2
    ground.bd("close", own)
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops(CLOSED + " ").model


def test_the_closing_says_the_name_that_holds_the_task(ground: Ground) -> None:
    """bd goes by who types a command, and from 1.3 on lets only the holder close; as the claim says it."""
    own = ground.task("First", priority=1)
    ground.task("Second")
    agent = ground.agent()
    agent.prompt("Go on")
    names = {"CLAUDE_CODE_SESSION_ID": agent.id, **agent.environment}
    shown = ground.place.cli("tracker", "claim", own, **names)
    agent.runs(f"lifecycle tracker claim {own}", shown.stdout)
    holder = ground.bd("show", own, "--json")[0]["assignee"]
    assert holder not in ("", "a-person")
    told = agent.stops(APPROVED).model
    assert f'`bd close {own} --reason "Summary of changes" --actor={holder}`' in told
    ground.bd("update", own, "--assignee=a-person")
    ground.forget_the_minute()
    assert "--actor" not in agent.stops(f"So: {APPROVED}").model


@pytest.mark.parametrize("how", ["rename-prefix", "rename"])
def test_a_task_that_gets_another_id_stays_the_sessions(ground: Ground, how: str) -> None:
    """It was called closed, and left held and open: nobody has the id by which it was told any more."""
    own = ground.task("First", priority=1)
    other = ground.task("Second")
    if how == "rename":  # it need not be held in a name of ours
        agent = begun(ground, own)
        ground.bd("update", own, "--claim")
    else:
        agent = ground.agent()
        agent.prompt("Go on")
        names = {"CLAUDE_CODE_SESSION_ID": agent.id, **agent.environment}
        shown = ground.place.cli("tracker", "claim", own, **names)
        agent.runs(f"lifecycle tracker claim {own}", shown.stdout)
    assert f"bd close {own}" in agent.stops(APPROVED).model
    with Database(str(ground.root / ".beads")).writing() as state:
        new = "demo-first" if how == "rename" else own.replace("demo-", "new-")
        state["issues"][new] = {**state["issues"].pop(own), "id": new}
    told = agent.stops(CLOSED).model
    assert told.startswith(f"Task {new} is still open in the tracker")
    assert f"`bd close {new}" in told
    assert task_of(ground, agent) == new
    ground.bd("close", new)
    assert f"/bd-start {other}" in agent.stops(CLOSED + " ").model


@pytest.mark.parametrize("how", ["close", "delete"])
def test_the_only_task_that_is_left_is_not_the_sessions(ground: Ground, how: str) -> None:
    """What it works on was closed or deleted in its first stage: it was told to close the other one."""
    own, other = ground.task("First", priority=1), ground.task("Second")
    agent = begun(ground, own)
    ground.bd(how, own, *(["--force"] if how == "delete" else []))
    for text in (CODED, REVIEWED, PASSING, APPROVED):
        told = agent.stops(text).model
        assert other not in told
    assert f"`bd close {own}" in told
    assert f"/bd-start {other}" in agent.stops(CLOSED).model


def test_words_that_are_no_id_are_no_task_that_is_gone(ground: Ground) -> None:
    """A person may begin a task by its title; what the command's words were is not the session's task."""
    own = ground.task("Mend the parser", priority=1)
    agent = ground.agent()
    agent.prompt("/bd-start the parser, please")
    agent.runs("bd update $ID --claim")
    assert f"bd show {own}" in agent.stops(CODED).model
    assert task_of(ground, agent) == own


@SOAKED
def test_words_about_another_closed_task_end_nothing(ground: Ground) -> None:
    """A person asks about it in the middle of one's own."""
    own = ground.task("First", priority=1)
    other = ground.task("Second", "bug")
    agent = begun(ground, own)
    assert f"bd close {own}" in agent.stops(APPROVED).model
    agent.prompt(f"Is {other} closed?")
    assert agent.stops(f"Yes: issue {other} is closed, since last week.").is_silent
    agent.runs(f"bd show {other}", "closed")
    assert agent.stops(f"Issue {other} is closed.").is_silent
    assert task_of(ground, agent) == own


@SOAKED
def test_labels_are_those_of_the_task_as_it_is_now(ground: Ground) -> None:
    """A label that came within the minute gives its own line of stages at once."""
    line = '[stages.workflows]\n"auto-workflow:quick-fix" = ["CODING", "TESTING", "COMMIT_CLOSE"]\n'
    ground.settings(line)
    own = ground.task("First")
    ground.task("Second")
    agent = begun(ground, own)
    ground.agent().starts("startup")  # the tracker is asked
    ground.bd("label", "add", own, "auto-workflow:quick-fix")
    ground.bd("label", "remove", own, "auto-workflow")
    assert "CURRENT STAGE: TESTING" in agent.stops(CODED).model


@SOAKED
def test_after_its_end_a_session_is_left_alone(ground: Ground) -> None:
    """A line without NEXT_TASK: what the session does for its person afterwards is not the workflow's."""
    ground.settings('[stages.workflows]\n"auto-workflow:quick" = ["CODING", "TESTING"]\n')
    own = ground.task("First", "auto-workflow:quick")
    agent = begun(ground, own)
    ground.bd("update", own, "--claim")
    assert "CURRENT STAGE: TESTING" in agent.stops(CODED).model
    agent.runs(f"bd show {own}", "First")
    assert agent.stops(PASSING).person == f"The last stage of {own} is complete: TESTING"
    for prompt, text in (("Thanks", "Welcome."), ("Edit y", "The implementation is complete.")):
        agent.prompt(prompt)
        agent.edits("y.py", prompt)
        assert agent.stops(text).is_silent
    agent.wakes("The build ended.")
    assert agent.stops("It ended.").is_silent
    shown = ground.place.cli("stage", "status", **agent.environment).stdout
    assert f"is no longer led: it reached the end of {own}" in shown
    assert "REQUIREMENTS_REVIEW" not in shown
    # Its own marker leads it again.
    assert "CURRENT STAGE: TESTING" in agent.stops(CODED + " ").model


@SOAKED
def test_the_note_and_the_status_name_one_stage(ground: Ground) -> None:
    """After max_blocks: where the session is, as the user was told."""
    ground.task("First")
    ground.settings("max_blocks = 1\n")
    agent = ground.agent()
    agent.prompt("Do the first one")
    agent.stops(CODED)
    agent.edits("code.py", "1")
    assert "it is at TESTING" in agent.stops(REVIEWED).person
    shown = ground.place.cli("stage", "status", **agent.environment).stdout
    assert "[TESTING]" in shown


@SOAKED
def test_who_was_let_go_is_led_again_once_a_person_says_what_to_do(ground: Ground) -> None:
    """No tool between: the count of instructions in a row begins anew with the prompt."""
    ground.task("First")
    agent = ground.agent()
    agent.prompt("Do the first one")
    replies = [agent.stops(text + " " * n) for n, text in enumerate([CODED, REVIEWED] * 5)]
    assert [bool(reply.model) for reply in replies] == [True] * 8 + [False] * 2
    agent.prompt("Go on, you are at the tests.")
    assert agent.stops(PASSING).model


@SOAKED
def test_who_tells_the_user_of_a_conflict_is_not_asked_for_the_stage(ground: Ground) -> None:
    """It did what the instruction said: one block, and the agent may stop."""
    own, other = ground.task("First", priority=1), ground.task("Other", "bug")
    agent = begun(ground, own)
    ground.bd("dep", "add", own, other)
    assert f"is blocked by {other}" in agent.stops(CODED).model
    assert agent.stops(f"{own} waits for {other}; please look at that first.").is_silent


@SOAKED
def test_who_waits_for_clear_is_told_the_next_task(ground: Ground) -> None:
    """Plain words at NEXT_TASK: the next instruction, not the question; with none left, the last word."""
    first, second = ground.task("First", priority=1), ground.task("Second")
    for own, follows in ((first, True), (second, False)):
        agent = begun(ground, own)
        ground.bd("close", own)
        over = agent.stops(CLOSED)
        assert ("CURRENT STAGE: NEXT_TASK" in over.model) is follows
        if follows:
            told = agent.stops("I wait for /clear.").model
            assert told.startswith("Session cleared. Ready for next task.")
            assert second in told
        else:
            assert over.person == "All auto-workflow tasks complete"


@pytest.mark.parametrize("source", ["clear", "compact", soaked("resume")])
def test_who_goes_on_in_mid_stage_is_told_all_of_it(ground: Ground, source: str) -> None:
    """Cleared, compacted or resumed: the stage's whole instruction, with the task and its commands."""
    own = ground.task("First", priority=1)
    ground.task("Second")
    agent = begun(ground, own)
    ground.bd("update", own, "--claim")
    agent.stops(CODED)
    calls = ground.calls()
    again = agent.cleared() if source == "clear" else agent
    told = again.starts(source).model
    assert told.startswith("The staged workflow goes on.")
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in told
    assert f"`bd show {own}`" in told
    assert "- Verify every requirement is satisfied" in told
    assert source == "clear" or ground.calls() - calls <= 1, (
        "the program, for its options; about no task"
    )
    assert "CURRENT STAGE: TESTING" in again.stops(REVIEWED).model


@SOAKED
def test_who_is_resumed_with_nothing_left_is_told_nothing(ground: Ground) -> None:
    """The workflow is not active any more, as another session found out; nobody is asked again."""
    own = ground.task("First")
    agent = begun(ground, own)
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    assert "staged workflow" in agent.starts("resume").model
    ground.bd("close", own)
    assert ground.place.cli("stage", "status", **agent.environment).returncode == 0
    calls = ground.calls()
    assert "staged workflow" not in agent.starts("resume").model
    assert "staged workflow" not in agent.starts("compact").model
    assert ground.calls() == calls


@SOAKED
def test_a_session_has_one_name_and_its_task_one_spelling_in_the_journal(ground: Ground) -> None:
    """Test runs as well."""
    from lifecycle.storage import journal

    own = ground.task("First")
    agent = begun(ground, own)
    agent.stops(CODED)
    agent.runs("pytest", "3 passed")
    agent.stops(REVIEWED)
    entries = [e for e in journal.read(ground.root) if e.system == journal.STAGES]
    assert journal.CHECK in {entry.kind for entry in entries}
    assert {entry.task for entry in entries} == {own}
    assert len({entry.actor for entry in entries}) == 1


@SOAKED
@pytest.mark.parametrize("taking", ["bd update {} --claim", "lifecycle tracker claim {}"])
def test_what_is_taken_at_next_task_is_the_sessions_task(ground: Ground, taking: str) -> None:
    """Without a marker: the session is at CODING of it, for stage status too, and is led through it."""
    first, second = ground.task("First", priority=1), ground.task("Second")
    agent = begun(ground, first)
    ground.bd("close", first)
    assert second in agent.stops(CLOSED).model
    agent.runs(taking.format(second), "claimed", ok=False)
    assert "[NEXT_TASK]" in status(ground)
    ground.bd("update", second, "--claim")
    agent.runs(taking.format(second), "claimed")
    agent.edits("x.py", "1")
    assert agent.stops("I begin with it.").is_silent
    shown = status(ground)
    assert f'task {second} "Second' in shown
    assert "[CODING]" in shown
    assert f"bd show {second}" in agent.stops(CODED).model


@SOAKED
def test_a_marker_after_the_taking_goes_on_with_what_was_taken(ground: Ground) -> None:
    """The last task, taken at NEXT_TASK: it is neither begun twice nor believed to be done."""
    first, second = ground.task("First", priority=1), ground.task("Second")
    agent = begun(ground, first)
    ground.bd("close", first)
    agent.stops(CLOSED)
    ground.bd("update", second, "--claim")
    agent.runs(f"bd update {second} --claim", "claimed")
    told = agent.stops(CLEARED)
    assert f"Next step: Continue with task {second}." in told.model
    assert "Find and start" not in told.model
    assert f"bd show {second}" in agent.stops(CODED).model


def status(ground: Ground) -> str:
    """What `lifecycle stage status` shows."""
    path = f"{ground.bin}{os.pathsep}{os.environ['PATH']}"
    return ok(ground.place.cli("stage", "status", PATH=path))
