"""What is recorded of gates and words, how much of it is kept, and how it is told."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.run import tdd_moves
from lifecycle.run.gates.gate_rules import design_lacks
from lifecycle.run.gates.run_moves import (
    KEPT,
    NOTE,
    at_work,
    gate_lines,
    moved_story,
    with_gate,
)
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import GatePart, GateRecord, Run
from lifecycle.run.table import (
    GATES,
    CheckState,
    Gate,
    ReviewVerdict,
    RunPhase,
    StoryStatus,
)
from lifecycle.run.trouble.story_failures import failed
from tests.run.gates.stories_ground import NOW, OTHER, TREE, a_run, passed, planned, review

FAIL, PASS = CheckState.FAIL, CheckState.PASS
WORKING = planned(status=StoryStatus.IN_PROGRESS, iteration=1)


def test_a_storys_gate_that_fails_is_a_failure_of_the_story() -> None:
    """What failed is its text, the gate its source; without words the gate's name stands there."""
    record = passed(Gate.G3, test=FAIL)
    for error, text in (("3 tests failed", "3 tests failed"), ("", "G3 failed")):
        run = with_gate(a_run(WORKING), "S1", record, error, NOW)
        (failure,) = run.stories[0].failures
        assert (failure.text, failure.source, failure.tree) == (text, "G3", TREE)
        assert run.stories[0].gates == (record,)


@pytest.mark.parametrize(
    ("status", "states"),
    [
        (StoryStatus.IN_PROGRESS, {}),
        (StoryStatus.BLOCKED, {"test": FAIL}),
        (StoryStatus.COMPLETED, {"test": FAIL}),
    ],
)
def test_a_gate_that_passed_or_is_of_a_story_that_cannot_be_blocked_fails_nothing(
    status: StoryStatus, states: dict[str, CheckState]
) -> None:
    """It is kept all the same."""
    record = passed(Gate.G3, **states)
    (story,) = with_gate(a_run(replace(WORKING, status=status)), "S1", record, "x", NOW).stories
    assert (story.failures, story.gates) == ((), (record,))


@pytest.mark.parametrize("story", ["S1", ""])
def test_the_newest_forty_records_are_kept_of_each_gate_and_tree_the_last(story: str) -> None:
    """In the order in which they came; of a tree that nobody knows each counts by its moment."""
    gate, name = (Gate.G3, "S1") if story else (Gate.G7, "")

    def after(*records: GateRecord) -> list[tuple[str, float]]:
        run = a_run(WORKING)
        for record in records:
            run = with_gate(run, name, record, "", NOW)
        return [(one.tree, one.at) for one in (run.stories[0].gates if story else run.gates)]

    first, second = passed(gate, "1"), passed(gate, "2")
    assert after(first, second, replace(first, at=NOW + 1)) == [("2", NOW), ("1", NOW + 1)]
    unknown = replace(first, tree="")
    assert after(unknown, replace(unknown, at=NOW + 1)) == [("", NOW), ("", NOW + 1)]
    many = after(*(passed(gate, str(number)) for number in range(41)))
    assert [tree for tree, _ in many] == [str(number) for number in range(1, 41)]
    assert len(many) == KEPT


def test_records_of_two_gates_on_one_tree_are_two() -> None:
    """Each shows its own check."""
    run = with_gate(a_run(WORKING), "S1", passed(Gate.G3), "", NOW)
    run = with_gate(run, "S1", passed(Gate.G4), "", NOW)
    assert [one.gate for one in run.stories[0].gates] == [Gate.G3, Gate.G4]


def final(run: Run, **states: CheckState) -> list[str]:
    """What is told of a run of G7, below its table."""
    lines = gate_lines(run, passed(Gate.G7, **states), None)
    return lines[lines.index("") + 1 :][6:]


def test_what_follows_from_the_last_gate() -> None:
    """Where all passes, where lint was waived, where it alone fails, and in its own loop."""
    loop = a_run(phase=RunPhase.LINT_FIX, lint_attempts=("1", "2"))
    on = "All verification checks passed. Proceeding with PR creation."
    back = "Verification failed. Returning to Phase 2 to fix issues."
    assert final(a_run()) == [on]
    waived = replace(passed(Gate.G7, lint=FAIL), state=PASS)
    others = on.replace("All", "All other")
    assert gate_lines(a_run(), waived, None)[-2:] == ["", f"{NOTE}. {others}"]
    alone = "Only lint fails; fix it in a loop of its own: lifecycle run update-phase lint-fix"
    attempt = "Lint fix attempt 2 of 3. Formatting only; then: lifecycle run gate G7"
    broke = "Revert the lint fix: it broke what passed before. Lint no longer holds up the run"
    for run, states, then in (
        (a_run(), {"lint": FAIL}, alone),
        (a_run(), {"test": FAIL}, "Fix it in Phase 2: lifecycle run update-phase development"),
        (loop, {"lint": FAIL}, attempt),
        (loop, {"test": FAIL}, f"{broke} ({NOTE}). Then: lifecycle run gate G7"),
    ):
        assert final(run, **states) == [back, then]


@pytest.mark.parametrize(("tests", "told"), [(-1, "PASS"), (0, "PASS (0 tests)")])
def test_the_number_of_tests_is_told_where_somebody_counted(tests: int, told: str) -> None:
    """None at all is a number, too; builds are not counted."""
    parts = (GatePart("build", PASS, tests=7), GatePart("test", PASS, tests=tests))
    lines = gate_lines(a_run(), GateRecord(Gate.G7, NOW, PASS, "1", parts), None)
    assert lines[4:6] == ["| Build | - | PASS |", f"| Tests | - | {told} |"]


