"""What tools and words show of a stage: every row with what must not be taken for it."""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.stage_names import Detected, Stage
from lifecycle.evidence.outcomes import CallEnd
from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.words import word_tables
from lifecycle.stages.detection import call_sorts, stage_watch
from lifecycle.stages.detection.call_sorts import Sort, classify, hinted
from lifecycle.stages.detection.stage_watch import TABLE, infer
from lifecycle.stages.transcript.turn import OwnCommands, StageFinding, ToolCall
from lifecycle.trackers import command_signs
from tests.batches import each_row

OK, FAILED, UNKNOWN = CallEnd.OK, CallEnd.FAILED, CallEnd.UNKNOWN
GREEN = ToolCall("Bash", "pytest -q", OK, "12 passed in 0.1s")
RED = ToolCall("Bash", "pytest -q", FAILED, "Exit code 1\n1 failed, 11 passed")
EDIT = ToolCall("Edit", "/w/a.py", OK, "updated")
LOOK = ToolCall("Read", "/w/a.py", OK, "1\tx")
REVIEW = ToolCall("Skill", "/oracle-review now", OK, "Launching skill: oracle-review")
CLOSE = ToolCall("Bash", "bd close bd-1 --reason 'done'", OK, "Closed bd-1: done")


SAID = [
    ("ran bd close with success", "ISSUE_CLOSED"),
    ("bd close bd-42", "ISSUE_CLOSED"),
    ("I ran `bd close bd-1`.", "ISSUE_CLOSED"),
    ("Issue #42 closed.", "ISSUE_CLOSED"),
    ("The issue has been closed", "ISSUE_CLOSED"),
    ("I closed the issue.", "ISSUE_CLOSED"),
    ("gh issue close worked", "ISSUE_CLOSED"),
    ("will run bd close next", "UNKNOWN"),
    ("I'll run bd close", "UNKNOWN"),
    ("should I close the issue?", "UNKNOWN"),
    ("Is the issue closed?", "UNKNOWN"),
    ("bd close failed", "UNKNOWN"),
    ("the issue is not closed", "UNKNOWN"),
    ("the issue isn't closed", "UNKNOWN"),
    ("once the issue is closed I stop", "UNKNOWN"),
    ("close the issue", "UNKNOWN"),
    ("```\nbd close bd-1\n```", "UNKNOWN"),
    ("> the issue is closed", "UNKNOWN"),
    ("/oracle-review: approved", "ORACLE_APPROVED"),
    ("/oracle-review says LGTM", "ORACLE_APPROVED"),
    ("Ran the review. The oracle approved it, no comments.", "ORACLE_APPROVED"),
    ("The review is not approved", "IN_ORACLE_REVIEW"),
    ("not approved", "IN_ORACLE_REVIEW"),
    ("The oracle requested changes", "IN_ORACLE_REVIEW"),
    ("LGTM", "UNKNOWN"),
    ("the review must be approved", "UNKNOWN"),
    ("pytest: 12 passed", "TESTS_PASSING"),
    ("vitest success", "TESTS_PASSING"),
    ("ran pytest with success", "TESTS_PASSING"),
    ("All 42 tests passed, no failures.", "TESTS_PASSING"),
    ("All tests are now passing", "TESTS_PASSING"),
    ("**All tests pass.**", "TESTS_PASSING"),
    ("no tests passed", "IN_TESTING"),
    ("0 passed", "IN_TESTING"),
    ("pytest: 3 passed, 1 failed", "IN_TESTING"),
    ("tests still failing", "IN_TESTING"),
    ("not all tests passed", "UNKNOWN"),
    ("the tests should pass", "UNKNOWN"),
    ("I'll make the tests pass", "UNKNOWN"),
    ("almost all tests pass", "UNKNOWN"),
    ("do all tests pass?", "UNKNOWN"),
    ("12 passed", "UNKNOWN"),
    ("ran bd show, all requirements satisfied", "REQUIREMENTS_REVIEWED"),
    ("requirements satisfied", "UNKNOWN"),
    ("implementation complete", "CODING_COMPLETE"),
    ("coding complete", "CODING_COMPLETE"),
    ("The implementation is now complete.", "CODING_COMPLETE"),
    ("I finished the implementation", "CODING_COMPLETE"),
    ("the implementation is not complete", "UNKNOWN"),
    ("implementation 80% complete", "UNKNOWN"),
    ("when the implementation is complete", "UNKNOWN"),
    ("implementation incomplete", "UNKNOWN"),
    ("working on implementation", "UNKNOWN"),
    ("ran /clear", "SESSION_CLEARED"),
    ("Session cleared.", "SESSION_CLEARED"),
    ("run /clear to start fresh", "UNKNOWN"),
    ("Previously, all tests passed.", "UNKNOWN"),
    ("pytest passed there last week", "UNKNOWN"),
    ("All tests passed yesterday.", "UNKNOWN"),
    ("I think all tests pass now", "UNKNOWN"),
    ("All tests pass upstream.", "UNKNOWN"),
    ("The old implementation is done in C", "UNKNOWN"),
    ("The implementation is done in C", "UNKNOWN"),
    ("LGTM from linter; review", "UNKNOWN"),
    ("The review is approved by CI", "UNKNOWN"),
    ("The reviewer approved of the naming, and asked for changes", "IN_ORACLE_REVIEW"),
    ("The reviewer approved of the naming.", "UNKNOWN"),
    ("The oracle approved it and wants no changes.", "UNKNOWN"),
    ("I ran bd close on the duplicate", "UNKNOWN"),
    ("", "UNKNOWN"),
]
"""What a text says, and the state that it comes to."""


