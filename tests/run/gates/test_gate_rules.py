"""What a gate's parts come to, which records show it, and what stands before a story's completion."""

from __future__ import annotations

from dataclasses import replace as replace_fields
from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.evidence.outcomes import Counts, Outcome
from lifecycle.evidence.records import RunRecord
from lifecycle.run.gates.gate_rules import (
    check_states,
    design_lacks,
    failed_on_lint_alone,
    missing_for,
    part_of,
    state_of,
    unmet,
)
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Clarification, Criterion, GatePart, ReviewFinding, Story
from lifecycle.run.table import (
    CheckState,
    CriterionState,
    Gate,
    ReviewVerdict,
    Severity,
    StoryCheck,
)
from tests.batches import each_row
from tests.run.gates.stories_ground import (
    FACTS,
    NOW,
    OTHER,
    TREE,
    a_run,
    done,
    passed,
    planned,
    review,
)

GREEN = done().green
assert GREEN is not None
BLOCKING = (ReviewFinding(Severity.BLOCKING, "SQL injection"),)


def test_a_story_of_which_all_is_shown_may_be_completed() -> None:
    """The only case in which nothing is missing."""
    assert missing_for(done(), FACTS) == ()


@each_row(
    ("changes", "names"),
    [
        ({"criteria": ()}, "no acceptance criteria"),
        ({"design": " "}, "no design"),
        ({"files": ()}, "no files"),
        ({"red": None}, "RED is not proven"),
        ({"green": None}, "GREEN is not proven"),
        ({"green": replace(GREEN, tree=OTHER)}, "GREEN was shown on another tree"),
        ({"criteria": (Criterion("x"),)}, "criterion 1 is pending"),
        ({"criteria": (Criterion("x", CriterionState.UNMET, tree=TREE),)}, "criterion 1 is unmet"),
        ({"criteria": (Criterion("x", CriterionState.MET, tree=OTHER),)}, "met on another tree"),
        ({"gates": (passed(Gate.G5),)}, "G4 (coverageMet) has no PASSED record"),
        ({"gates": (passed(Gate.G4),)}, "G5 (testsPass) has no PASSED record"),
        ({"gates": (passed(Gate.G4), passed(Gate.G5, OTHER))}, "G5 (testsPass) has no PASSED"),
        ({"gates": (passed(Gate.G4), passed(Gate.G3), passed(Gate.G2))}, "G5 (testsPass)"),
        (
            {"gates": (passed(Gate.G4), passed(Gate.G5), passed(Gate.G5, test=CheckState.FAIL))},
            "G5 (testsPass) FAILED",
        ),
        ({"reviews": (review(ReviewVerdict.CLEARED),)}, "reviewApproved has no PASSED record"),
        ({"reviews": (review(),)}, "G6 (securityCleared) has no PASSED record"),
        (
            {"reviews": (review(tree=OTHER), review(ReviewVerdict.CLEARED))},
            "reviewApproved has no PASSED record",
        ),
        (
            {"reviews": (review(findings=BLOCKING), review(ReviewVerdict.CLEARED))},
            "reviewApproved FAILED",
        ),
        ({"unneeded": "it is there"}, "pay.py changed"),
    ],
)
def test_each_thing_that_is_missing_is_named_and_alone(changes: dict[str, Any], names: str) -> None:
    """Every record counts for its own tree; words and older records show nothing."""
    (clause,) = missing_for(done(**changes), FACTS)
    assert names in clause


def test_what_changed_is_asked_for_only_where_git_says_what_the_files_are() -> None:
    """Where it does not, that alone is told."""
    lacks = missing_for(done(), WorkFacts())
    assert not any("nothing changed" in clause for clause in lacks)
    assert any("nothing changed" in clause for clause in missing_for(done(), WorkFacts(TREE)))


