"""What a run of a check came to, from values alone: its commands, the last run beside it, its files."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from lifecycle.evidence.checks import run_findings
from lifecycle.evidence.checks.check_process import ProcessEnd
from lifecycle.evidence.outcomes import Counts, Outcome, Reading
from lifecycle.evidence.records import RunRecord

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED
RUN = RunRecord(100.0, "make", Outcome.UNKNOWN, "")


def judged(*readings: Reading, red: set[str] | None = None, part: str = "") -> RunRecord:
    """The record of a run whose commands said this."""
    return run_findings.judged(RUN, list(readings), red or set(), part=part)


@pytest.mark.parametrize(
    ("outcomes", "whole"),
    [
        ("passed", "passed"),
        ("passed nothing_ran", "nothing_ran"),
        ("nothing_ran unknown passed", "unknown"),
        ("unknown partial nothing_ran", "partial"),
        ("partial failed unknown", "failed"),
    ],
)
def test_the_worst_of_its_commands_counts(outcomes: str, whole: str) -> None:
    """With the first reason that is given for just that."""
    readings = [Reading(Outcome(word), why=f"for {word}") for word in outcomes.split()]
    found = judged(Reading(Outcome(whole)), *readings, Reading(Outcome(whole), why="later"))
    assert (found.outcome, found.why) == (whole, f"for {whole}")


def test_with_further_words_it_is_a_part_unless_it_failed() -> None:
    """A failure is one, however little was run."""
    part = judged(Reading(PASSED), part="more arguments were given")
    assert (part.outcome, part.why) == (Outcome.PARTIAL, "more arguments were given")
    red = judged(Reading(FAILED, why="exit status 2"), part="more arguments were given")
    assert (red.outcome, red.why) == (FAILED, "exit status 2")
    whole = judged(Reading(PASSED))
    assert (whole.outcome, whole.why) == (PASSED, "")


def test_what_the_commands_counted_is_added_up() -> None:
    """One that counts nothing adds nothing, and without any there are no counts."""
    found = judged(
        Reading(FAILED, Counts(1, 2, 3, 4), ("a",), "", ("a",)),
        Reading(PASSED),
        Reading(FAILED, Counts(10, 20, 30, 40), ("b", "c"), "", ("c",)),
    )
    assert found.counts is not None
    assert [found.counts.passed, found.counts.failed] == [11, 22]
    assert [found.counts.skipped, found.counts.errors] == [33, 44]
    assert (found.failures, found.asserted) == (("a", "b", "c"), ("a", "c"))
    assert (judged(Reading(PASSED)).counts, judged(Reading(PASSED)).asserted) == (None, None)
    assert judged(Reading(FAILED, failures=("a",), asserted=())).asserted == ()


def test_of_very_many_failures_the_first_are_kept() -> None:
    """A hundred, and as many of those that failed by their assertion, or passed again."""
    names = tuple(f"t{number}" for number in range(101))
    found = judged(Reading(FAILED, Counts(), names, "", names, names), red={*names})
    assert found.failures == found.asserted == found.passed == names[:100]


def test_of_those_that_passed_only_what_was_red_is_kept() -> None:
    """Each once, in the order in which they came."""
    one = Reading(PASSED, passed=("a", "b", "c"))
    assert judged(one, Reading(PASSED, passed=("c", "a")), red={"c", "a", "x"}).passed == ("a", "c")


def test_the_last_percentage_counts() -> None:
    """Zero is one; where none was read there is none."""
    assert judged(Reading(PASSED, percent=80.0), Reading(PASSED, percent=0.0)).percent == 0.0
    assert judged(Reading(PASSED, percent=80.0), Reading(PASSED)).percent == 80.0
    assert judged(Reading(PASSED)).percent is None


def passed(seconds: float, tests: int | None = None) -> RunRecord:
    """A run that passed, and took so long."""
    counts = None if tests is None else Counts(passed=tests)
    return replace(RUN, outcome=PASSED, started=RUN.at - seconds, counts=counts)


@pytest.mark.parametrize(
    ("before", "seconds", "is_said"),
    [(5.0, 0.99, True), (5.0, 1.0, False), (4.99, 0.1, False), (50.0, 9.9, True)],
)
def test_a_run_that_is_far_quicker_is_said(before: float, seconds: float, is_said: bool) -> None:
    """Less than a fifth, of one that took five seconds or more."""
    said = run_findings.odd_beside(passed(seconds), [passed(before)], seconds)
    took = f"It took {seconds:.1f} seconds, and {before:.1f} when it passed last"
    sentence = f"{took}: see whether all of it ran."
    assert said == ([sentence] if is_said else [])


@pytest.mark.parametrize(
    ("before", "now", "is_said"),
    [
        (10, 4, True),
        (10, 5, False),
        (9, 1, False),
        (100, 49, True),
        (None, 1, False),
        (10, None, False),
    ],
)
def test_a_run_of_far_fewer_tests_is_said(
    before: int | None, now: int | None, is_said: bool
) -> None:
    """Less than half, of ten or more; without counts nobody can say."""
    said = run_findings.odd_beside(passed(1, now), [passed(1, before)], 1.0)
    sentence = f"It ran {now} tests, and {before} when it passed last: see whether all were found."
    assert said == ([sentence] if is_said else [])


def test_it_is_held_against_the_last_that_passed() -> None:
    """And only if it passed itself."""
    failed = replace(passed(100, 100), outcome=FAILED)
    assert (
        run_findings.odd_beside(passed(1, 1), [passed(100, 100), passed(1, 1), failed], 1.0) == []
    )
    older = replace(passed(1, 1), at=RUN.at - 50, started=RUN.at - 51)
    assert run_findings.odd_beside(passed(1, 1), [older, passed(100, 100)], 1.0) == [
        "It took 1.0 seconds, and 100.0 when it passed last: see whether all of it ran.",
        "It ran 1 tests, and 100 when it passed last: see whether all were found.",
    ]
    assert run_findings.odd_beside(passed(1, 1), [failed], 1.0) == []
    assert run_findings.odd_beside(passed(1, 1), [], 1.0) == []
    assert run_findings.odd_beside(failed, [passed(100, 100)], 1.0) == []


def test_files_that_differ_are_those_of_another_content_and_of_one_side() -> None:
    """What is the same on both sides is none of them."""
    before, after = {"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"}
    assert run_findings.differing(before, after) == {"b", "c", "d"}


def test_what_is_new_and_not_tracked_was_made_all_else_was_changed() -> None:
    """What a run only made voids nothing; a change, also of a file that git does not know, does."""
    run, before = replace(RUN, tree="tree"), {"tracked", "loose"}
    made = run_findings.written(run, before, {"z", "y"}, set())
    assert (made.tree, made.changed, made.made) == ("tree", (), ("y", "z"))
    both = run_findings.written(run, before, {"z", "tracked", "loose", "new"}, {"tracked", "new"})
    assert (both.tree, both.changed, both.made) == ("", ("loose", "new", "tracked"), ("z",))


def test_what_is_said_of_files() -> None:
    """Five are named, and how many more there are; the fix is for what git does not track."""
    made = replace(RUN, made=("a", "b", "c", "d", "e"))
    assert run_findings.on_files(made, set()) == [
        "It made a, b, c, d, e, which git neither tracks nor ignores."
    ]
    more = replace(RUN, made=(*made.made, "f", "g"))
    assert run_findings.on_files(more, set()) == [
        "It made a, b, c, d, e and 2 more, which git neither tracks nor ignores."
    ]
    evidence = "while it ran, so it is no evidence. Run it once more if that is over."
    changed = replace(RUN, changed=("a", "b"))
    assert run_findings.on_files(changed, {"a", "b"}) == [f"a, b changed {evidence}"]
    assert run_findings.on_files(changed, {"a"}) == [
        f"a, b changed {evidence} If b is output, delete it or name it in .gitignore."
    ]
    assert run_findings.on_files(RUN, set()) == []


@pytest.mark.parametrize(
    ("end", "outcome", "why"),
    [
        (ProcessEnd(127, error="x is not installed"), FAILED, "x is not installed"),
        (ProcessEnd(124, is_late=True), Outcome.PARTIAL, "its time of 2.5 seconds was up"),
        (ProcessEnd(143, signal=signal.SIGTERM), Outcome.PARTIAL, "it was stopped (SIGTERM)"),
    ],
)
def test_a_command_that_did_not_come_to_its_end(
    end: ProcessEnd, outcome: Outcome, why: str
) -> None:
    """It cannot be started; its time was up; or we were told to end."""
    found = run_findings.cut_short(end, 2.5)
    assert (found.outcome, found.why) == (outcome, why)
    assert (
        "its time of 1 second was up"
        in run_findings.cut_short(ProcessEnd(124, is_late=True), 1).why
    )
