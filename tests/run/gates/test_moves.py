"""Moves of stories and of the run: legal ones alone, and each with what it needs."""

from __future__ import annotations

from dataclasses import replace as replace_fields
from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import IllegalMove, Refused
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import RunRecord
from lifecycle.run.gates.run_moves import (
    NOTE,
    moved_phase,
    moved_story,
    with_gate,
)
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Blocker, GateRecord, Run
from lifecycle.run.table import CheckState, Gate, RunPhase, RunStatus, StoryStatus
from lifecycle.run.trouble.blockers import resolved
from lifecycle.run.trouble.story_failures import failed
from tests.batches import each_row
from tests.run.gates.stories_ground import FACTS, NOW, OTHER, TREE, a_run, done, passed, planned

FAIL = CheckState.FAIL
BEGIN, COMPLETED = StoryStatus.IN_PROGRESS, StoryStatus.COMPLETED


def moved(run: Run, name: str, wanted: StoryStatus, facts: WorkFacts = FACTS, **more: Any) -> Run:
    """The run with this story moved."""
    return moved_story(run, name, wanted, facts, NOW, **more)


def test_a_story_begins_with_its_commit_and_its_first_iteration() -> None:
    """In development; from planning the first story takes the run there, and G1 is recorded."""
    seen = replace_fields(FACTS, records=(RunRecord(NOW - 5, "make", Outcome.PASSED, TREE),))
    run = moved(a_run(planned(), phase=RunPhase.PLANNING), "s1", BEGIN, seen)
    story = run.stories[0]
    assert (story.status, story.iteration, story.started) == (BEGIN, 1, NOW)
    assert story.red_from == NOW - 5
    assert (story.base, run.phase) == (FACTS.head, RunPhase.DEVELOPMENT)
    assert [(one.gate, one.state) for one in run.gates] == [(Gate.G1, CheckState.PASS)]
    assert moved(run, "S1", BEGIN) == run


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (a_run(planned(design="")), "no design"),
        (a_run(planned(depends_on=("S2",)), planned(id="S2")), "waits for S2, which has"),
        (a_run(planned(), planned(id="S2", status=BEGIN)), "S2 is the current story"),
        (a_run(planned(), planned(id="S2", design=""), phase=RunPhase.PLANNING), "no design"),
        (a_run(planned(), phase=RunPhase.ANALYSIS), "cannot go to development"),
        (a_run(planned(), status=RunStatus.STOPPED, why="a cap"), r"stopped \(a cap\)"),
        (a_run(planned(), status=RunStatus.AWAITING_USER), "A person fixes what the run waits for"),
        (a_run(planned(), status=RunStatus.COMPLETED), "Begin another"),
        (
            a_run(
                planned(status=StoryStatus.BLOCKED),
                blockers=(Blocker("B1", "a key", "high", NOW, "S1"),),
            ),
            "B1 is unresolved",
        ),
    ],
)
def test_a_story_does_not_begin_before_it_may(run: Run, says: str) -> None:
    """Design, what it waits for, one story at a time, G1, and the brakes."""
    with pytest.raises(Refused, match=says):
        moved(run, "S1", BEGIN)


@pytest.mark.parametrize(
    ("status", "why", "says"),
    [
        (
            RunStatus.STOPPED,
            "a cap",
            "The run is stopped (a cap), so nothing was changed. A person",
        ),
        (
            RunStatus.STOPPED,
            "",
            "The run is stopped, so nothing was changed. A person lets the run continue",
        ),
        (
            RunStatus.AWAITING_USER,
            "",
            "The run is awaiting_user, so nothing was changed. A person fixes",
        ),
        (
            RunStatus.COMPLETED,
            "",
            "The run is completed, so nothing was changed. Begin another with",
        ),
    ],
)
def test_a_run_that_does_not_go_on_says_how_it_would(
    status: RunStatus, why: str, says: str
) -> None:
    """And why it stands, if somebody said it."""
    with pytest.raises(Refused) as caught:
        a_run(status=status, why=why).demand_active()
    assert caught.value.sentence.startswith(says)
    with pytest.raises(Refused, match="so nothing was changed"):
        moved_phase(a_run(status=status, why=why), RunPhase.PLANNING, TREE, NOW, asked=True)
    a_run().demand_active()