def state(*steps: str | ToolCall, asked: Stage | None = None, **own: object) -> Detected:
    """The state that the steps come to."""
    return infer(steps, asked=asked, own=OwnCommands(**own)).state  # type: ignore[arg-type]  # passed on as they are


def test_every_row_of_the_table_is_reached() -> None:
    """For each row there is a call here that gives its stage."""
    examples = {
        ("closes a task", "done"): CLOSE,
        ("runs tests", "passed"): GREEN,
        ("runs tests", "*"): RED,
        ("asks for a review", "approved"): ToolCall(
            "Agent", "oracle-review this", OK, "LGTM, approved"
        ),
        ("asks for a review", "*"): REVIEW,
        ("reviews the requirements", "approved"): ToolCall(
            "Task", "general-purpose /requirements-review of bd-1", OK, "None.\n\nVERDICT: APPROVED"
        ),
        ("reviews the requirements", "*"): ToolCall(
            "Skill", "/requirements-review", OK, "Launching"
        ),
        ("edits a file", "*"): EDIT,
        ("clears the session", "*"): ToolCall("", "/clear"),
        ("shows a task", "*"): ToolCall("Bash", "bd show bd-1", OK, "bd-1: title"),
        ("does anything else", "*"): LOOK,
    }
    assert examples.keys() >= TABLE.keys()
    for (sort, outcome), call in examples.items():
        assert state(call) is TABLE.get((Sort(sort), outcome), Detected.IN_PROGRESS)


