"""Red is proven, green is the same test passing, and nothing that anybody says is either."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace as changed

from lifecycle.core.errors import Refused
from lifecycle.evidence.outcomes import Counts, Outcome
from lifecycle.evidence.records import RunRecord
from lifecycle.run import state, tdd_moves
from lifecycle.run.gates.gate_rules import missing_for
from lifecycle.run.gates.run_moves import moved_story
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Run, Story
from lifecycle.run.table import TDD, StoryStatus, TddPhase
from lifecycle.run.tdd_moves import TddViolation
from lifecycle.run.texts.told import drawn
from tests.batches import each_row
from tests.run.gates.stories_ground import FACTS, a_run, done

NONE, RED, GREEN = TddPhase.NONE, TddPhase.RED, TddPhase.GREEN
REFACTOR, VERIFY = TddPhase.REFACTOR, TddPhase.VERIFY
TEST = "tests/test_sum.py::test_two"
FILES = {"tests/test_sum.py": "a" * 40, "sum.py": "b" * 40}


def record(at: float, outcome: Outcome, **more: Any) -> RunRecord:
    """A run of the tests that ended at this moment."""
    return RunRecord(at, "pytest", outcome, "tree", **more)


def red(at: float = 20.0, **more: Any) -> RunRecord:
    """A run in which one test of three failed by its assertion."""
    given = {
        "counts": Counts(2, 1),
        "failures": (TEST,),
        "asserted": (TEST,),
        "files": (("tests/test_sum.py", "a" * 40),),
        **more,
    }
    return record(at, Outcome.FAILED, **given)


def green(at: float = 30.0, **more: Any) -> RunRecord:
    """A whole run that passed, of as many tests."""
    return record(at, Outcome.PASSED, **{"counts": Counts(3), **more})


def seen(*records: RunRecord, tree: str = "tree", files: dict[str, str] | None = None) -> WorkFacts:
    """These runs, and the files as they are."""
    return WorkFacts(tree, records=records, files=FILES if files is None else files)


def run_of(**more: Any) -> Run:
    """A run with one story that began at 10, after a run of the tests that ended at 9."""
    given = {"status": StoryStatus.IN_PROGRESS, "started": 10.0, "red_from": 9.0, **more}
    return Run("w", "a goal", 1.0, stories=(Story("S1", "a story", **given),))


def moved(run: Run, wanted: TddPhase, runs: WorkFacts) -> Story:
    """The story after a move."""
    return tdd_moves.moved_phase(run, "S1", wanted, runs, 50.0).story("S1")


def test_the_whole_cycle_keeps_its_proofs() -> None:
    """Each step of the design, with what it rests on: proofs stay where records are forgotten."""
    story = moved(run_of(), RED, seen())
    assert (story.tdd, story.red, story.started, story.red_from) == (RED, None, 10.0, 9.0)
    story = moved(run_of(started=0.0), RED, seen(green(19.0), red()))
    assert (story.red, story.started, story.red_from) == (None, 50.0, 20.0)
    story = moved(run_of(tdd=RED), GREEN, seen(red()))
    assert story.tdd is GREEN
    assert story.red == state.TestProof(
        20.0, (TEST,), "tree", "pytest", failed=1, total=3, files={"tests/test_sum.py": "a" * 40}
    )
    run = run_of(tdd=GREEN, red=story.red)
    for wanted in (REFACTOR, VERIFY):
        story = moved(run, wanted, seen(green()))  # the red run is forgotten by now
        assert story.green is not None
        assert (story.green.at, story.green.tests, story.green.changed) == (30.0, (TEST,), ())
        run = run_of(tdd=wanted, red=story.red, green=story.green)
    loaded = msgspec.json.decode(msgspec.json.encode(run), type=Run)
    assert loaded == run


NO_RED = {
    "nothing": (),
    "before the story": (red(9.0),),
    "began before the story": (red(20.0, started=9.0),),
    "an import error": (red(asserted=(), counts=Counts(2, 0, 0, 1)),),
    "an error in the test": (red(asserted=()),),
    "none found": (record(20.0, Outcome.NOTHING_RAN, counts=Counts()),),
    "stopped": (record(20.0, Outcome.PARTIAL, counts=Counts(1)),),
    "passed": (green(20.0),),
    "unknown": (record(20.0, Outcome.UNKNOWN),),
    "no counts": (record(20.0, Outcome.FAILED),),
    "errors alone": (record(20.0, Outcome.FAILED, counts=Counts(1, 0, 0, 2)),),
    "another kind": (red(kind="build"), red(kind="lint")),
    "failed before another check": (red(9.0), record(9.5, Outcome.PASSED, kind="docs"), red()),
    "failed before, too": (red(9.0), red()),
    "as many as before": (red(9.0, asserted=None), red(asserted=None)),
}


@each_row("name", NO_RED)
def test_what_is_no_red(name: str) -> None:
    """It is refused in the design's words, and nothing is changed."""
    runs = seen(*NO_RED[name])
    for phase, run in ((RED, run_of(tdd=RED)), (NONE, run_of())):
        with pytest.raises(TddViolation) as refused:
            tdd_moves.moved_phase(run, "S1", GREEN, runs, 50.0)
        assert refused.value.lines[:4] == [
            "STOP. TDD violation detected.",
            f"Current phase: {phase}",
            "Expected: red (write failing test first)",
            "Developer must write a failing test before implementation.",
        ]