def test_a_storys_gate_is_told_with_all_its_parts() -> None:
    """Number, reason and command where there are such; what is done where it failed."""
    parts = (
        GatePart("build", PASS, "make"),
        GatePart("test", FAIL, "pytest", "1 failed", tests=0),
        GatePart("coverage"),
    )
    record = GateRecord(Gate.G4, NOW, FAIL, TREE, parts)
    assert gate_lines(a_run(), record, planned()) == [
        f"Gate G4: FAIL for S1 on tree {TREE[:12]}",
        "- build: PASS `make`",
        "- test: FAIL (0 tests): 1 failed `pytest`",
        "- coverage: PENDING",
        f"{GATES[Gate.G4].on_fail}.",
    ]
    absent = "cargo-llvm-cov is not installed"
    lacking = record.but(parts=(GatePart("coverage", FAIL, why=absent),))
    advice = (
        f"No change to the code can fix that: {absent}. Once it is installed, run the gate again: "
        "lifecycle run gate G4 S1. If only a person can install it, ask: lifecycle run add-blocker "
        '"WHAT IS ABSENT", then lifecycle run await-user-fix BLOCKER "WHAT TO DO"'
    )
    assert gate_lines(a_run(), lacking, planned())[2:] == [advice]
    last = gate_lines(a_run(), lacking.but(gate=Gate.G7), None)[-1]
    assert last == advice.replace("G4 S1", "G7")
    bare = GateRecord(Gate.G4, NOW, PASS, "", ())
    assert gate_lines(a_run(), bare, planned()) == ["Gate G4: PASS for S1 on tree ?"]


def test_a_gate_that_is_judged_says_what_is_missing() -> None:
    """G1 the parts of the design, and what is done about it; G6 the review and its command."""
    bare = a_run(planned(files=()))
    record = GateRecord(Gate.G1, NOW, FAIL, TREE)
    head, *clauses, advice = gate_lines(bare, record, None)
    assert (head, advice) == ("Gate G1: FAIL", f"{GATES[Gate.G1].on_fail}.")
    assert clauses == [f"- {clause}" for clause in design_lacks(bare)]
    assert "- S1 has no files" in clauses
    waits = GateRecord(Gate.G6, NOW, CheckState.PENDING, TREE)
    assert gate_lines(a_run(), waits, planned()) == [
        f"Gate G6: PENDING for S1 on tree {TREE[:12]}",
        "No security review of these files: lifecycle run review S1 --by security …",
    ]


def test_what_can_be_shown_of_a_story_needs_one_that_was_begun() -> None:
    """By name, or the current one; one that only waits is shown nothing of, unless that is asked for."""
    waits = planned(id="S2")
    run = a_run(WORKING, waits)
    assert at_work(run, "") == at_work(run, "s1") == WORKING
    assert at_work(run, "S2", is_begun=False) == waits
    done = planned(status=StoryStatus.COMPLETED)
    with pytest.raises(Refused, match="Begin it with"):
        at_work(run, "S2")
    with pytest.raises(Refused, match="none is next"):
        at_work(a_run(done), "")


def test_what_is_refused_of_a_completed_story_says_how_it_is_opened_again() -> None:
    """Whatever comes to it; that opens it, and leaves the stories that came later."""
    done, later = planned(status=StoryStatus.COMPLETED, base="c0"), planned(id="S2")
    run = a_run(done, replace(later, status=StoryStatus.COMPLETED), phase=RunPhase.DEVELOPMENT)
    for act in (
        lambda: at_work(run, "S1"),
        lambda: at_work(run, "S1", is_begun=False),
        lambda: failed(run, "S1", "it is bad", NOW),
        lambda: tdd_moves.waived(run, "S1", "words", WorkFacts(), ()),
    ):
        with pytest.raises(Refused, match="lifecycle run update-story S1 pending"):
            act()
    facts = WorkFacts("t", "c1")
    opened = moved_story(run, "S1", StoryStatus.PENDING, facts, NOW)
    begun = moved_story(opened, "S1", StoryStatus.IN_PROGRESS, facts, NOW)
    assert at_work(begun, "S1").status is StoryStatus.IN_PROGRESS
    assert begun.story("S2") == run.story("S2")


@pytest.mark.parametrize(
    ("security", "reviews", "state"),
    [
        (False, (), CheckState.NOT_APPLICABLE),
        (True, (), CheckState.PENDING),
        (True, (review(ReviewVerdict.CLEARED),), PASS),
        (True, (review(ReviewVerdict.CLEARED, tree=OTHER),), CheckState.PENDING),
        (True, (review(ReviewVerdict.REMEDIATION_NEEDED),), FAIL),
    ],
)
def test_security_is_cleared_by_its_review_alone(
    *, security: bool, reviews: tuple[Any, ...], state: CheckState
) -> None:
    """On this tree, and only where the story is sensitive."""
    story = planned(security=security, reviews=reviews)
    asked = GateRecord(Gate.G6, NOW, CheckState.PENDING, TREE, by="me")
    run = with_gate(a_run(story), "S1", asked, "", NOW)
    assert run.story("S1").gates == (asked.but(state=state),)