@pytest.mark.parametrize(
    "call",
    [
        CLOSE,
        ToolCall("Bash", "bd close bd-1", OK),
        ToolCall("Bash", "cd x && bd --json close bd-1", OK, '[{"id":"bd-1","status":"closed"}]'),
        ToolCall("Bash", "bd update bd-1 --status closed", OK),
        ToolCall("Bash", "gh issue close 42 --comment done", OK, "✓ Closed issue #42"),
        ToolCall("Bash", "lifecycle tracker close 42 --reason x", OK),
        ToolCall("Bash", "lifecycle close", OK, "Issue #42 is closed."),
    ],
)
def test_a_close_that_was_done_closes_the_issue(call: ToolCall) -> None:
    """The close of every tracker counts, from any stage but the last."""
    assert state(call) is Detected.ISSUE_CLOSED
    assert state(call, asked=Stage.TESTING) is Detected.ISSUE_CLOSED
    assert state(call, asked=Stage.NEXT_TASK) is Detected.IN_PROGRESS
    assert state(call, EDIT) is Detected.ISSUE_CLOSED


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("Bash", "bd close bd-1", FAILED, "Exit code 1\nError: no issue found"),
        ToolCall("Bash", "bd close bd-1", OK, "Error closing bd-1: operation failed"),
        ToolCall("Bash", "bd close bd-1", OK, "cannot close bd-1: blocked by open issues [bd-2]"),
        ToolCall("Bash", "bd close bd-1 --json", OK, '{\n  "error": "resolving ID"\n}'),
        ToolCall("Bash", "bd close bd-1", UNKNOWN, is_background=True),
        ToolCall("Bash", "bd close --help", OK, "Usage"),
        ToolCall("Bash", "echo bd close bd-1", OK, "bd close bd-1"),
        ToolCall("Bash", "grep 'bd close' README.md", OK, "bd close"),
        ToolCall("Bash", "cat > a.sh <<'EOF'\nbd close bd-1\nEOF", OK),
        ToolCall("Bash", "git commit -m 'bd close bd-1'", OK),
        ToolCall("Bash", "gh issue view 42", OK, "closed"),
        ToolCall("Bash", "gh pr close 42", OK),
        ToolCall("Bash", "bd update bd-1 --status open", OK),
        ToolCall("Write", "/w/bd close", OK),
    ],
)
def test_a_close_that_was_not_done_closes_nothing(call: ToolCall) -> None:
    """A failure, also one with exit status 0, a help text and mere words leave the issue open."""
    assert state(call) is Detected.IN_PROGRESS


def test_words_do_not_close_what_the_command_did_not() -> None:
    """After a close that failed, "ran bd close" is not believed; after one that worked it is."""
    bad = ToolCall("Bash", "bd close bd-1", FAILED, "Error")
    assert state(bad, "ran bd close with success") is Detected.IN_PROGRESS
    assert state(bad, CLOSE, "ran bd close") is Detected.ISSUE_CLOSED
    assert infer((CLOSE,)).subjects == ("bd-1",)


def test_tests_are_believed_when_they_ran() -> None:
    """Green passes; red, a part, nothing, a background run and words against a red run do not."""
    assert state(GREEN) is Detected.TESTS_PASSING
    assert state(RED) is Detected.IN_TESTING
    assert state(RED, GREEN) is Detected.TESTS_PASSING
    assert state(GREEN, RED) is Detected.IN_TESTING
    assert state(RED, "pytest: all tests passed") is Detected.IN_TESTING
    assert state(ToolCall("Bash", "pytest tests/test_a.py", OK, "2 passed")) is Detected.IN_TESTING
    assert state(ToolCall("Bash", "pytest", OK, "no tests ran in 0.1s")) is Detected.IN_TESTING
    assert state(ToolCall("Bash", "pytest; true", OK, "3 passed, 1 failed")) is Detected.IN_TESTING
    assert state(ToolCall("Bash", "pytest", UNKNOWN, "", is_background=True)) is Detected.IN_TESTING
    assert state(ToolCall("Bash", "make verify", OK, "fine")) is Detected.IN_PROGRESS
    assert (
        state(ToolCall("Bash", "make verify", OK), tests=("make verify",)) is Detected.TESTS_PASSING
    )
    assert state(ToolCall("Bash", "echo '12 passed'; ls", OK, "12 passed")) is Detected.IN_PROGRESS