def test_counts_decide_where_a_runner_does_not_tell_how_tests_fail() -> None:
    """Failures, and not errors; the proof says so."""
    told = red(asserted=None, failures=("two",))
    proof, why = tdd_moves.red_of(run_of().story("S1"), seen(told))
    assert proof is not None
    assert (proof.tests, why) == (("two",), "")
    assert "the count decided: 1 failed" in proof.note
    unnamed, _ = tdd_moves.red_of(run_of().story("S1"), seen(red(asserted=None, failures=())))
    assert unnamed is not None
    lines = drawn("cycle", story=Story("S1", "x", red=unnamed))
    assert "1 failed" in lines[1]
    assert "The runner names no tests; the counts decided." in lines


def test_only_a_test_that_did_not_fail_before_is_red() -> None:
    """What was broken when the story began is none of its tests; one beside it is."""
    both = red(20.0, failures=(TEST, "old"), asserted=("old", TEST), counts=Counts(1, 2))
    old = red(9.0, failures=("old",), asserted=("old",))
    story = moved(run_of(tdd=RED), GREEN, seen(old, both))
    assert story.red is not None
    assert story.red.tests == (TEST,)
    more = red(asserted=None, counts=Counts(1, 2))
    assert moved(run_of(tdd=RED), GREEN, seen(red(9.0, asserted=None), more)).red is not None
    mended = green(9.5)
    run = run_of(tdd=RED, red_from=9.5)
    assert moved(run, GREEN, seen(red(9.0), mended, red())).red is not None


def test_the_first_red_counts() -> None:
    """What breaks later while the code is written is no test that was written first."""
    later = red(25.0, failures=("other",), asserted=("other",))
    story = moved(run_of(tdd=RED), GREEN, seen(red(15.0, asserted=()), red(), later))
    assert story.red is not None
    assert story.red.tests == (TEST,)


NO_GREEN = {
    "nothing since": (red(),),
    "before red": (green(15.0), replace(red(), tree="other")),
    "another tree": (replace(green(), tree="other"),),
    "changed files": (replace(green(), tree=""),),
    "fewer tests": (green(counts=Counts(2)),),
    "skipped": (green(counts=Counts(2, 0, 1)),),
    "a part": (record(30.0, Outcome.PARTIAL, counts=Counts(3)),),
    "a part with another test": (record(30.0, Outcome.PARTIAL, passed=("other",)),),
    "failed since": (green(), red(40.0)),
    "no test": (record(30.0, Outcome.NOTHING_RAN),),
    "lint": (green(kind="lint"),),
    "another check": (record(30.0, Outcome.PASSED, kind="docs"),),
    "failed before another check": (red(30.0), record(40.0, Outcome.PASSED, kind="docs")),
}


@each_row(("name", "wanted"), product(NO_GREEN, [REFACTOR, VERIFY]))
def test_what_is_no_green(name: str, wanted: TddPhase) -> None:
    """The same test has to pass, on the files as they are."""
    proof, _ = tdd_moves.red_of(run_of().story("S1"), seen(red()))
    with pytest.raises(TddViolation) as refused:
        moved(run_of(tdd=GREEN, red=proof), wanted, seen(*NO_GREEN[name]))
    assert refused.value.lines[1:3] == [
        "Current phase: green",
        "Expected: green (minimum code to pass)",
    ]
    assert refused.value.why


