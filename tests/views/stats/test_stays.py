"""The edges of a visit: whose it is, when it begins, what is said twice, and what is silence."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace

import pytest

from lifecycle.storage import journal
from lifecycle.views.stats.visits import Visit, visits
from tests.views.stats.journals import MINUTE, blocked, checked, moved, phase, refused


def test_what_is_not_known_of_a_visit_is_nothing() -> None:
    """Only its system and its stage are always known."""
    defaults = {
        field.name: field.default for field in fields(Visit) if field.default is not MISSING
    }
    assert list(defaults) == [
        "task", "actor", "session", "began", "ended", "away", "failed", "target", "is_passed",
    ]  # fmt: skip
    assert not any(defaults.values())


@pytest.mark.parametrize(
    ("seconds", "away", "spent"),
    [(0.0, 0.0, 0.0), (60.0, 0.0, 60.0), (7_202.0, 7_201.0, 1.0), (7_201.4, 7_201.0, None)],
)
def test_a_visit_that_is_nothing_but_silence_has_no_time(
    seconds: float, away: float, spent: float | None
) -> None:
    """One of no length at all has: nobody was away."""
    assert Visit("stages", "CODING", began=5.0, ended=5.0 + seconds, away=away).seconds == spent


@pytest.mark.parametrize(("seconds", "away"), [(7_200.0, 0.0), (7_201.0, 7_201.0)])
def test_two_hours_of_silence_are_still_work(seconds: float, away: float) -> None:
    """A second more is time away."""
    (coding, _) = visits([moved(0, "", "CODING"), moved(seconds / MINUTE, "CODING", "TESTING")])
    assert coding.away == away


def test_a_sign_of_the_task_from_another_session_is_a_sign() -> None:
    """Whoever else works on it: nobody was away from the task."""
    signs = [replace(blocked(minute), session="other") for minute in range(100, 400, 100)]
    (coding, _) = visits([moved(0, "", "CODING"), *signs, moved(400, "CODING", "TESTING")])
    assert (coding.seconds, coding.away) == (400 * MINUTE, 0)


def test_what_lies_there_since_its_session_left_it_is_silent() -> None:
    """From when that was, though the entry that shows it is of another task."""
    entries = [
        moved(0, "", "CODING", "#1", session="a"),
        moved(10, "", "CODING", "#2", session="a"),
        moved(190, "TESTING", "ORACLE_REVIEW", "#1", session="b"),
    ]
    (testing,) = [one for one in visits(entries) if one.stage == "TESTING"]
    assert (testing.away, testing.seconds) == (180 * MINUTE, None)


def test_only_what_follows_next_task_takes_over_the_stage_of_a_session() -> None:
    """Everywhere else another task's stage is another one: the first ended there, unnoticed."""
    found = visits([moved(0, "", "CODING", "#1"), moved(10, "CODING", "TESTING", "#2")])
    assert [(one.task, one.stage, one.seconds, one.target) for one in found] == [
        ("#1", "CODING", 10 * MINUTE, ""),
        ("#2", "CODING", None, "TESTING"),
        ("#2", "TESTING", None, ""),
    ]


def test_an_unknown_begin_is_not_before_the_tasks_last_end() -> None:
    """The task came back: what is begun now was begun after all that has ended."""
    entries = [
        moved(0, "", "CODING"),
        moved(3, "CODING", "TESTING"),
        moved(5, "TESTING", ""),
        moved(20, "CODING", "TESTING"),
    ]
    assert visits(entries)[2].seconds == 15 * MINUTE
    others = [blocked(0, "#7"), *entries[:3], phase(20, "coding", "ready_for_pr", "#7")]
    assert visits(others)[2].seconds == 20 * MINUTE  # by its own signs alone


def test_a_report_that_names_no_stage_counts_where_it_was_made() -> None:
    """What was refused is an attempt at the stage that stays."""
    (testing,) = visits([moved(0, "", "TESTING"), refused(5, "TESTING", "")])
    assert (testing.stage, testing.failed) == ("TESTING", 1)
    assert visits([refused(5, "odd", "")]) == ()


def test_a_report_at_a_later_stage_ends_what_was_open() -> None:
    """Unnoticed, the work had gone on to it."""
    coding, testing = visits([moved(0, "", "CODING"), refused(5, "", "TESTING")])
    assert (coding.target, coding.seconds, coding.is_passed) == ("TESTING", 5 * MINUTE, True)
    assert (testing.stage, testing.failed, testing.ended) == ("TESTING", 1, None)


def test_only_a_check_is_red() -> None:
    """Whatever else an entry of another kind says."""
    note = replace(checked(1, journal.RED), kind=journal.WRITE)
    assert [one.failed for one in visits([moved(0, "", "TESTING"), note])] == [0]