def test_a_review_counts_when_it_approves() -> None:
    """Asked for is under way; approved, by its output or in words after it, is complete."""
    assert state(REVIEW) is Detected.IN_ORACLE_REVIEW
    assert state(REVIEW, "The oracle has comments.") is Detected.IN_ORACLE_REVIEW
    assert state(REVIEW, "Approved.") is Detected.ORACLE_APPROVED
    assert state(REVIEW, "LGTM") is Detected.ORACLE_APPROVED
    assert state(REVIEW, "It is not approved yet.") is Detected.IN_ORACLE_REVIEW
    assert state(REVIEW, "Changes requested: rename it.") is Detected.IN_ORACLE_REVIEW
    assert state(REVIEW, "Once approved, I close it.") is Detected.IN_ORACLE_REVIEW
    assert state(REVIEW, "Approved.", REVIEW) is Detected.IN_ORACLE_REVIEW
    assert state(REVIEW, "Approved.", "Changes requested, though.") is Detected.IN_ORACLE_REVIEW
    assert state("Approved.") is Detected.UNKNOWN
    agent = ToolCall("Agent", "code-reviewer check it", UNKNOWN, is_background=True)
    assert state(agent) is Detected.IN_ORACLE_REVIEW
    assert (
        state(ToolCall("Agent", "Explore find the tests", OK, "approved")) is Detected.IN_PROGRESS
    )
    own = ToolCall("Bash", "codex review --all", OK, "No findings. Approved.")
    assert state(own) is Detected.IN_PROGRESS
    assert state(own, review="codex review") is Detected.ORACLE_APPROVED
    typed = ToolCall("", "/oracle-review the diff")
    assert state(typed, "Approved.") is Detected.ORACLE_APPROVED


def test_an_edit_makes_a_completion_stale() -> None:
    """What was green, approved or complete is not so any more; a failed edit and a closed issue stay.

    A review is under way again then; not the agent's word ends it, but a verdict or another review.
    """
    assert state(GREEN, EDIT) is Detected.IN_PROGRESS
    assert state(REVIEW, "Approved.", EDIT) is Detected.IN_ORACLE_REVIEW
    assert state(REVIEW, "Approved.", EDIT, "Approved.") is Detected.IN_ORACLE_REVIEW
    assert state(REVIEW, "Approved.", EDIT, "VERDICT: APPROVED") is Detected.ORACLE_APPROVED
    assert state(REVIEW, "Approved.", EDIT, REVIEW, "Approved.") is Detected.ORACLE_APPROVED
    assert state("Implementation complete.", EDIT) is Detected.IN_PROGRESS
    assert state(GREEN, ToolCall("Edit", "/w/a.py", FAILED)) is Detected.TESTS_PASSING
    assert state(EDIT, GREEN) is Detected.TESTS_PASSING
    assert state(GREEN, LOOK) is Detected.TESTS_PASSING


def test_requirements_are_reviewed_in_words_about_the_task() -> None:
    """The task was shown, or all of them are meant; else the words say nothing."""
    shown = ToolCall("Bash", "bd show bd-1", OK, "bd-1")
    assert (
        state(shown, "Ran bd show: the requirements are satisfied.")
        is Detected.REQUIREMENTS_REVIEWED
    )
    assert state(shown, "The requirements are satisfied.") is Detected.REQUIREMENTS_REVIEWED
    assert state("All requirements are met.") is Detected.REQUIREMENTS_REVIEWED
    assert state("The requirements are satisfied.") is Detected.UNKNOWN
    assert state("Not all requirements are satisfied.") is Detected.UNKNOWN
    asked = Stage.REQUIREMENTS_REVIEW
    assert state("The requirements are met.", asked=asked) is Detected.REQUIREMENTS_REVIEWED


def test_a_cleared_session_counts_until_work_begins() -> None:
    """`/clear` that a person typed counts; with tools used after it, the work counts."""
    assert state(ToolCall("", "/clear"), "Hello.") is Detected.SESSION_CLEARED
    assert state(ToolCall("", "/clear"), LOOK) is Detected.IN_PROGRESS
    assert state(ToolCall("Bash", "clear", OK)) is Detected.IN_PROGRESS