def test_a_check_of_another_name_that_counts_tests_is_one_of_tests() -> None:
    """As `unit`; it is red and green like the other."""
    proof, _ = tdd_moves.red_of(run_of().story("S1"), seen(red(kind="unit")))
    assert moved(run_of(tdd=GREEN, red=proof), VERIFY, seen(green(kind="unit"))).green is not None


def test_green_by_its_number_says_so() -> None:
    """Where no report names what passed; a report that does needs no word."""
    proof, _ = tdd_moves.red_of(run_of().story("S1"), seen(red()))
    story = moved(run_of(tdd=GREEN, red=proof), VERIFY, seen(green()))
    assert "so the count decided: 3 ran" in "\n".join(drawn("cycle", story=story))
    story = moved(run_of(tdd=GREEN, red=proof), VERIFY, seen(green(passed=(TEST,))))
    assert "decided" not in "\n".join(drawn("cycle", story=story))


def test_what_another_story_saw_fail_is_no_red_of_this_one() -> None:
    """One that waited goes on with a test of its own; one that comes later does not begin its cycle."""
    waited = Story("S1", "a", status=StoryStatus.BLOCKED, started=10.0, tdd=RED)
    other = done(id="S2", started=15.0)
    facts = replace(FACTS, records=(green(25.0),))
    run = moved_story(a_run(waited, other), "S2", StoryStatus.COMPLETED, facts, 30.0)
    with pytest.raises(TddViolation):
        moved(run, GREEN, seen(red(20.0), green(25.0)))
    assert moved(run, GREEN, seen(red(20.0), green(25.0), red(40.0))).red is not None
    two = a_run(run_of().stories[0], Story("S2", "b"))
    for later in (two, two.with_story(Story("S1", "a"))):
        with pytest.raises(Refused, match="one story is worked on at a time"):
            tdd_moves.moved_phase(later, "S2", RED, seen(), 50.0)


def test_after_the_clock_was_set_back_a_story_has_its_own_red_and_green() -> None:
    """What was recorded before is older, whatever its date says; what is recorded now is the story's."""
    before = (red(1000.0, started=999.0), green(1010.0, started=1009.0))
    run = run_of(tdd=RED, started=1020.0, red_from=1010.0)
    for own in ((), (green(105.0, started=104.0),)):
        with pytest.raises(TddViolation, match=tdd_moves._NEVER):
            moved(run, GREEN, seen(*before, *own))
    mine = red(120.0, started=119.0, asserted=("new",), failures=("new",))
    for forgotten in range(3):
        story = moved(run, GREEN, seen(*before[forgotten:], mine))
        assert story.red is not None
        assert (story.red.at, story.red.tests) == (120.0, ("new",))
    shown = run_of(tdd=GREEN, red=moved(run, GREEN, seen(*before, red(1040.0))).red)
    passed = moved(shown, VERIFY, seen(red(1040.0), green(150.0)))
    assert passed.green is not None
    assert "GREEN" not in " ".join(missing_for(passed, WorkFacts("tree")))
    again = run.with_story(passed.but(tdd=RED, red=None))
    runs = (red(1040.0, asserted=("old",)), green(150.0), mine)
    with pytest.raises(TddViolation, match=tdd_moves._NEVER):
        moved(again, GREEN, seen(*runs[:2]))
    second = moved(again, GREEN, seen(*runs))
    assert (second.red, second.red_from) == (story.red, 150.0)
    assert "GREEN is not proven" in " ".join(missing_for(second, WorkFacts("tree")))


def test_what_failed_since_the_story_began_is_red_whatever_the_clock_says() -> None:
    """Before or after the clock was set back; what failed before the story began still proves nothing."""
    run = run_of(tdd=RED, started=1000.0, red_from=990.0)
    for own in ((red(1010.0),), (red(110.0),), (red(990.0, failures=()), red(110.0), red(120.0))):
        story = moved(run, GREEN, seen(*own))
        assert story.red is not None
        assert story.red.at == own[-2:][0].at
    with pytest.raises(TddViolation, match="failed before"):
        moved(run, GREEN, seen(red(990.0), red(1010.0), red(120.0)))
    shown = run.with_story(run.story("S1").but(tdd=GREEN, red=tdd_moves._proof(red(120.0), (), "")))
    again = moved(shown, VERIFY, seen(green(130.0)))
    runs = seen(red(125.0), green(130.0, failures=(TEST,)), red(140.0))
    assert tdd_moves.red_of(again, runs)[0] is None


