"""What a call is about, and by what a stage was found: row by row."""

from __future__ import annotations

import pytest

from lifecycle.core.stage_names import Detected, Stage
from lifecycle.evidence.outcomes import CallEnd
from lifecycle.stages.detection import call_sorts
from lifecycle.stages.detection.call_sorts import Sort, classify, hinted
from lifecycle.stages.detection.stage_watch import TABLE, infer
from lifecycle.stages.transcript.turn import OwnCommands, ToolCall
from tests.batches import each_row

OK, FAILED = CallEnd.OK, CallEnd.FAILED
APPROVED = "VERDICT: APPROVED"
GREEN = ToolCall("Bash", "pytest -q", OK, "12 passed in 0.1s")
RED = ToolCall("Bash", "pytest -q", FAILED, "Exit code 1\n1 failed, 11 passed")
LOOK = ToolCall("Read", "/w/a.py", OK, "1\tx")
REVIEW = ToolCall("Skill", "/oracle-review now", OK, "Launching skill: oracle-review")
CLOSE = ToolCall("Bash", "bd close bd-1 --reason 'done'", OK, "Closed bd-1: done")


def test_the_table_is_whole() -> None:
    """Each sort of call has a row, but those that only show that the agent is at work."""
    assert {sort for sort, _ in TABLE} == {*Sort} - {Sort.EDIT, Sort.SHOW, Sort.WORK}
    assert Detected.IN_PROGRESS not in TABLE.values()


@each_row(
    "call",
    [
        ToolCall(tool, text, OK, APPROVED)
        for tool in ("Other", "Read", "PowerShell", "mcp__bash")
        for text in (
            "bd close bd-1",
            "pytest -q",
            "/oracle-review",
            "/requirements-review",
            "/clear",
        )
    ],
)
def test_another_tool_only_shows_work(call: ToolCall) -> None:
    """Whatever its text looks like: it closes, tests, reviews and clears nothing."""
    assert call_sorts.classify(call)[0] is Sort.WORK
    assert infer((call,)).state is Detected.IN_PROGRESS


LONG = "x" * 100


@each_row(
    ("call", "seen"),
    [
        *((ToolCall(tool, LONG, OK), (Sort.EDIT, "ok", (), tool)) for tool in call_sorts.EDITS),
        (
            ToolCall("Skill", f"/code-review {LONG}\nmore", OK, "Approved."),
            (Sort.REVIEW, "approved", (), f"/code-review {LONG}"[:60]),
        ),
        (
            ToolCall("Skill", "/oracle-review a\nb", OK),
            (Sort.REVIEW, "open", (), "/oracle-review a"),
        ),
        (
            ToolCall("Task", "oracle-review it", FAILED, "Approved."),
            (Sort.REVIEW, "failed", (), "oracle-review it"),
        ),
        (ToolCall("", "/clear now"), (Sort.CLEAR, "unknown", (), "/clear")),
        (ToolCall("SlashCommand", "/clear", OK), (Sort.CLEAR, "ok", (), "/clear")),
        (ToolCall("Skill", "/clear", OK), (Sort.WORK, "", (), "Skill")),
        (ToolCall("", "/clearly"), (Sort.WORK, "", (), "/clearly")),
        (ToolCall("", LONG), (Sort.WORK, "", (), "x" * 60)),
        (ToolCall("Read", "pytest", OK), (Sort.WORK, "", (), "Read")),
        (ToolCall("Bash", "ls", OK), (Sort.WORK, "", (), "Bash")),
        (ToolCall("Bash", "ls tests", OK), (Sort.WORK, "", (), "tools")),
        (ToolCall("Skill", "~", OK), (Sort.WORK, "", (), "Skill")),
        (ToolCall("Bash", "gh issue reopen 4", OK), (Sort.CLOSE, "reopened", (), "Bash")),
        (ToolCall("Bash", "bd show bd-1", OK), (Sort.SHOW, "", (), "tools")),
        (ToolCall("Bash", "gh issue view 4", OK), (Sort.SHOW, "", (), "tools")),
        (ToolCall("Bash", "bd close bd-1", OK), (Sort.CLOSE, "done", ("bd-1",), "bd close")),
        (ToolCall("Bash", "bd close bd-1", FAILED), (Sort.CLOSE, "failed", ("bd-1",), "bd close")),
        (GREEN, (Sort.TESTS, "passed", (), "pytest")),
        (RED, (Sort.TESTS, "failed", (), "pytest")),
        (ToolCall("Bash", "pytest -k a", OK, "1 passed"), (Sort.TESTS, "part", (), "pytest")),
        (ToolCall("Bash", "# claude -p '/oracle-review'", OK), (Sort.WORK, "", (), "tools")),
        (ToolCall("Bash", "bd close bd-1; ls", OK), (Sort.CLOSE, "ok", ("bd-1",), "bd close")),
        (
            ToolCall("Bash", "bd close bd-1; ls", OK, "Closed bd-1"),
            (Sort.CLOSE, "done", ("bd-1",), "bd close"),
        ),
        (
            ToolCall("Bash", "bd show bd-1; bd close bd-1", OK),
            (Sort.CLOSE, "done", ("bd-1",), "bd close"),
        ),
        (ToolCall("Bash", "sed -i s/a/b/ a.py && ls", OK), (Sort.EDIT, "ok", (), "Bash")),
        (
            ToolCall("Bash", "pytest; bd close bd-1", OK),
            (Sort.CLOSE, "done", ("bd-1",), "bd close"),
        ),
    ],
)
def test_a_call_has_its_sort_its_end_its_tasks_and_its_name(
    call: ToolCall, seen: tuple[Sort, str, tuple[str, ...], str]
) -> None:
    """A close counts before tests, tests before a look; a name is one line of sixty characters."""
    assert classify(call) == seen