def test_the_stage_in_force_says_what_counts() -> None:
    """Green tests in the middle of coding are work; without a stage in force the furthest counts."""
    both = ("Implementation complete.", GREEN)
    assert state(*both) is Detected.TESTS_PASSING
    assert state(*both, asked=Stage.CODING) is Detected.CODING_COMPLETE
    assert state(*both, asked=Stage.TESTING) is Detected.TESTS_PASSING
    assert state(GREEN, asked=Stage.CODING) is Detected.IN_PROGRESS
    assert state(GREEN, asked=Stage.REQUIREMENTS_REVIEW) is Detected.IN_PROGRESS
    assert state("The issue is closed.", asked=Stage.TESTING) is Detected.UNKNOWN
    assert state("The issue is closed.", asked=Stage.COMMIT_CLOSE) is Detected.ISSUE_CLOSED


@each_row(("text", "wanted"), SAID)
def test_words_count_where_they_state_something(text: str, wanted: str) -> None:
    """What is asked, denied, planned, waited for, quoted or code says nothing."""
    assert state(text) is Detected(wanted)


def test_nothing_but_tools_is_progress() -> None:
    """Any tool at all is work under way; no tool and no word is unknown."""
    assert state(LOOK, "I looked at it.") is Detected.IN_PROGRESS
    assert state("I looked at it.") is Detected.UNKNOWN
    assert state() is Detected.UNKNOWN
    assert state(ToolCall("", "/bd-start bd-1"), "Which way?") is Detected.UNKNOWN


CALLS = st.builds(
    ToolCall,
    st.sampled_from(["Bash", "Edit", "Skill", "Agent", "Read", "", "mcp__x__y"]),
    st.one_of(st.text(), st.sampled_from(["pytest", "bd close x", "/oracle-review", "/clear"])),
    st.sampled_from(CallEnd),
    st.text(),
)


@given(st.lists(st.one_of(st.text(), CALLS)), st.sampled_from([None, *Stage]))
def test_anything_can_be_judged(steps: list[str | ToolCall], asked: Stage | None) -> None:
    """No text and no call breaks the judgement, and a tool is never seen as nothing."""
    found = infer(tuple(steps), asked=asked)
    if any(isinstance(step, ToolCall) and step.tool for step in steps):
        assert found.state is not Detected.UNKNOWN


@given(st.text())
def test_any_text_can_be_heard(text: str) -> None:
    """What a text says is always known states."""
    assert set(stage_watch.said(text)) <= set(Detected)
    assert call_sorts.classify(ToolCall("Bash", text))


MATTERS = [(command, Sort.TESTS) for command in runner_table.names()]
MATTERS += [
    (" ".join(b), Sort.CLOSE) for b, verb in command_signs.SIGNS if verb == command_signs.CLOSE
]
MATTERS += [
    (" ".join(b), Sort.SHOW) for b, verb in command_signs.SIGNS if verb == command_signs.SHOW
]


@each_row(("command", "sort"), MATTERS)
def test_no_command_that_matters_is_passed_over(command: str, sort: Sort) -> None:
    """Every runner, close and show of a tracker has one of the hints that commands are looked at for."""
    assert sort in hinted(command)


