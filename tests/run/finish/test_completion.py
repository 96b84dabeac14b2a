"""A run is completed with every gate, and with its pull request, or not at all."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.run.finish.completion import (
    at_completion,
    closing,
    completed,
    published,
)
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Clarification, GateRecord, Run, Story
from lifecycle.run.table import CheckState, Gate, RunPhase, RunStatus, StoryStatus

AT = 1_800_000_000.0
TREE = "a" * 40
HEAD = "c" * 40
URL = "https://github.example/o/r/pull/7"


def run_of(**given: object) -> Run:
    """A run with all that completing needs, but for what is given."""
    run = Run(
        "abc12345",
        "Implement payment\nprocessing",
        AT,
        phase=RunPhase.DEVELOPMENT,
        stories=(Story("S1", "One", status=StoryStatus.COMPLETED),),
        gates=(GateRecord(Gate.G7, AT, CheckState.PASS, TREE),),
        pull_request=URL,
        published=HEAD,
    )
    return replace(run, **given)


def complete(run: Run, uncommitted: tuple[str, ...] = ()) -> Run:
    """Complete it, 45 minutes after it began."""
    return completed(run, WorkFacts(TREE, HEAD, uncommitted), AT + 2_700)


def test_a_run_with_everything_is_completed_once() -> None:
    """A second time it is the same run."""
    run = complete(run_of())
    assert (run.status, run.phase) == (RunStatus.COMPLETED, RunPhase.COMPLETION)
    assert run.completed == AT + 2_700
    assert completed(run, WorkFacts(), AT + 9_999) is run


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"stories": ()}, "there is no story"),
        ({"stories": (Story("S1", "One", status=StoryStatus.REVIEW),)}, "S1 is review"),
        ({"gates": ()}, "G7 has no PASSED record on the current tree"),
        (
            {"gates": (GateRecord(Gate.G7, AT, CheckState.PASS, "b" * 40),)},
            "G7 has no PASSED record",
        ),
        ({"gates": (GateRecord(Gate.G7, AT, CheckState.PASS, ""),)}, "G7 has no PASSED record"),
        ({"gates": (GateRecord(Gate.G5, AT, CheckState.PASS, TREE),)}, "G7 has no PASSED record"),
        ({"gates": (GateRecord(Gate.G7, AT, CheckState.FAIL, TREE),)}, "G7 is FAIL"),
        ({"gates": (GateRecord(Gate.G7, AT, CheckState.PENDING, TREE),)}, "G7 is PENDING"),
        ({"pull_request": ""}, "it has no pull request .lifecycle run finish"),
        ({"published": "d" * 40}, "lacks the last commits .lifecycle run finish"),
        ({"clarifications": (Clarification("When?", "", AT),)}, "this question is open: When?"),
        ({"status": RunStatus.STOPPED}, "lifecycle run resume"),
        ({"status": RunStatus.AWAITING_USER}, "user-fix-complete"),
        ({"phase": RunPhase.PLANNING}, "completion"),
    ],
)
def test_whatever_is_missing_is_named(given: dict[str, object], says: str) -> None:
    """And nothing is changed."""
    with pytest.raises(Refused, match=says):
        complete(run_of(**given))


def test_what_is_not_committed_is_missing() -> None:
    """What was tested is what was pushed."""
    with pytest.raises(Refused, match=r"not committed: a\.py"):
        complete(run_of(), ("a.py",))


def test_all_that_is_missing_is_named_at_once() -> None:
    """Not one thing after the other."""
    run = run_of(stories=(Story("S1", "One"), Story("S2", "Two")), gates=(), pull_request="")
    with pytest.raises(Refused, match=r"S1 is pending; S2 is pending; .*a\.py.*; G7 .*finish"):
        complete(run, ("a.py",))


def test_the_pull_request_comes_after_the_gate() -> None:
    """The phase says so; a run without one is at that point all the same."""
    run = at_completion(run_of(pull_request=""), WorkFacts(TREE), AT)
    assert (run.phase, run.status) == (RunPhase.COMPLETION, RunStatus.ACTIVE)


def test_the_block_is_the_designs() -> None:
    """Line by line: the stop hook looks for its head."""
    assert closing(complete(run_of()))[0] == [
        "## WORKFLOW_COMPLETE",
        "",
        "**Goal:** Implement payment processing",
        "**Status:** SUCCESS",
        f"**PR URL:** {URL}",
        "**Workflow ID:** abc12345",
        "**Runtime:** 45 min",
        "**Stories Completed:** 1/1",
        "",
        "All stories verified. Pull request created. Workflow complete.",
    ]


def test_a_run_without_a_remote_says_that_it_has_no_pull_request() -> None:
    """It is complete, and claims nothing."""
    run = complete(published(run_of(pull_request=""), "", HEAD, "there is no remote"))
    lines = closing(run)[0]
    assert "**PR URL:** none" in lines
    waived = closing(replace(run, lint_waived="Lint issues remain"))[0]
    assert waived[-1].startswith("All stories verified. Lint issues remain. No pull request: ")
    assert lines[-1] == (
        "All stories verified. No pull request: there is no remote. Workflow complete."
    )
    assert closing(run)[1]["pr_url"] is None
    assert published(run, URL, "x").unpublished == ""