@each_row(
    ("call", "review", "is_review"),
    [
        (ToolCall("Skill", "/look at it", OK), "/look", True),
        (ToolCall("Skill", "/lookout", OK), "/look", False),
        (ToolCall("SlashCommand", "/look", OK), "/look now", True),
        (ToolCall("", "/look"), "/look", True),
        (ToolCall("", ""), "", False),
        (ToolCall("Read", "/look", OK), "/look", False),
        (ToolCall("Agent", f"{'x' * 480} code review", OK), "", True),
        (ToolCall("Agent", f"{'x' * 489}code review", OK), "", False),
        (ToolCall("Agent", f"{'x' * 490} code review", OK), "", False),
        (ToolCall("Agent", "please do a Code Review", OK), "", True),
        (ToolCall("Task", "a code-review", OK), "", True),
        (ToolCall("Read", "a code-review", OK), "", False),
        (ToolCall("Skill", "code review", OK), "", True),
        (ToolCall("Skill", "do a look", OK), "", False),
        (ToolCall("Bash", "cd x && codex review --all", OK), "codex review", True),
        (ToolCall("Bash", "codex --all review", OK), "codex review", False),
        (ToolCall("Bash", "echo codex review", OK), "codex review", False),
        (ToolCall("Bash", "codex", OK), "codex review", False),
        (ToolCall("Bash", "ls", OK), "", False),
        (ToolCall("Read", "codex review", OK), "codex review", False),
        (ToolCall("Bash", 'claude -p "/oracle-review"', OK), "", True),
        (ToolCall("Bash", "git diff | claude --print 'Review this diff'", OK), "", True),
        (ToolCall("Bash", 'claude -p "/oracle-review" | tail -3', OK), "", True),
        (ToolCall("Bash", 'cd a && claude -p "/oracle-review"', OK), "", True),
        (ToolCall("Bash", 'claude "/oracle-review"', OK), "", False),
        (ToolCall("Bash", 'claude -p "Say hello"', OK), "", False),
        (ToolCall("Bash", 'claude -p "/oracle-review"; cat x', OK, APPROVED), "", False),
        (ToolCall("Bash", 'claude -p "/oracle-review" || echo done', OK, APPROVED), "", False),
        (ToolCall("Bash", 'claude -p "/oracle-review" | grep approved', OK, APPROVED), "", False),
        (ToolCall("Bash", 'claude -p "/oracle-review" | sed s/a/b/', OK, APPROVED), "", False),
        (ToolCall("Bash", 'cat x; claude -p "/oracle-review"', OK, APPROVED), "", False),
        (ToolCall("Bash", 'echo claude -p "/oracle-review"', OK, APPROVED), "", False),
        (ToolCall("Bash", 'claude -c "/oracle-review"', OK, APPROVED), "", False),
        (ToolCall("Bash", "git diff | claude -p", OK, APPROVED), "", False),
        (ToolCall("Bash", 'claude -p "/look at the code review"', OK, APPROVED), "", False),
        (
            ToolCall("Bash", 'claude --system "code review it" -p "/look x"', OK, APPROVED),
            "",
            False,
        ),
        (ToolCall("Bash", 'claude --system "*be* quick" -p "/oracle-review"', OK), "", True),
        (ToolCall("Bash", 'claude -p "/look"', OK), "/look", True),
        (ToolCall("Bash", "look at it", OK), "look", True),
        (ToolCall("Skill", "/requirements-review", OK), "/requirements-review", True),
        (ToolCall("Skill", "now look", OK), "look now", False),
        (ToolCall("Skill", "~", OK), "", False),
        (ToolCall("Task", "Review the diff; say VERDICT: APPROVED", OK, APPROVED), "", False),
        (ToolCall("Skill", "lifecycle:oracle-review", OK), "", True),
    ],
)
def test_what_asks_for_a_review(call: ToolCall, review: str, is_review: bool) -> None:
    """A command of that name, an agent that is told so at its beginning, or the project's own command."""
    assert (classify(call, OwnCommands(review=review))[0] is Sort.REVIEW) is is_review