def test_without_a_tree_nothing_is_shown() -> None:
    """That git does not say what the files are stands behind what lacks all the same."""
    assert missing_for(done(design=" "), WorkFacts()) == (
        "S1 has no design",
        "GREEN was shown on another tree (lifecycle run gate G5 S1 --anew)",
        "git does not say what the files are, so nothing is shown for them",
    )


def test_all_that_is_missing_is_told_with_what_mends_it() -> None:
    """In the order in which it is done: the design, the cycle, the criteria, the gates, the reviews."""
    bare = Story("S1", "Pay", security=True, criteria=(Criterion("it pays"),))
    review_by = "on the current tree (lifecycle run review S1 --by"
    gate = "on the current tree (lifecycle run gate"
    unneeded = "update-story S1 completed --no-change REASON"
    assert missing_for(bare, WorkFacts(TREE, "c", ("pay.py",))) == (
        "S1 has no design, no files",
        f"nothing changed since it began (if nothing has to: lifecycle run {unneeded})",
        "RED is not proven (lifecycle run tdd-phase S1 red)",
        "criterion 1 is pending (lifecycle run criterion S1 1 met)",
        f"G5 (testsPass) has no PASSED record {gate} G5 S1)",
        f"G4 (coverageMet) has no PASSED record {gate} G4 S1)",
        f"reviewApproved has no PASSED record {review_by} reviewer …)",
        f"G6 (securityCleared) has no PASSED record {review_by} security …)",
        "not committed: pay.py (lifecycle run commit S1)",
    )
    reviews = (review(findings=BLOCKING), review(ReviewVerdict.CLEARED, findings=BLOCKING))
    failed = done(reviews=reviews, gates=(passed(Gate.G5, test=CheckState.FAIL), passed(Gate.G4)))
    assert missing_for(failed, FACTS) == (
        f"G5 (testsPass) FAILED {gate} G5 S1)",
        f"reviewApproved FAILED {review_by} reviewer …)",
        f"G6 (securityCleared) FAILED {review_by} security …)",
    )


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        (WorkFacts(TREE, "c", ("pay.py",), ("pay.py",)), "not committed: pay.py"),
        (WorkFacts(TREE, "c", (), ()), "nothing changed since it began"),
    ],
)
def test_what_git_shows_is_needed_too(facts: WorkFacts, names: str) -> None:
    """A tree that is known and committed, and something that changed."""
    (clause,) = missing_for(done(criteria=(Criterion("x", CriterionState.MET),)), facts)
    assert names in clause


def test_what_a_story_may_lack() -> None:
    """A waiver stands for RED and GREEN; no change for these and for coverage; a person for a criterion."""
    waived = done(red=None, green=None, waived="docs")
    assert missing_for(waived, WorkFacts(TREE, FACTS.head, (), ("docs/pay.md", "pay.toml"))) == ()
    (clause,) = missing_for(waived, FACTS)
    assert "were waived, and pay.py changed" in clause
    assert missing_for(done(red=None, green=None, waived="tidy", waived_on=TREE), FACTS) == ()
    unneeded = done(red=None, green=None, gates=(passed(Gate.G5),), unneeded="it is there already")
    assert missing_for(unneeded, replace_changed(FACTS)) == ()
    assert missing_for(done(criteria=(Criterion("x", CriterionState.MANUAL),)), FACTS) == ()
    assert missing_for(done(security=False, reviews=(review(),)), FACTS) == ()


def replace_changed(facts: WorkFacts) -> WorkFacts:
    """The facts where nothing changed since the story began."""
    return WorkFacts(facts.tree, facts.head)


def test_a_later_review_of_the_same_tree_counts() -> None:
    """A reviewer may come to something else; what was found on another tree says nothing here."""
    story = done(reviews=(review(ReviewVerdict.CHANGES_REQUESTED), review()), security=False)
    assert check_states(story, TREE)[StoryCheck.REVIEW_APPROVED] is CheckState.PASS
    assert check_states(story, OTHER)[StoryCheck.REVIEW_APPROVED] is CheckState.PENDING
    assert check_states(story, TREE)[StoryCheck.SECURITY_CLEARED] is CheckState.NOT_APPLICABLE
    unknown = done(gates=(passed(Gate.G4, ""), passed(Gate.G5, "")), reviews=(review(tree=""),))
    assert {*check_states(unknown, "").values()} == {CheckState.PENDING}


