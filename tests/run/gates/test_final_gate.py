"""G7 and the loop of lint fixes: attempts are counted by trees, and a waiver leaves its note."""

from __future__ import annotations

import pytest

from lifecycle.run.gates.run_moves import GIVEN_UP, NOTE, gate_lines, with_gate
from lifecycle.run.state import Blocker, GatePart, GateRecord, Run
from lifecycle.run.table import CheckState, Gate, RunPhase
from tests.run.gates.stories_ground import NOW, a_run, passed

FAIL = CheckState.FAIL


def with_final_gate(run: Run, record: GateRecord, now: float) -> Run:
    """The run with a record of G7."""
    return with_gate(run, "", record, "", now)


def lint_fails(tree: str) -> GateRecord:
    """A run of G7 in which lint alone failed."""
    return passed(Gate.G7, tree, lint=FAIL)


def in_loop(*trees: str) -> Run:
    """A run in the lint-fix phase, begun on tree `0`, after a run of G7 on each of these."""
    run = with_final_gate(a_run(phase=RunPhase.COMPLETION), lint_fails("0"), NOW)
    run = Run(run.id, run.goal, NOW, phase=RunPhase.LINT_FIX, gates=run.gates)
    for tree in trees:
        run = with_final_gate(run, lint_fails(tree), NOW)
    return run


def test_each_new_tree_is_an_attempt() -> None:
    """The tree that the loop began on, and one that was seen, is none."""
    assert in_loop("0", "0").lint_attempts == ()
    assert in_loop("1", "1", "0", "2").lint_attempts == ("1", "2")
    assert in_loop("1", "", "2").lint_attempts == ("1", "2")


def test_after_three_attempts_lint_is_waived_with_a_note() -> None:
    """A blocker is logged and stands in nobody's way; the gate passes from then on."""
    run = in_loop("1", "2")
    assert (run.lint_waived, run.gates[-1].state) == ("", FAIL)
    run = with_final_gate(run, lint_fails("3"), NOW)
    assert (run.lint_waived, run.gates[-1].state) == (NOTE, CheckState.PASS)
    assert run.blockers == (Blocker("B1", GIVEN_UP, "low", NOW, resolved_at=NOW, notes=NOTE),)
    assert with_final_gate(run, lint_fails("4"), NOW + 1).blockers == run.blockers
    assert with_final_gate(run, passed(Gate.G7, "3", test=FAIL), NOW).gates[-1].state is FAIL


@pytest.mark.parametrize("name", ["build", "test"])
def test_a_fix_that_breaks_something_is_reverted_and_lint_stays(name: str) -> None:
    """The broken tree does not pass; the one before it does, with the note."""
    run = with_final_gate(in_loop("1"), passed(Gate.G7, "2", **{name: FAIL}), NOW)
    assert (run.lint_waived, run.gates[-1].state) == (NOTE, FAIL)
    assert "Revert" in gate_lines(run, run.gates[-1], None)[-1]
    assert with_final_gate(run, lint_fails("1"), NOW).gates[-1].state is CheckState.PASS


def test_outside_of_the_loop_nothing_is_an_attempt() -> None:
    """Lint that fails there leads into it."""
    run = with_final_gate(a_run(), lint_fails("1"), NOW)
    assert (run.lint_attempts, run.lint_waived, run.gates[-1].state) == ((), "", FAIL)
    assert "update-phase lint-fix" in gate_lines(run, run.gates[-1], None)[-1]
    run = with_final_gate(a_run(), passed(Gate.G7, "1", test=FAIL), NOW)
    assert "update-phase development" in gate_lines(run, run.gates[-1], None)[-1]


def test_the_table_is_the_designs() -> None:
    """Each check with its command and its result, the tests with their number, and the last line."""
    parts = (
        GatePart("build", CheckState.PASS, "make"),
        GatePart("test", CheckState.PASS, "pytest", tests=12),
        GatePart("lint", CheckState.NOT_APPLICABLE),
    )
    record = GateRecord(Gate.G7, NOW, CheckState.PASS, "1", parts)
    assert gate_lines(a_run(), record, None) == [
        "## Pre-PR Verification (Gate G7)",
        "",
        "| Check | Command | Result |",
        "|-------|---------|--------|",
        "| Build | `make` | PASS |",
        "| Tests | `pytest` | PASS (12 tests) |",
        "| Lint | - | N/A |",
        "",
        "All verification checks passed. Proceeding with PR creation.",
    ]
    failed = GateRecord(Gate.G7, NOW, FAIL, "1", (parts[0], GatePart("test", FAIL), parts[2]))
    lines = gate_lines(a_run(), failed, None)
    assert "Verification failed. Returning to Phase 2 to fix issues." in lines


def test_no_column_ends_within_a_command() -> None:
    """A command with a bar in it stays in its cell."""
    part = GatePart("build", CheckState.PASS, "make 'a|b'")
    rest = (GatePart("test", CheckState.PASS), GatePart("lint", CheckState.NOT_APPLICABLE))
    lines = gate_lines(a_run(), GateRecord(Gate.G7, NOW, CheckState.PASS, "t", (part, *rest)), None)
    assert "| Build | `make 'a\\|b'` | PASS |" in lines