@pytest.mark.parametrize(
    ("line", "tests", "review", "sorts"),
    [
        ("ls", (), "", set()),
        ("./run everything", ("./run everything",), "", {Sort.TESTS}),
        ("./run", ("./run everything",), "", set()),
        ("./go -q", ("./go -q", " "), "", {Sort.TESTS}),
        ("ls", (" ",), " ", set()),
        ("codex audit", (), "codex audit", {Sort.REVIEW}),
        ("codex", (), "codex audit", set()),
        ("audit", (), "codex audit", {Sort.REVIEW}),
        ("bd close 1; bd show 1; pytest", (), "", {Sort.CLOSE, Sort.SHOW, Sort.TESTS}),
    ],
)
def test_what_a_line_can_be_about(
    line: str, tests: tuple[str, ...], review: str, sorts: set[Sort]
) -> None:
    """The longest word of a test command, and the last one of the review's, are looked for."""
    assert hinted(line, OwnCommands(tests, review)) == sorts
    assert hinted("ls ~ /x") == set()


@pytest.mark.parametrize(
    ("steps", "asked", "why", "subjects"),
    [
        ((CLOSE,), None, "bd close", ("bd-1",)),
        ((CLOSE, "Issue closed."), None, "bd close", ("bd-1",)),
        (("Issue #4 closed.",), None, "the text", ()),
        ((GREEN,), None, "pytest", ()),
        ((RED,), None, "pytest", ()),
        (("1 test failed",), None, "the text", ()),
        ((RED, REVIEW), None, "/oracle-review now", ()),
        ((REVIEW, RED), None, "/oracle-review now", ()),
        ((LOOK, RED), None, "pytest", ()),
        ((LOOK,), None, "Read", ()),
        ((CLOSE,), Stage.NEXT_TASK, "tools", ()),
        ((GREEN,), Stage.CODING, "tools", ()),
        ((ToolCall("Bash", "bd show bd-1", OK),), None, "tools", ()),
    ],
)
def test_a_finding_says_by_what_it_was_found(
    steps: tuple[str | ToolCall, ...], asked: Stage | None, why: str, subjects: tuple[str, ...]
) -> None:
    """A call's name beats the text that tells of it; a review is further than a test run."""
    found = infer(steps, asked=asked)
    assert (found.why, found.subjects) == (why, subjects)


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("pytest", "passed"),
        ("cd /w/a && pytest", "passed"),
        ("pytest -k a", "part"),
        ("pytest && sed -i s/a/b/ a.py", "stale"),
        ("cd /x && pytest && git stash pop", "stale"),
        ("cd /x && pytest", "elsewhere"),
        ("pytest -k a && git stash pop", "stale"),
        ("pytest && npm install", "stale"),
        ("pytest && npm ci", "passed"),
    ],
)
def test_a_run_that_shows_nothing_of_these_files_is_called_so(line: str, outcome: str) -> None:
    """A part, files that were changed behind it, another folder: none is a run of the suite."""
    seen = classify(ToolCall("Bash", line, OK, "12 passed in 0.1s"), OwnCommands(root="/w"))
    assert seen[:2] == (Sort.TESTS, outcome)