@pytest.mark.parametrize(
    ("state", "met_on", "tree", "told"),
    [
        (CriterionState.MET, TREE, TREE, ""),
        (CriterionState.MET, "", TREE, ""),
        (CriterionState.MET, OTHER, TREE, "was met on another tree"),
        (CriterionState.MET, OTHER, "", ""),
        (CriterionState.MANUAL, OTHER, TREE, ""),
        (CriterionState.PENDING, "", TREE, "is pending"),
        (CriterionState.UNMET, OTHER, TREE, "is unmet"),
    ],
)
def test_a_criterion_is_met_on_the_tree_as_it_is(
    state: CriterionState, met_on: str, tree: str, told: str
) -> None:
    """Or on one that nobody wrote down; where the tree is not known, no other one is told of."""
    story = planned(criteria=(Criterion("a", state, tree=met_on),))
    assert unmet(story, tree) == ([(1, told)] if told else [])


def test_the_design_is_complete_or_what_lacks_is_named() -> None:
    """G1: design, criteria, files, both checkpoints, no open question."""
    assert design_lacks(a_run(planned())) == ()
    assert design_lacks(a_run()) == ("there is no story (lifecycle run add-story)",)
    assert "S1 has no design, no files" in design_lacks(a_run(planned(design="", files=())))[0]
    assert len(design_lacks(a_run(planned(), clarifications=()))) == 2
    run = a_run(planned())
    asked = replace(run, clarifications=(*run.clarifications, Clarification("When?", " ", NOW)))
    way = "lifecycle run add-clarification … --phase development"
    assert design_lacks(asked) == (f"this question is open: When? ({way})",)


def ran(outcome: Outcome = Outcome.PASSED, **changes: Any) -> RunRecord:
    """A run of a check on this tree."""
    given = {"name": "test", "counts": Counts(passed=3), **changes}
    return RunRecord(NOW, "pytest", outcome, given.pop("tree", TREE), **given)


@pytest.mark.parametrize("outcome", [one for one in Outcome if one is not Outcome.PASSED])
def test_only_what_passed_on_this_tree_passes(outcome: Outcome) -> None:
    """Partial, unknown and empty runs are failures; one while files changed only has to be repeated."""
    assert part_of(ran(), TREE).state is CheckState.PASS
    assert part_of(ran(outcome), TREE).state is CheckState.FAIL
    for tree, wanted, why in (
        (OTHER, TREE, "files changed meanwhile"),
        ("", TREE, "it is not known on which files"),
        (TREE, "", "it is not known on which files"),
    ):
        part = part_of(ran(tree=tree), wanted)
        assert (part.state, why in part.why) == (CheckState.PENDING, True)


def test_a_check_that_changes_what_it_left_fails() -> None:
    """A formatter leaves its own files alone; anything else would have to be run again for ever."""
    first = ran(tree="", changed=("a.py",), tree_before="1", tree_after="2")
    part = part_of(first, TREE)
    assert (part.state, part.why) == (
        CheckState.PENDING,
        "a.py changed meanwhile, so it shows nothing",
    )
    second = replace_fields(first, tree_before="2", tree_after="3")
    part = part_of(second, TREE, earlier=[first])
    assert (part.state, part.why) == (CheckState.FAIL, "a.py changed again, so it shows nothing")
    for other in (
        replace_fields(second, changed=("b.py",)),
        replace_fields(second, changed=()),
        replace_fields(second, tree_before="4"),  # somebody edited it since
    ):
        assert part_of(other, TREE, earlier=[first]).state is CheckState.PENDING
    unknown = replace_fields(first, changed=())
    assert part_of(second, TREE, earlier=[unknown]).state is CheckState.PENDING
    passed_between = ran(tree="2", tree_before="2", tree_after="2")
    back = part_of(first, TREE, earlier=[first, passed_between])  # another check undid it
    assert back.state is CheckState.FAIL