@pytest.mark.parametrize("status", [StoryStatus.TESTING, StoryStatus.REVIEW])
def test_a_story_goes_on_to_its_tests_and_its_review(status: StoryStatus) -> None:
    """With nothing else of it changed; where it is there already, the run is the same."""
    before = planned(status=BEGIN if status is StoryStatus.TESTING else StoryStatus.TESTING)
    run = moved(a_run(before), "S1", status)
    assert run.stories == (replace(before, status=status),)
    assert moved(run, "S1", status) == run
    with pytest.raises(IllegalMove):
        moved(a_run(planned()), "S1", status)


def test_a_story_that_is_begun_anew_keeps_when_and_on_what_it_began() -> None:
    """Only its status and its iteration are of now; that it needs no change has to be said again."""
    before = planned(started=NOW - 60, base="b" * 40, unneeded="it was there")
    (story,) = moved(a_run(before), "S1", BEGIN).stories
    assert (story.started, story.base, story.unneeded) == (NOW - 60, "b" * 40, "")


def test_what_waits_for_what_is_completed_begins() -> None:
    """Another one that only waits, or is done, is in nobody's way; neither is a blocker of no weight."""
    needed, free = done(id="S2", status=COMPLETED), planned(id="S3")
    low = Blocker("B1", "a doubt", "low", NOW, "S1")
    run = a_run(planned(depends_on=("S2",)), needed, free, blockers=(low,))
    assert moved(run, "S1", BEGIN).stories[0].status is BEGIN
    heavy = replace(run, blockers=(replace(low, severity="high"),))
    assert moved(heavy, "S1", BEGIN).stories[0].status is BEGIN
    blocked = run.with_story(replace(run.stories[0], status=StoryStatus.BLOCKED))
    assert moved(blocked, "S1", BEGIN).stories[0].status is BEGIN
    for of in ("S3", ""):
        others = replace(blocked, blockers=(replace(low, severity="high", story=of),))
        assert moved(others, "S1", BEGIN).stories[0].status is BEGIN


def test_what_failed_in_the_others_by_now_is_no_test_of_theirs() -> None:
    """Each open story that was begun hears when this one was completed; one that was not, does not."""
    begun = planned(id="S2", started=NOW - 9, status=StoryStatus.BLOCKED)
    over = done(id="S4", status=COMPLETED)
    seen = replace_fields(FACTS, records=(RunRecord(NOW - 5, "make", Outcome.PASSED, TREE),))
    run = moved(a_run(done(), begun, planned(id="S3"), over), "S1", COMPLETED, seen)
    assert [one.red_from for one in run.stories] == [0.0, NOW - 5, 0.0, 0.0]
    assert run.status is RunStatus.ACTIVE
    last = moved(a_run(done(), begun), "S1", COMPLETED)
    assert last.status is RunStatus.AWAITING_USER


def test_begun_again_after_a_failure_is_the_next_iteration() -> None:
    """Without one it is the same; after a person resolved what it was given up for, it goes on."""
    run = moved(a_run(planned()), "S1", BEGIN)
    run = moved(moved(run, "S1", StoryStatus.TESTING), "S1", BEGIN)
    assert run.stories[0].iteration == 1
    run = failed(run, "S1", "assert 1 == 2", NOW, tree=TREE)
    run = moved(run, "S1", BEGIN)
    assert run.stories[0].iteration == 2
    assert moved(run, "S1", BEGIN) == run
    for tree in (OTHER, "d" * 40):
        run = failed(run, "S1", f"assert 1 == 2 on {tree[0]}", NOW, tree=tree)
    assert run.stories[0].status is StoryStatus.BLOCKED
    with pytest.raises(Refused, match="A person fixes what the run waits for"):
        moved(run, "S1", BEGIN)
    mended = resolved(run, run.blockers, NOW, "terminal")
    assert moved(mended, "S1", BEGIN).stories[0].iteration == 4