def test_after_the_clock_was_set_back_what_is_completed_next_is_the_last() -> None:
    """By however little: who asks for the last completion is not told an earlier one."""
    over = done(id="S1", status=StoryStatus.COMPLETED, completed=1e9)
    run = moved_story(a_run(over, done(id="S2")), "S2", StoryStatus.COMPLETED, FACTS, 500.0)
    assert 1e9 < run.story("S2").completed < 1e9 + 1
    run = moved_story(a_run(over, done(id="S2")), "S2", StoryStatus.COMPLETED, FACTS, 2e9)
    assert run.story("S2").completed == 2e9


def test_runs_side_by_side_count_in_the_order_of_their_records() -> None:
    """Of two runs at once the one that ended first may be recorded last; and it is not forgotten."""
    records = (red(20.0, started=10.0), green(19.0, started=12.0))
    assert tdd_moves.parted(records, [20.0, 0.0]) == (records[:1], records[1:])
    assert tdd_moves.parted(records, [7.0])[1] == records


def test_green_without_red_is_none() -> None:
    """A phase that somebody wrote into the file by hand brings no proof along."""
    with pytest.raises(TddViolation, match="red was never shown"):
        moved(run_of(tdd=GREEN), VERIFY, seen(green()))


def test_green_needs_a_tree() -> None:
    """Outside of what git can say no run counts."""
    proof, _ = tdd_moves.red_of(run_of().story("S1"), seen(red()))
    with pytest.raises(TddViolation, match="git does not say"):
        moved(run_of(tdd=GREEN, red=proof), VERIFY, WorkFacts(records=(green(),)))


def test_a_part_that_names_the_test_is_green() -> None:
    """A report says by name that this very test passed; then the rest of the suite need not have run."""
    proof, _ = tdd_moves.red_of(run_of().story("S1"), seen(red()))
    part = record(30.0, Outcome.PARTIAL, passed=(TEST, "other"))
    story = moved(run_of(tdd=GREEN, red=proof), VERIFY, seen(part))
    assert story.green is not None
    assert story.green.tests == (TEST,)


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (FILES, []),
        ({**FILES, "sum.py": "c" * 40}, []),
        ({**FILES, "tests/test_sum.py": "c" * 40}, ["tests/test_sum.py"]),
        ({"sum.py": "b" * 40}, ["tests/test_sum.py"]),
    ],
)
def test_a_test_that_was_changed_is_named(files: dict[str, str], named: list[str]) -> None:
    """Edited or gone between red and green: the reviewer is shown which file."""
    proof, _ = tdd_moves.red_of(run_of().story("S1"), seen(red()))
    story = moved(run_of(tdd=GREEN, red=proof), VERIFY, seen(green(), files=files))
    assert story.green is not None
    assert list(story.green.changed) == named
    lines = drawn("cycle", story=story)
    assert all(f"- {path}" in lines for path in named)
    assert bool(named) == ("### Tests that were changed between RED and GREEN" in lines)


def test_a_test_whose_file_nobody_knows_is_said() -> None:
    """No file is taken for unchanged that nobody could name."""
    proof, _ = tdd_moves.red_of(run_of().story("S1"), seen(red(files=())))
    story = moved(run_of(tdd=GREEN, red=proof), VERIFY, seen(green()))
    assert "in which file the test stands is not known" in "\n".join(drawn("cycle", story=story))


def test_the_next_test_needs_its_own_red() -> None:
    """Back to red, the proof of the test before counts no more; older failures neither."""
    proof, _ = tdd_moves.red_of(run_of().story("S1"), seen(red()))
    done, _ = tdd_moves.green_of(proof or state.TestProof(0.0), seen(green()))
    story = moved(run_of(tdd=VERIFY, red=proof, green=done), RED, seen(red(), green()))
    assert (story.tdd, story.red) == (RED, None)
    again = run_of(tdd=RED, green=done)
    with pytest.raises(TddViolation):
        moved(again, GREEN, seen(red(), green()))
    assert moved(again, GREEN, seen(red(), green(), red(40.0))).red is not None