def test_a_part_says_what_its_run_came_to() -> None:
    """Why it did not pass, in its own words or by its outcome; how many tests ran, if somebody counted."""
    for changes, why in (
        ({}, ""),
        ({"why": "slowly"}, "slowly"),
        ({"outcome": Outcome.FAILED}, "failed"),
        ({"outcome": Outcome.FAILED, "why": "1 of 3"}, "1 of 3"),
        ({"outcome": Outcome.FAILED, "why": "1 of 3", "tree": OTHER}, "1 of 3"),
    ):
        assert part_of(ran(**changes), TREE).why == why
    assert part_of(ran(log="a.log", failures=("t::a",)), TREE) == GatePart(
        "test", CheckState.PASS, "pytest", tests=3, log="a.log", failures=("t::a",)
    )
    assert part_of(ran(counts=None), TREE).tests == -1


@pytest.mark.parametrize(
    ("percent", "threshold", "state", "why"),
    [
        (80.0, 80.0, CheckState.PASS, "80% of the 80% needed"),
        (79.9, 80.0, CheckState.FAIL, "79.9% is below the 80% needed"),
        (10.0, None, CheckState.NOT_APPLICABLE, "10%; no threshold is known"),
    ],
)
def test_coverage_is_held_against_the_threshold(
    percent: float, threshold: float | None, state: CheckState, why: str
) -> None:
    """Where nobody says one, that is said."""
    part = part_of(ran(name="coverage", percent=percent), TREE, threshold)
    assert (part.state, part.why, part.percent) == (state, why, percent)
    failed = part_of(ran(Outcome.FAILED, name="coverage", percent=percent), TREE, threshold)
    assert (failed.state, failed.why, failed.percent) == (CheckState.FAIL, "failed", -1.0)
    unread = part_of(ran(name="coverage"), TREE, threshold)
    assert (unread.state, unread.why, unread.percent) == (CheckState.PASS, "", -1.0)


def test_a_gate_is_as_good_as_its_worst_part() -> None:
    """What was not run is pending, and so is a gate without parts; a waiver is about lint alone."""
    states = [CheckState.FAIL, CheckState.PENDING, CheckState.PASS, CheckState.NOT_APPLICABLE]
    for number, worst in enumerate(states):
        parts = [GatePart("test", state) for state in states[number:]]
        assert state_of(parts) is worst
    assert state_of(()) is CheckState.PENDING
    lint, tests = GatePart("lint", CheckState.FAIL), GatePart("test", CheckState.FAIL)
    assert state_of([GatePart("test", CheckState.PASS), lint]) is CheckState.FAIL
    assert state_of([GatePart("test", CheckState.PASS), lint], "a note") is CheckState.PASS
    assert state_of([tests, lint], "a note") is CheckState.FAIL


def test_lint_alone_fails_only_where_the_rest_holds() -> None:
    """A build that is not there holds; a test that was not run does not."""
    fails = CheckState.FAIL
    assert failed_on_lint_alone(passed(Gate.G7, lint=fails))
    assert failed_on_lint_alone(passed(Gate.G7, lint=fails, build=CheckState.NOT_APPLICABLE))
    assert not failed_on_lint_alone(passed(Gate.G7))
    assert not failed_on_lint_alone(passed(Gate.G7, lint=fails, test=fails))
    assert not failed_on_lint_alone(passed(Gate.G7, lint=fails, build=fails))
    assert not failed_on_lint_alone(passed(Gate.G7, lint=fails, test=CheckState.PENDING))