def test_a_story_is_completed_when_all_is_shown_and_not_before() -> None:
    """What lacks is named, and nothing changes; the commit is kept."""
    run = moved(a_run(done()), "S1", COMPLETED)
    story = run.stories[0]
    assert (story.status, story.completed, story.commit) == (COMPLETED, NOW, FACTS.head)
    with pytest.raises(Refused, match=r"not completed.*G5 .*; G4 .*"):
        moved(a_run(done(gates=())), "S1", COMPLETED)
    with pytest.raises(IllegalMove):
        moved(a_run(done(status=StoryStatus.PENDING)), "S1", COMPLETED)
    assert moved(run, "S1", COMPLETED) == run


def test_a_story_that_is_where_it_is_to_go_stays_as_it_is() -> None:
    """It is not completed a second time, nor blocked by nothing, nor opened again."""
    for status in (COMPLETED, StoryStatus.BLOCKED, StoryStatus.PENDING):
        run = a_run(done(status=status, completed=NOW - 60))
        assert moved(run, "S1", status) == run


def test_no_change_needed_is_an_outcome_with_its_proof() -> None:
    """Why; the tests passed on the tree; and nothing changed since the story began."""
    run = a_run(done(red=None, green=None, gates=(passed(Gate.G5),)))
    still = WorkFacts(TREE, FACTS.head)
    with pytest.raises(Refused, match="nothing changed since it began"):
        moved(run, "S1", COMPLETED, still)
    story = moved(run, "S1", COMPLETED, still, unneeded="it was there: pay.py:12").stories[0]
    assert (story.status, story.unneeded) == (COMPLETED, "it was there: pay.py:12")
    with pytest.raises(Refused, match=r"pay\.py changed"):
        moved(run, "S1", COMPLETED, FACTS, unneeded="it was there")
    with pytest.raises(Refused, match="Leave --no-change out"):
        moved(run, "S1", StoryStatus.TESTING, unneeded="it was there")
    no_test = run.with_story(replace(run.stories[0], gates=()))
    with pytest.raises(Refused, match="G5"):
        moved(no_test, "S1", COMPLETED, still, unneeded="it was there")


def test_a_story_is_blocked_by_a_blocker_alone() -> None:
    """Who stops needs a reason that stands."""
    run = a_run(planned(status=BEGIN))
    little = Blocker("B1", "a doubt", "low", NOW, "S1")
    others = Blocker("B2", "a key", "high", NOW, "S2")
    mended = Blocker("B3", "a key", "high", NOW, "S1", resolved_at=NOW)
    for blockers in ((), (little,), (others,), (mended,)):
        with pytest.raises(Refused, match="No blocker is recorded"):
            moved(replace(run, blockers=blockers), "S1", StoryStatus.BLOCKED)
    run = replace(run, blockers=(Blocker("B1", "a key", "high", NOW),))
    assert moved(run, "S1", StoryStatus.BLOCKED).stories[0].status is StoryStatus.BLOCKED
    own = replace(run, blockers=(Blocker("B1", "a key", "high", NOW, "S1"),))
    blocked = moved(own, "S1", StoryStatus.BLOCKED)
    assert blocked.status is RunStatus.AWAITING_USER
    with pytest.raises(Refused, match=r"B1 is unresolved.*user-fix-complete B1$"):
        moved(replace(blocked, status=RunStatus.ACTIVE), "S1", StoryStatus.PENDING)


def test_a_story_that_is_opened_again_proves_nothing() -> None:
    """The design and what failed stay; red and green are shown anew."""
    run = moved(a_run(done(status=COMPLETED, commit="c")), "S1", StoryStatus.PENDING)
    story = run.stories[0]
    assert (story.red, story.green, story.gates, story.reviews, story.commit) == (
        None,
        None,
        (),
        (),
        "",
    )
    assert (story.design, story.is_open) == (done().design, True)