def test_every_move_that_the_table_lacks_is_refused() -> None:
    """Whatever the runs show, none is skipped; whatever the table has, no proof is skipped."""
    proof, _ = tdd_moves.red_of(run_of().story("S1"), seen(red()))
    for here, wanted in product(TddPhase, (RED, GREEN, REFACTOR, VERIFY)):
        run = run_of(tdd=here, red=None if here in (NONE, RED) else proof)
        allowed = wanted in (*TDD.legal(here), here, RED)
        for runs, shown in ((seen(red(), green()), True), (seen(), False)):
            if allowed and (shown or wanted in (RED, here)):
                assert moved(run, wanted, runs).tdd is wanted
            else:
                with pytest.raises(TddViolation) as refused:
                    moved(run, wanted, runs)
                assert refused.value.current is here


def test_a_waiver_has_a_reason_and_leaves_out_the_cycle() -> None:
    """Documents, configuration, pure refactoring: shown with the reason, refused without."""
    run = tdd_moves.waived(run_of(), "s1", "  documents\nonly ", seen(), ["README.md", "a.toml"])
    story = run.story("S1")
    assert story.waived == "documents only"
    assert "Waived: documents only" in drawn("cycle", story=story)
    assert moved(run, VERIFY, seen()).tdd is VERIFY
    assert tdd_moves.forbids_edits(run, seen()) is None
    with pytest.raises(Refused, match="needs a reason"):
        tdd_moves.waived(run_of(), "S1", " \n", seen(), [])


def test_a_waiver_is_for_no_code_that_was_not_tested_before() -> None:
    """Refused once code changed; where the tests passed before it did, that stays with the waiver."""
    for runs in (seen(), seen(green())):
        with pytest.raises(Refused, match=r"has changed sum\.py, so its cycle is not waived"):
            tdd_moves.waived(run_of(), "S1", "tidy", runs, ["README.md", "sum.py"])
    for runs in (seen(), seen(red()), seen(green(), red(60.0)), replace(seen(green()), tree="x")):
        assert tdd_moves.waived(run_of(), "S1", "tidy", runs, []).story("S1").waived_on == ""
    assert (
        tdd_moves.waived(run_of(started=0.0), "S1", "x", seen(green()), []).stories[0].waived_on
        == ""
    )
    run = tdd_moves.waived(run_of(), "S1", "tidy", seen(green()), [])
    assert run.story("S1").waived_on == "tree"
    again = tdd_moves.waived(run, "S1", "tidier", seen(), ["sum.py"]).story("S1")
    assert (again.waived, again.waived_on) == ("tidier", "tree")


def test_a_completed_story_is_left_as_it_is() -> None:
    """Its cycle is over."""
    run = run_of(status=StoryStatus.COMPLETED)
    with pytest.raises(Refused, match="S1 is completed"):
        tdd_moves.moved_phase(run, "S1", RED, seen(), 50.0)
    with pytest.raises(Refused, match="S1 is completed"):
        tdd_moves.waived(run, "S1", "x", seen(), [])
    story = run_of(status=StoryStatus.COMPLETED, tdd=VERIFY).story("S1")
    assert tdd_moves.remembered(story, seen(red(), green())) == story


@pytest.mark.parametrize(
    ("given", "runs", "is_free"),
    [
        ({}, seen(), False),
        ({"tdd": RED}, seen(), False),
        ({"tdd": RED}, seen(red(asserted=())), False),
        ({"tdd": RED}, seen(red()), True),
        ({"tdd": GREEN}, seen(), True),
        ({"tdd": REFACTOR}, seen(), True),
        ({"status": StoryStatus.PENDING}, seen(), True),
        ({"status": StoryStatus.COMPLETED}, seen(), True),
        ({"unneeded": "it is there"}, seen(), True),
    ],
)
def test_code_is_free_once_a_test_was_red(
    given: dict[str, Any], runs: WorkFacts, is_free: bool
) -> None:
    """Of a story at work; where none is, nothing is forbidden."""
    violation = tdd_moves.forbids_edits(run_of(**given), runs)
    assert (violation is None) == is_free


def test_proofs_are_kept_as_soon_as_they_are_seen() -> None:
    """A gate copies them into the story, in whatever phase it is; before the cycle there is nothing."""
    story = run_of(tdd=RED).story("S1")
    kept = tdd_moves.remembered(story, seen(red()))
    assert kept.red is not None
    assert kept.green is None
    kept = tdd_moves.remembered(changed(kept, tdd=GREEN), seen(green()))
    assert kept.green is not None
    assert tdd_moves.remembered(run_of().story("S1"), seen(red())).red is None
