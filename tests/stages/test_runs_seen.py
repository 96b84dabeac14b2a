"""What the hook on commands makes of an event: a command, how it ended, and what it printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from lifecycle.evidence.outcomes import CallEnd, Outcome
from lifecycle.evidence.records import EvidenceRoom, RunRecord
from lifecycle.hooks.answers.post_tool_use import OUTPUT, used_tool
from lifecycle.stages.session import background_run
from lifecycle.stages.session.background_run import BEGUN, OVER, PATIENCE, awaited
from lifecycle.storage.workflow_files import WorkflowFiles

if TYPE_CHECKING:
    from pathlib import Path

ASKED = {"command": "pytest -q", "description": "Run the tests"}


def event(**more: Any) -> dict[str, Any]:
    """PostToolUse as the client sends it."""
    return {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": ASKED, **more}


@pytest.mark.parametrize(
    ("more", "outcome", "output"),
    [
        ({"tool_response": {"stdout": "3 passed", "interrupted": False}}, CallEnd.OK, "3 passed"),
        ({"tool_response": {"stdout": "1 pa", "interrupted": True}}, CallEnd.FAILED, "1 pa"),
        ({"tool_response": {"stdout": "", "backgroundTaskId": "b1"}}, CallEnd.UNKNOWN, ""),
        ({"error": "Exit code 1\n1 failed"}, CallEnd.FAILED, "Exit code 1\n1 failed"),
        ({"error": "Exit code 143", "is_interrupt": True}, CallEnd.FAILED, "Exit code 143"),
        ({}, CallEnd.OK, ""),
        ({"tool_response": "3 passed"}, CallEnd.OK, ""),
        ({"tool_response": {"stdout": None}}, CallEnd.OK, ""),
    ],
)
def test_how_a_command_ended(more: dict[str, Any], outcome: CallEnd, output: str) -> None:
    """The event's kind is its exit status; a command in the background has none yet."""
    used = used_tool(event(**more))
    assert used is not None
    assert (used.text, used.outcome, used.output) == ("pytest -q", outcome, output)


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"tool_name": "Edit", "tool_input": ASKED},
        {"tool_name": "Bash"},
        {"tool_name": "Bash", "tool_input": "pytest"},
        {"tool_name": "Bash", "tool_input": {"command": ["pytest"]}},
        {"tool_name": 7, "tool_input": {"command": 7}},
    ],
)
def test_an_event_that_tells_of_no_command(other: dict[str, Any]) -> None:
    """Another tool, another shape: nothing."""
    assert used_tool(other) is None


def test_only_the_end_of_much_output_is_looked_at() -> None:
    """The summary of a test run stands at its end."""
    used = used_tool(event(tool_response={"stdout": "x" * 1_000_000 + " 3 passed"}))
    assert used is not None
    assert len(used.output) == OUTPUT
    assert used.output.endswith("3 passed")


def test_the_end_of_a_run_in_the_background_is_awaited_for_six_hours(tmp_path: Path) -> None:
    """Of several each by itself, until its own end is recorded; with a clock that was set back, too."""
    room, began = EvidenceRoom(tmp_path), 1_795_000_000.0
    for id_ in (f"{BEGUN}b1", f"{BEGUN}b2", f"{OVER}b2", "toolu_1"):
        assert room.add(RunRecord(began, "pytest", Outcome.UNKNOWN, "t" * 40, id_))
    for hours in (0, 5.9, -5.9):
        assert [run.id for run in awaited(tmp_path, began + 3_600 * hours)] == [f"{BEGUN}b1"]
    assert awaited(tmp_path, began + 3_600 * 6) == awaited(tmp_path, began - 3_600 * 6) == []


def test_prompts_are_let_through_before_a_run_in_the_background_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook that is killed between the two leaves a mark too many, and no end that nobody looks for."""
    files, run = WorkflowFiles(tmp_path), RunRecord(8.0, "pytest", Outcome.UNKNOWN, "")
    marks = list[int]()

    def add(*_: object) -> bool:
        marks.append(files.folder.mtime_ns("stage-awaited"))
        return False

    monkeypatch.setattr(EvidenceRoom, "add", add)
    for is_over in (True, False):
        background_run.keep(cast("Any", None), files, run, is_over=is_over)
    assert marks == [-1, (8 + int(PATIENCE)) * 1_000_000_000]