def test_the_checkpoints_stand_before_analysis_and_planning() -> None:
    """Somebody attends, and was not asked: the phase stays; where nobody does, that is logged."""
    run = a_run(clarifications=(), phase=RunPhase.SETUP)
    with pytest.raises(Refused, match="clarified"):
        moved_phase(run, RunPhase.ANALYSIS, TREE, NOW, asked=True)
    moved_on = moved_phase(run, RunPhase.ANALYSIS, TREE, NOW, asked=False)
    assert (moved_on.phase, moved_on.clarifications[0].assumed) == (RunPhase.ANALYSIS, True)
    with pytest.raises(Refused, match="no story"):
        moved_phase(a_run(phase=RunPhase.ANALYSIS), RunPhase.PLANNING, TREE, NOW, asked=True)


DONE = done(status=COMPLETED)
LINT = passed(Gate.G7, lint=FAIL)


@each_row(
    ("phase", "wanted", "more", "says"),
    [
        (RunPhase.PLANNING, RunPhase.DEVELOPMENT, {"stories": (planned(files=()),)}, "no files"),
        (RunPhase.PLANNING, RunPhase.DEVELOPMENT, {"clarifications": ()}, "pre-plan"),
        (RunPhase.DEVELOPMENT, RunPhase.COMPLETION, {"stories": (done(),)}, "completed: S1"),
        (RunPhase.DEVELOPMENT, RunPhase.COMPLETION, {"stories": ()}, "no story"),
        (RunPhase.DEVELOPMENT, RunPhase.LINT_FIX, {}, "G7 has no record"),
        (
            RunPhase.DEVELOPMENT,
            RunPhase.LINT_FIX,
            {"gates": (passed(Gate.G7, OTHER, lint=FAIL),)},
            "G7 has no record",
        ),
        (
            RunPhase.DEVELOPMENT,
            RunPhase.LINT_FIX,
            {"gates": (passed(Gate.G7, test=FAIL, lint=FAIL),)},
            "lint alone",
        ),
        (RunPhase.LINT_FIX, RunPhase.COMPLETION, {"gates": (LINT,)}, "neither passed nor"),
        (RunPhase.LINT_FIX, RunPhase.DEVELOPMENT, {"gates": (LINT,)}, "no story is open"),
        (RunPhase.COMPLETION, RunPhase.DEVELOPMENT, {}, "no story is open, and G7 has no record"),
        (
            RunPhase.COMPLETION,
            RunPhase.DEVELOPMENT,
            {"gates": (passed(Gate.G7),)},
            "no story is open, and build and tests pass",
        ),
        (
            RunPhase.DEVELOPMENT,
            RunPhase.LINT_FIX,
            {"stories": (done(),)},
            "not completed: S1; G7 has no record",
        ),
        (
            RunPhase.DEVELOPMENT,
            RunPhase.LINT_FIX,
            {"stories": (done(),), "gates": (passed(Gate.G7),)},
            "not completed: S1; G7 did not fail on lint alone",
        ),
        (
            RunPhase.LINT_FIX,
            RunPhase.COMPLETION,
            {"stories": (done(),)},
            "not completed: S1; lint neither passed nor",
        ),
        (RunPhase.SETUP, RunPhase.DEVELOPMENT, {}, "cannot go to"),
    ],
)
def test_a_phase_is_not_entered_without_what_it_needs(
    phase: RunPhase, wanted: RunPhase, more: dict[str, Any], says: str
) -> None:
    """What lacks is named."""
    run = a_run(**{"stories": (DONE,), **more}, phase=phase)
    with pytest.raises(Refused, match=says):
        moved_phase(run, wanted, TREE, NOW, asked=True)