def test_a_visit_is_whose_it_was_begun_by() -> None:
    """Where nobody is named at its begin, it is of who ended it."""
    entries = [
        moved(0, "", "CODING", actor=""),
        moved(5, "CODING", "TESTING", actor="ada"),
        moved(9, "TESTING", "ORACLE_REVIEW", actor="bob"),
    ]
    assert [one.actor for one in visits(entries)] == ["ada", "ada", "bob"]


def test_of_two_stages_of_a_task_the_one_that_is_left_is_left() -> None:
    """Another session, which knew no task, was at the later one: both go on from here as one."""
    entries = [
        moved(0, "", "TESTING", "", session="a"),
        moved(1, "", "CODING", "#1", session="b"),
        moved(5, "CODING", "TESTING", "#1", session="a"),
    ]
    assert [(one.task, one.stage, one.target) for one in visits(entries)] == [
        ("", "TESTING", "CODING"), ("#1", "CODING", "TESTING"), ("#1", "TESTING", ""),
    ]  # fmt: skip


def test_each_step_from_next_task_begins_another_task() -> None:
    """Though nobody named either, and the work is in that stage already."""
    entries = [moved(n, "NEXT_TASK", "CODING", "") for n in (0, 9)]
    assert [(one.stage, one.target) for one in visits(entries)] == [
        ("NEXT_TASK", "CODING"), ("CODING", "NEXT_TASK"), ("NEXT_TASK", "CODING"), ("CODING", ""),
    ]  # fmt: skip
    assert [one.stage for one in visits([phase(0, "NEXT_TASK", "coding")])] == ["coding"]


def test_only_a_step_onward_in_the_workflow_is_said_twice() -> None:
    """A step back that is made again went on meanwhile, and so did a claim."""
    back = [moved(0, "", "TESTING"), moved(5, "TESTING", "CODING"), moved(8, "TESTING", "CODING")]
    assert [(one.stage, one.target) for one in visits(back)] == [
        ("TESTING", "CODING"), ("CODING", "TESTING"), ("TESTING", "CODING"), ("CODING", ""),
    ]  # fmt: skip
    claim = [phase(n, "coding", "ready_for_pr") for n in (1, 2)]
    assert [(one.stage, one.target) for one in visits(claim)] == [
        ("coding", "ready_for_pr"), ("ready_for_pr", "coding"), ("coding", "ready_for_pr"),
        ("ready_for_pr", ""),
    ]  # fmt: skip


def test_the_step_to_the_next_task_ends_its_own_sessions_stage() -> None:
    """Another session's stays open, also where it was begun later."""
    entries = [
        moved(0, "COMMIT_CLOSE", "NEXT_TASK", "#1", session="a"),
        moved(1, "COMMIT_CLOSE", "NEXT_TASK", "#2", session="b"),
        moved(5, "NEXT_TASK", "CODING", "#3", session="a"),
    ]
    lasting = [(one.task, one.stage) for one in visits(entries) if one.ended is None]
    assert lasting == [("#2", "NEXT_TASK"), ("#3", "CODING")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (phase(0, "", "coding", "#1", session="s"), phase(5, "", "coding", "#2", session="s")),
        (moved(0, "", "CODING", "#1", session=""), moved(5, "", "CODING", "#2", session="")),
        (phase(0, "", "coding", "#1", session="s"), moved(5, "", "CODING", "#2", session="s")),
        (moved(0, "", "CODING", "#1", session="s"), phase(5, "", "coding", "#2", session="s")),
    ],
)
def test_only_the_workflow_says_that_a_session_is_at_one_task(
    first: journal.JournalEntry, second: journal.JournalEntry
) -> None:
    """A claim lasts while its session works on another, and without a session nobody left anything."""
    assert [one.task for one in visits([first, second]) if one.ended is None] == ["#1", "#2"]


def test_work_without_a_task_is_the_same_by_its_session_in_the_workflow_alone() -> None:
    """Neither a claim's, nor that of two sessions, nor that of none: the first goes on beside it."""
    pairs = [
        [phase(0, "", "coding", "", session="s"), phase(5, "coding", "done", "", session="s")],
        [moved(0, "", "CODING", "", session=""), moved(5, "CODING", "TESTING", "", session="")],
        [moved(0, "", "CODING", "", session="a"), moved(5, "", "TESTING", "", session="b")],
        [moved(0, "", "CODING", "", session="a"), moved(5, "", "TESTING", "", session="a")],
    ]
    lasting = [[one.stage for one in visits(pair) if one.ended is None] for pair in pairs]
    assert lasting == [
        ["coding", "done"],
        ["CODING", "TESTING"],
        ["CODING", "TESTING"],
        ["TESTING"],
    ]


def test_a_step_to_the_same_stage_leads_nowhere() -> None:
    """It is tried again."""
    first, again = visits([moved(0, "", "TESTING"), moved(5, "TESTING", "TESTING")])
    assert (first.is_passed, first.attempts, again.ended) == (False, 1, None)
