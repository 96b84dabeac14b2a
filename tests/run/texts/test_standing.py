"""What a session is told at its start of the files, and what a summary keeps of what was verified."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import RunRecord
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Criterion, GateRecord, Run, Story
from lifecycle.run.stop.decide import story_line
from lifecycle.run.table import CheckState, CriterionState, Gate, RunPhase, StoryStatus, TddPhase
from lifecycle.run.texts.standing import gates_of, kept_lines, start_lines, tree_of

NOW = 1_800_000_000.0
TREE, OTHER = "b" * 40, "a" * 40
CRITERIA = (Criterion("a payment is kept", CriterionState.MET), Criterion("a refund is shown"))
STORY = Story(
    "S1", "Pay", status=StoryStatus.IN_PROGRESS, tdd=TddPhase.GREEN, iteration=1, criteria=CRITERIA
)
RUN = Run("abc12345", "Take payments", NOW - 60, phase=RunPhase.DEVELOPMENT, stories=(STORY,))


def ran(outcome: Outcome, tree: str, kind: str = "test") -> RunRecord:
    """A run of a check that ended a moment ago."""
    return RunRecord(NOW - 5, "pytest -q", outcome, tree, kind=kind, name=kind)


def at_start(*records: RunRecord) -> str:
    """What is told of a worktree with these runs."""
    return "\n".join(start_lines(RUN, WorkFacts(TREE, "f" * 40, records=records), NOW))


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (ran(Outcome.PASSED, TREE), "test passed on this tree"),
        (ran(Outcome.FAILED, TREE), "test failed"),
        (ran(Outcome.PASSED, OTHER), "test passed, but files have changed since"),
        (ran(Outcome.NOTHING_RAN, TREE), "test ran nothing"),
        (ran(Outcome.PARTIAL, TREE), "test ran in part"),
        (
            replace(ran(Outcome.PASSED, ""), changed=("a.py",)),
            "test passed, and files changed while it ran",
        ),
        (ran(Outcome.PASSED, TREE, "build"), "build passed on this tree, test not run yet"),
    ],
)
def test_a_session_is_told_whether_build_and_tests_were_green_on_this_tree(
    record: RunRecord, says: str
) -> None:
    """By the last run of each: only one on the very files as they are counts as passed."""
    assert f"{says}" in at_start(record)


def test_a_summary_keeps_the_criteria_and_what_was_verified_on_which_tree() -> None:
    """Each criterion with how it stands, and the last command that passed with the tree that it was of."""
    records = (ran(Outcome.PASSED, OTHER), ran(Outcome.FAILED, TREE))
    text = "\n".join(kept_lines(RUN, WorkFacts(TREE, records=records)))
    assert '- Criterion 1 (met): "a payment is kept"' in text
    assert '- Criterion 2 (pending): "a refund is shown"' in text
    assert (
        f'Verified last: "pytest -q" on tree {OTHER[:12]} (files that were changed since)' in text
    )
    now = "\n".join(kept_lines(RUN, WorkFacts(OTHER, records=records)))
    assert f"on tree {OTHER[:12]} (the files as they are)" in now
    assert "Verified last: nothing yet" in "\n".join(kept_lines(RUN, WorkFacts()))
    unknown = (ran(Outcome.PASSED, TREE), ran(Outcome.PASSED, OTHER), ran(Outcome.PASSED, ""))
    last = "\n".join(kept_lines(RUN, WorkFacts(TREE, records=unknown)))
    assert f"on tree {OTHER[:12]} (files that were changed since)" in last


def test_where_no_other_story_is_open_none_is_told() -> None:
    """The line on the story ends with the story."""
    assert start_lines(RUN, WorkFacts(), NOW)[1] == story_line(STORY)


def test_a_gate_on_files_that_nobody_knows_is_pending() -> None:
    """Its record is of no tree, and so is the worktree: that makes them no match."""
    gates = tuple(GateRecord(Gate.G3, NOW, CheckState.PASS, tree) for tree in ("", TREE))
    for record, tree, state in zip(
        gates, ("", TREE), (CheckState.PENDING, CheckState.PASS), strict=True
    ):
        assert gates_of(STORY.but(gates=(record,)), tree) == {Gate.G3: state}


def test_a_completed_story_is_shown_for_the_tree_of_its_last_gate() -> None:
    """An open one is judged on the files as they are, and one without a gate as well."""
    gates = tuple(
        GateRecord(gate, NOW, CheckState.PASS, tree)
        for gate, tree in ((Gate.G3, "c" * 40), (Gate.G4, OTHER))
    )
    assert tree_of(STORY.but(gates=gates), TREE) == TREE
    over = STORY.but(status=StoryStatus.COMPLETED)
    assert tree_of(over.but(gates=gates), TREE) == OTHER
    assert tree_of(over, TREE) == TREE