@pytest.mark.parametrize(
    ("phase", "wanted", "more"),
    [
        (RunPhase.ANALYSIS, RunPhase.PLANNING, {}),
        (RunPhase.PLANNING, RunPhase.ANALYSIS, {}),
        (RunPhase.DEVELOPMENT, RunPhase.PLANNING, {}),
        (RunPhase.DEVELOPMENT, RunPhase.PLANNING, {"stories": ()}),
        (RunPhase.DEVELOPMENT, RunPhase.COMPLETION, {}),
        (RunPhase.DEVELOPMENT, RunPhase.LINT_FIX, {"gates": (LINT,)}),
        (RunPhase.COMPLETION, RunPhase.LINT_FIX, {"gates": (LINT,)}),
        (RunPhase.LINT_FIX, RunPhase.COMPLETION, {"gates": (passed(Gate.G7),)}),
        (RunPhase.LINT_FIX, RunPhase.COMPLETION, {"lint_waived": NOTE}),
        (RunPhase.LINT_FIX, RunPhase.DEVELOPMENT, {"gates": (passed(Gate.G7, test=FAIL),)}),
        (RunPhase.COMPLETION, RunPhase.DEVELOPMENT, {"stories": (DONE, planned(id="S2"))}),
        (RunPhase.COMPLETION, RunPhase.COMPLETION, {"stories": ()}),
    ],
)
def test_a_phase_is_entered_with_what_it_needs(
    phase: RunPhase, wanted: RunPhase, more: dict[str, Any]
) -> None:
    """From facts alone."""
    run = a_run(**{"stories": (DONE,), **more}, phase=phase)
    assert moved_phase(run, wanted, TREE, NOW, asked=True).phase is wanted


def test_code_that_is_worked_on_again_is_linted_anew() -> None:
    """A waiver was of the code as it was."""
    run = a_run(planned(), phase=RunPhase.LINT_FIX, lint_waived=NOTE, lint_attempts=("1", "2", "3"))
    back = moved_phase(run, RunPhase.DEVELOPMENT, TREE, NOW, asked=True)
    assert (back.lint_waived, back.lint_attempts) == ("", ())


def test_what_a_story_changed_stays_its_own_when_it_is_begun_anew() -> None:
    """So that it cannot be said then to need no change; one that changed nothing begins where HEAD is."""
    later = WorkFacts(TREE, "d" * 40, (), ("pay.py",))
    still = WorkFacts(TREE, "d" * 40)
    run = moved(a_run(planned()), "S1", BEGIN)
    for facts, base in ((later, FACTS.head), (still, "d" * 40)):
        again = moved(moved(run, "S1", StoryStatus.PENDING, facts), "S1", BEGIN, facts)
        assert again.stories[0].base == base
    freed = a_run(planned(started=NOW, iteration=1, base=FACTS.head))
    assert moved(freed, "S1", BEGIN, later).stories[0].base == FACTS.head
    opened = moved(a_run(done(status=COMPLETED, base="c")), "S1", StoryStatus.PENDING)
    assert moved(opened, "S1", BEGIN, later).stories[0].base == "d" * 40


@pytest.mark.parametrize("phase", [RunPhase.COMPLETION, RunPhase.LINT_FIX])
def test_a_story_that_is_opened_again_takes_the_run_back(phase: RunPhase) -> None:
    """The last phases have no open story, and a waiver of lint is void then."""
    run = moved(a_run(DONE, phase=phase, lint_waived=NOTE), "S1", StoryStatus.PENDING)
    assert (run.phase, run.lint_waived) == (RunPhase.DEVELOPMENT, "")


def test_the_design_gate_is_recorded_as_it_was_found() -> None:
    """With whoever asked; it changes nothing else."""
    for run, state in (
        (a_run(planned()), CheckState.PASS),
        (a_run(planned(files=())), CheckState.FAIL),
    ):
        asked = GateRecord(Gate.G1, NOW, CheckState.PENDING, TREE, by="me")
        judged = with_gate(replace(run, gates=(LINT,)), "", asked, "", NOW)
        assert judged.gates == (LINT, asked.but(state=state))
        assert replace(judged, gates=()) == run