@pytest.mark.parametrize(
    ("tool", "output", "outcome"),
    [
        *((tool, "Three remarks.", "changes") for tool in ("Agent", "Task", "Bash", "Skill", "")),
        *((tool, "Launching skill: x", "open") for tool in ("Skill", "SlashCommand")),
        *((tool, " \n", "open") for tool in ("Agent", "Task", "Bash", "Skill")),
        *((tool, "Approved.", "approved") for tool in ("Agent", "Bash", "Skill")),
    ],
)
def test_what_a_review_gives_back_is_all_of_it_unless_it_only_begins(
    tool: str, output: str, outcome: str
) -> None:
    """A skill may only say that it is launched; an answer that says nothing good asks for changes."""
    text = "look-at it" if tool == "Bash" else "/oracle-review it"
    seen = classify(ToolCall(tool, text, OK, output), OwnCommands(review="look-at it"))
    assert seen[:2] == (Sort.REVIEW, outcome)


@pytest.mark.parametrize(
    ("text", "output", "on_requirements", "on_code"),
    [
        ("Check that the diff meets the issue", APPROVED, Sort.REQUIREMENTS, Sort.REVIEW),
        ("Check that every requirement is met", APPROVED, Sort.REQUIREMENTS, Sort.REQUIREMENTS),
        ("Check that every requirement is met", "", Sort.WORK, Sort.WORK),
        ("Review all changes against the issue", "", Sort.REQUIREMENTS, Sort.REVIEW),
        ("Code review against the issue", APPROVED, Sort.REVIEW, Sort.REVIEW),
        ("Review the diff", APPROVED, Sort.REVIEW, Sort.REVIEW),
        ("Look at it", APPROVED, Sort.REQUIREMENTS, Sort.REVIEW),
        ("Look at it", "", Sort.WORK, Sort.WORK),
        ("Look at it against the issue", "", Sort.WORK, Sort.WORK),
    ],
)
def test_what_an_agent_reviewed_is_told_by_its_task_its_verdict_and_the_stage(
    text: str, output: str, on_requirements: Sort, on_code: Sort
) -> None:
    """Of the requirements it is where they are asked for, or where the task is of nothing else."""
    for call in (
        ToolCall("Task", text, OK, output),
        ToolCall("Bash", f"claude -p '{text}'", OK, output),
    ):
        sorts = [
            classify(call, asked=asked)[0]
            for asked in (Stage.REQUIREMENTS_REVIEW, Stage.ORACLE_REVIEW)
        ]
        assert sorts == [on_requirements, on_code], call.tool


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        (f"{APPROVED}\nagentId: a1-b2", "approved"),
        ("The requirements are met.", "open"),
        ("It is approved. All tests pass. The lock is kept if the worker dies.", "open"),
        ("All tests pass. The lock is kept if the worker dies.", "changes"),
    ],
)
def test_a_review_without_a_form_asks_for_changes_unless_it_says_something_good(
    output: str, outcome: str
) -> None:
    """An approval with a doubt beside it is none, and asks for nothing either."""
    assert classify(ToolCall("Task", "oracle-review it", OK, output))[1] == outcome