def parsed(*steps: str | ToolCall, **own: object) -> tuple[Detected, int]:
    """The state that the steps come to, and how many command lines were taken apart for it."""
    count = 0

    def watch(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is classify.__code__

    sys.setprofile(watch)
    try:
        found = state(*steps, **own)  # type: ignore[arg-type]  # passed on as they are
    finally:
        sys.setprofile(None)
    return found, count


def test_a_long_turn_costs_what_its_end_costs() -> None:
    """Of four hundred test runs the last is taken apart; of as many that only look so, a bounded count."""
    runs = [ToolCall("Bash", f"pytest tests/a{n}.py && ls -la", OK, "3 passed") for n in range(400)]
    assert parsed(*runs) == (Detected.IN_TESTING, 1)
    assert parsed(*runs, GREEN) == (Detected.TESTS_PASSING, 1)
    assert parsed(GREEN, *runs) == (Detected.IN_TESTING, 1)
    looks = [ToolCall("Bash", f"ls tests/{n} && git show x", OK) for n in range(400)]
    assert parsed(*looks, GREEN) == (Detected.TESTS_PASSING, 40)
    assert parsed(GREEN, *looks) == (Detected.IN_PROGRESS, 40)
    assert parsed(*[ToolCall("Bash", f"cat {n}.py", OK) for n in range(400)])[1] == 0


def test_a_close_counts_however_many_tests_ran_after_it() -> None:
    """What was closed early in a long turn is closed at its end; a close that failed hides no other."""
    runs = [ToolCall("Bash", f"pytest tests/a{n}.py", OK, "3 passed") for n in range(200)]
    assert parsed(CLOSE, *runs) == (Detected.ISSUE_CLOSED, 2)
    bad = ToolCall("Bash", "bd close bd-2", FAILED, "Error")
    assert parsed(CLOSE, bad, *runs, GREEN) == (Detected.ISSUE_CLOSED, 3)
    own = ToolCall("Bash", "codex review", OK, "Approved.")
    assert parsed(own, *runs, review="codex review") == (Detected.ORACLE_APPROVED, 2)


STEPS = st.sampled_from([GREEN, RED, EDIT, LOOK, REVIEW, CLOSE, "All tests pass.", "Approved."])


@given(st.lists(STEPS, max_size=12), st.sampled_from([None, *Stage]))
def test_judged_from_its_end_a_turn_comes_to_the_same(
    steps: list[str | ToolCall], asked: Stage | None
) -> None:
    """What is passed over changes nothing: a watch that looks at every call finds what `infer` finds."""
    is_reading = asked is Stage.REQUIREMENTS_REVIEW
    watch = stage_watch.Watch((call_sorts.REQUIREMENTS,) if is_reading else (), asked)
    for step in steps:
        if isinstance(step, str):
            watch.hear(step)
        else:
            watch.see(step, classify(step, asked=asked))
    every, found = watch.found(asked), infer(tuple(steps), asked=asked)
    assert (every.state, every.subjects) == (found.state, found.subjects)
    assert every.why == found.why or not found.state.is_completion


@each_row("text", [text for text, wanted in SAID if wanted != "UNKNOWN"])
def test_no_text_that_matters_is_passed_over(text: str) -> None:
    """Every text that says something has one of the words that texts are looked at for."""
    assert any(word in text.lower() for word in word_tables.table("words/hints")["claims"])


def test_only_recent_words_count() -> None:
    """What the agent said long before in the same turn says nothing; what it did then does."""
    talk = ["I checked it."] * 12
    assert state("Implementation complete.", *talk[1:]) is Detected.CODING_COMPLETE
    assert state("Implementation complete.", *talk) is Detected.UNKNOWN
    assert state(GREEN, *talk) is Detected.TESTS_PASSING


def test_what_follows_a_green_run_is_known_to_leave_the_files_or_makes_it_stale() -> None:
    """A script may write anything; what only shows, commits or pushes leaves the run what it is."""
    for command in ("git push", "git status", "ls -la", "gh pr view"):
        assert state(GREEN, ToolCall("Bash", command, CallEnd.OK)) is Detected.TESTS_PASSING
    for command in ("python fix.py", "./generate", "npm run format", "ruff format .", "mv a b"):
        assert state(GREEN, ToolCall("Bash", command, CallEnd.OK)) is not Detected.TESTS_PASSING


def test_a_run_counts_below_the_top_folder_alone() -> None:
    """Where the folder is known, every place that the line names has to lie in it."""
    for line in ("cd web && pytest", "cd /w/web && pytest", "cd web && cd .. && pytest"):
        assert found_at(line).state is Detected.TESTS_PASSING
    for line in ("cd .. && pytest", "cd /x && pytest", "cd web && cd ../.. && pytest"):
        assert found_at(line).state is Detected.IN_TESTING
    for line in ("cd $X && pytest", "cd ~/w && pytest", "cd - && pytest", "make -C /wx test"):
        assert found_at(line).state is Detected.IN_TESTING


def test_a_word_about_a_run_that_nobody_could_read_is_answered_with_the_question() -> None:
    """It may be so: the agent is asked. After a failure, and without the word, it is not."""
    said = "All tests pass."
    unread = stage_watch.infer((run_of("eval pytest"), said), asked=Stage.TESTING)
    assert (unread.state, unread.why) == (Detected.UNKNOWN, stage_watch.UNREAD)
    assert stage_watch.infer((run_of("./ci"), said), asked=Stage.TESTING).why == stage_watch.UNREAD
    part = stage_watch.infer((run_of("pytest -k a"), said), asked=Stage.TESTING)
    assert part.why == stage_watch.UNREAD
    failed = run_of("pytest", "1 failed, 2 passed in 1s")
    assert stage_watch.infer((failed, said), asked=Stage.TESTING).state is Detected.IN_TESTING
    silent = stage_watch.infer((run_of("pytest -k a"), "I pushed it."), asked=Stage.TESTING)
    assert silent.state is Detected.IN_TESTING
    edited = ToolCall("Edit", "a.py", CallEnd.OK)
    worked = stage_watch.infer((run_of("pytest -k a"), said, edited), asked=Stage.TESTING)
    assert worked.state.is_under_way


def run_of(line: str, output: str = "3 passed in 1s") -> ToolCall:
    """A command that ended well."""
    return ToolCall("Bash", line, CallEnd.OK, output)


def found_at(line: str) -> StageFinding:
    """What a run of this line shows in the worktree /w."""
    return stage_watch.infer((run_of(line),), asked=Stage.TESTING, own=OwnCommands(root="/w"))


def test_a_word_about_an_unread_run_is_a_question_in_the_testing_stage_alone() -> None:
    """Elsewhere the run is work, and also where any completion counts."""
    steps = (run_of("eval pytest"), "All tests pass.")
    for asked in (Stage.CODING, Stage.ORACLE_REVIEW, None):
        assert stage_watch.infer(steps, asked=asked).state.is_under_way
    assert stage_watch.infer(steps, asked=Stage.TESTING).why == stage_watch.UNREAD


@pytest.mark.parametrize("later", [run_of("pytest"), ToolCall("Edit", "a.py", CallEnd.OK)])
def test_what_a_failed_run_left_under_way_goes_with_the_next_run_or_edit(later: ToolCall) -> None:
    """A green run in the middle of coding is work, and an edit begins anew."""
    failed = run_of("pytest", "1 failed, 2 passed in 1s")
    assert stage_watch.infer((failed,), asked=Stage.CODING).state is Detected.IN_TESTING
    assert stage_watch.infer((failed, later), asked=Stage.CODING).state is Detected.IN_PROGRESS


OPEN = ToolCall("Task", "oracle-review it", OK, "All requirements are met.")
"""A review that says something good, and of the review nothing."""
BAD = ToolCall("Task", "oracle-review it", OK, "VERDICT: CHANGES_REQUESTED")
APPROVAL = ToolCall("Task", "oracle-review it", OK, "VERDICT: APPROVED")
VERDICT = "The oracle read it.\n\nVERDICT: CHANGES_REQUESTED"
GONE = "I reverted everything."
"""It takes a claim back, and has none of the words of one."""

TURNS: list[tuple[tuple[str | ToolCall, ...], Stage | None, str, str]] = [
    (("All tests pass.", RED), Stage.TESTING, "IN_TESTING", "pytest"),
    (("The tests are failing.", GREEN), Stage.CODING, "IN_PROGRESS", "tools"),
    ((RED, "The tests are failing."), Stage.TESTING, "IN_TESTING", "pytest"),
    (
        (ToolCall("Bash", "pytest -k a", FAILED, "boom"), "All tests pass."),
        Stage.TESTING,
        *("IN_TESTING", "pytest"),
    ),
    (("All tests pass.", "Two tests failed."), Stage.TESTING, "IN_TESTING", "the text"),
    (
        (ToolCall("Bash", "ls", OK), LOOK, "All tests pass."),
        Stage.TESTING,
        *("UNKNOWN", stage_watch.UNREAD),
    ),
    (
        (ToolCall("PowerShell", "pytest", OK), "All tests pass."),
        Stage.TESTING,
        *("UNKNOWN", stage_watch.UNREAD),
    ),
    ((ToolCall("Skill", "~", OK),), None, "IN_PROGRESS", "Skill"),
    ((ToolCall("", "/oracle-review"),), None, "IN_ORACLE_REVIEW", "/oracle-review"),
    ((BAD, REVIEW, "VERDICT: APPROVED"), Stage.ORACLE_REVIEW, "ORACLE_APPROVED", "a verdict"),
    ((BAD, "VERDICT: APPROVED"), Stage.ORACLE_REVIEW, "IN_ORACLE_REVIEW", "oracle-review it"),
    (
        (ToolCall("Task", "oracle-review it", FAILED, "API Error"), "VERDICT: APPROVED"),
        Stage.ORACLE_REVIEW,
        *("IN_ORACLE_REVIEW", "oracle-review it"),
    ),
    ((OPEN, "It is approved."), Stage.ORACLE_REVIEW, "IN_ORACLE_REVIEW", "oracle-review it"),
    ((OPEN, REVIEW, "It is approved."), Stage.ORACLE_REVIEW, "ORACLE_APPROVED", "the text"),
    ((REVIEW, APPROVAL), Stage.CODING, "IN_PROGRESS", "tools"),
    ((REVIEW, GREEN), Stage.CODING, "IN_ORACLE_REVIEW", "/oracle-review now"),
    (
        (BAD, "The review is approved. The implementation is complete."),
        None,
        *("CODING_COMPLETE", "the text"),
    ),
    (("The implementation is complete.", GONE), Stage.CODING, "UNKNOWN", ""),
    ((LOOK, "The issue is closed."), Stage.COMMIT_CLOSE, "ISSUE_CLOSED", "the text"),
    ((GREEN, "I skipped the export."), None, "TESTS_PASSING", "pytest"),
    ((VERDICT, "All tests pass."), None, "TESTS_PASSING", "the text"),
    ((f"All tests pass.\n\n{VERDICT}",), None, "IN_ORACLE_REVIEW", "a verdict"),
    (
        ("The implementation is complete.", ToolCall("Bash", "sed -i s/a/b/ a.py", OK), GREEN),
        Stage.CODING,
        *("IN_PROGRESS", "Bash"),
    ),
]
"""What was said and done, the stage in force, and what it comes to by what."""


def test_what_a_turn_comes_to_follows_from_all_of_its_steps() -> None:
    """A later call beats an earlier word, a denial stands until the next review, words come last."""
    came = []
    for steps, asked, _, _ in TURNS:
        found = infer(steps, asked=asked)
        came.append((steps, asked, str(found.state), found.why))
    assert came == TURNS


def test_until_it_is_known_which_stage_is_in_force_a_claim_of_any_counts() -> None:
    """That the requirements are met is said without a word of which, as in their review."""
    said = ("The requirements are met.",)
    assert infer(said, is_cut=True).state is Detected.REQUIREMENTS_REVIEWED
    assert infer(said).state is Detected.UNKNOWN


def test_a_projects_own_commands_and_runners_are_looked_at_by_their_names() -> None:
    """A line that has nothing else in it is a test run by them alone."""
    call, row = ToolCall("Bash", "./prove it", OK, "fine"), {"name": "p", "commands": ["./prove"]}
    assert state(call, tests=("./prove it",)) is Detected.TESTS_PASSING
    assert state(call, runners=(row,)) is Detected.IN_TESTING
    broken = ({"name": "p"}, {"commands": "./prove"})
    assert call_sorts.commands_of((*broken, row, {"commands": ["a", "b"]})) == ("./prove", "a", "b")
