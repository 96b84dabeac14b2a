"""What counts for which number of `lifecycle stats`, and from where on it counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry
from lifecycle.views.stats.summary import Summary, Wanted
from lifecycle.views.stats.visits import visits
from tests.views.stats.journals import MINUTE, NOW, WHOLE, blocked, checked, moved, phase, refused


def tried(*reds: int, coding: float = 900, testing: float = 10) -> list[JournalEntry]:
    """Tasks with so many red runs each; all of the coding and all of the testing took so many minutes."""
    entries: list[JournalEntry] = []
    each, then = coding / len(reds), testing / len(reds)
    for number, red in enumerate(reds, 1):
        start = 10_000 * number
        signs = [blocked(start + n, f"#{number}") for n in range(0, int(each), 100)]
        entries += [
            moved(start, "", "CODING", f"#{number}"),
            *signs,
            moved(start + each, "CODING", "TESTING", f"#{number}"),
            *(checked(start + each + then / 2, journal.RED) for _ in range(red)),
            moved(start + each + then, "TESTING", "", f"#{number}"),
        ]
    return entries


def why(summary: Summary, name: str) -> tuple[str, ...]:
    """Why a stage is a bottleneck; () if it is none."""
    return next((tuple(row.why) for row in summary.bottlenecks if row.name == name), ())


@pytest.mark.parametrize(
    ("reds", "reasons"),
    [
        ((1, 0, 0, 0), ("1 of 5 attempts failed", "#1 took 2")),
        ((0, 1, 0, 0, 0), ()),
        ((0, 0, 0, 0), ()),
        ((1,), ("1 of 2 attempts failed",)),
        ((2, 1), ("3 of 5 attempts failed", "#1 took 3")),
        ((1, 1, 1, 2), ("5 of 9 attempts failed", "#4 took 3")),
    ],
)
def test_five_attempts_for_four_that_led_onward_are_too_many(
    reds: tuple[int, ...], reasons: tuple[str, ...]
) -> None:
    """Fewer are none; which task took the most is told if there were several."""
    assert why(Summary(tried(*reds)), "TESTING") == reasons


def test_where_no_task_needed_a_second_attempt_none_is_named() -> None:
    """One task passed, another was sent back and has not come again."""
    entries = [
        *tried(0),
        moved(0, "", "TESTING", "#9", session="b"),
        moved(5, "TESTING", "CODING", "#9", session="b"),
    ]
    assert why(Summary(entries), "TESTING")[0] == "1 of 2 attempts failed"
    assert len(why(Summary(entries), "TESTING")) == 1


@pytest.mark.parametrize(
    ("coding", "testing", "reasons"),
    [(70, 30, ("30 % of all time",)), (71, 29, ()), (20, 80, ("80 % of all time",))],
)
def test_three_tenths_of_the_time_are_much(
    coding: float, testing: float, reasons: tuple[str, ...]
) -> None:
    """Of a stage among several; one alone takes all of it and holds nothing up."""
    found = Summary(tried(0, coding=coding, testing=testing))
    assert why(found, "TESTING") == reasons
    alone = [moved(0, "", "TESTING"), moved(10, "TESTING", "")]
    assert Summary(alone).bottlenecks == []


def test_the_worst_bottleneck_comes_first() -> None:
    """By its part of the time and its part of attempts in vain, added."""
    slow = Summary(tried(1, 0, 0, 0)).bottlenecks
    assert [(one.system, one.name) for one in slow] == [("stages", "CODING"), ("stages", "TESTING")]
    assert [round(one.weight, 3) for one in slow] == [0.989, 0.211]
    vain = Summary(tried(8, coding=50, testing=50)).bottlenecks
    assert [one.name for one in vain] == ["TESTING", "CODING"]


@pytest.mark.parametrize(
    ("entry", "is_done"),
    [
        (phase(5, "done", journal.CLOSED), True),
        (phase(5, "coding", journal.RELEASED), False),
        (phase(5, "coding", ""), False),
        (phase(5, "done", journal.CLOSED, ""), False),
        (replace(phase(5, "done", journal.CLOSED), kind=journal.REFUSED), False),
        (moved(5, "COMMIT_CLOSE", ""), True),
        (moved(5, "COMMIT_CLOSE", "NEXT_TASK"), True),
        (moved(5, "COMMIT_CLOSE", "CODING"), False),
        (moved(5, "TESTING", "NEXT_TASK"), False),
        (moved(5, "TESTING", ""), True),
        (moved(5, "odd", ""), False),
    ],
)
def test_a_task_is_done_once_it_is_closed_or_past_its_last_stage(
    entry: JournalEntry, *, is_done: bool
) -> None:
    """A line may end at any stage; a claim ends with the closed issue alone. The first time counts."""
    again = replace(entry, at=entry.at + MINUTE)
    assert Summary([entry, again]).done == ({"#42": entry.at} if is_done else {})


def test_a_summary_says_what_it_is_about() -> None:
    """Moments and entries of what was wanted."""
    found = Summary(WHOLE, Wanted(since=NOW + 45 * MINUTE))
    assert (found.since, found.until) == (NOW + 45 * MINUTE, NOW + 63 * MINUTE)
    assert found.entries == 4
    # The visit that ended at that very moment is one of them.
    assert [row.name for row in found.stages] == [
        "CODING", "TESTING", "ORACLE_REVIEW", "COMMIT_CLOSE", "NEXT_TASK",
    ]  # fmt: skip
    assert [visit.stage for visit in found.told][-2:] == ["NEXT_TASK", "CODING"]
    later = Summary(WHOLE, Wanted(since=NOW + 100 * MINUTE))
    assert (dict(later.tasks), later.entries) == ({"#43": ""}, 0)  # it lasts
    nothing = Summary([])
    assert (nothing.since, nothing.until, nothing.entries) == (0.0, 0.0, 0)


def test_labels_and_titles_are_the_newest_that_were_noted() -> None:
    """An entry that names none leaves those that are known; a label that was taken off is gone."""
    entries = [
        moved(0, "", "CODING", "#1", detail={"labels": ["a", "b"], "title": "Old"}),
        moved(1, "CODING", "TESTING", "#1", detail={"labels": ["b"], "title": "New"}),
        moved(2, "TESTING", "ORACLE_REVIEW", "#1", detail={"title": ""}),
        moved(3, "", "CODING", "#2", session="other", detail={"labels": "b", "title": "Two"}),
        moved(4, "", "CODING", "", session="a third", detail={"labels": ["c"]}),
    ]
    found = Summary(entries)
    assert [(group.name, group.tasks) for group in found.labels] == [("b", 1)]
    assert dict(found.tasks) == {"#1": "New", "#2": "Two"}
    assert dict(Summary(entries, Wanted(label="b")).tasks) == {"#1": "New"}
    assert Summary(entries, Wanted(label="c")).entries == 0
    assert Summary(entries, Wanted(label="a")).entries == 0
    assert [visit.task for visit in Summary(entries, Wanted(task="#2")).told] == ["#2"]


def test_tasks_come_in_the_order_in_which_they_came_up() -> None:
    """By the begin of their first visit, or by an entry that belongs to no visit."""
    entries = [blocked(1, "#9"), moved(2, "", "CODING", "#7", session="a"), blocked(3, "#8")]
    assert list(Summary(entries).tasks) == ["#9", "#7", "#8"]


def test_visits_are_told_in_the_order_in_which_they_began() -> None:
    """By the end where nobody noted the begin; first of all what has neither."""
    entries = [
        phase(0, "", "coding", "#1"),
        moved(5, "CODING", "TESTING", "#2", session="a"),
        refused(9, "REQUIREMENTS_REVIEW", "", "#3"),
        JournalEntry(NOW + 3 * MINUTE, journal.RUN, journal.TRANSITION, "run", target="S1 testing"),
    ]
    assert [(one.task, one.stage) for one in Summary(entries).told] == [
        ("#3", "REQUIREMENTS_REVIEW"), ("#1", "coding"), ("run", "S1"), ("#2", "CODING"),
        ("#2", "TESTING"),
    ]  # fmt: skip


def test_a_group_has_the_numbers_of_its_tasks() -> None:
    """Attempts and success of all its visits, whole tasks' times; most tasks first, then the newest."""
    entries = [
        *(replace(entry, actor="bob" if entry.task == "#3" else "ada") for entry in tried(1, 0, 0)),
        blocked(50_000, "#3"),
    ]
    ada, bob = Summary(entries).agents
    assert (ada.name, ada.tasks, ada.done, ada.attempts, ada.passed) == ("ada", 2, 2, 5, 4)
    assert ada.success == pytest.approx(4 / 5)
    assert ada.times.count == 2
    assert ada.times.mean / MINUTE == pytest.approx(910 / 3)
    assert (bob.name, bob.tasks, bob.success) == ("bob", 1, 1.0)
    same = [
        moved(0, "", "CODING", "#1", actor="b", session="s"),
        moved(1, "", "CODING", "#2", actor="a", session="t"),
        moved(2, "", "CODING", "#3", actor="c", session="u"),
        moved(3, "CODING", "TESTING", "#1", actor="b", session="s"),
    ]
    assert [(group.name, group.success) for group in Summary(same).agents] == [
        ("b", 1.0), ("c", None), ("a", None),
    ]  # fmt: skip


def test_who_ends_a_task_has_it_among_its_tasks() -> None:
    """Whoever the last step names; where it names nobody, everyone who worked on the task."""
    start = moved(0, "", "CODING", actor="ada")
    by_bob = Summary([start, phase(9, "done", journal.CLOSED, actor="bob")])
    assert {g.name: (g.tasks, g.done) for g in by_bob.agents} == {"ada": (1, 0), "bob": (1, 1)}
    by_nobody = Summary([start, phase(9, "done", journal.CLOSED, actor="")])
    assert {g.name: (g.tasks, g.done) for g in by_nobody.agents} == {"ada": (1, 1)}


def test_work_without_a_task_counts_by_its_session() -> None:
    """Two sessions that nobody told a task are two pieces of work, and none of the tasks."""
    entries = [
        moved(0, "", "TESTING", "", session="a"),
        checked(1, journal.RED),
        moved(5, "TESTING", "", "", session="a"),
        moved(6, "", "TESTING", "", session="b"),
        moved(9, "TESTING", "", "", session="b"),
    ]
    found = Summary(entries)
    (testing,) = found.stages
    assert (testing.tasks, testing.visits, testing.times.total) == (2, 2, 8 * MINUTE)
    assert (found.tasks, found.spent, found.tries) == ({}, {}, {})


def test_work_that_nobody_named_counts_for_nothing() -> None:
    """Neither task nor session: the stay is there, and is no task's attempt."""
    (coding,) = Summary([phase(0, "", "coding", "")]).phases
    assert (coding.tasks, coding.most, coding.hardest, coding.per_task) == (0, 0, "", None)
    assert coding.share == 0.0
    (coding, _) = Summary([phase(5, "coding", "ready_for_pr", "")]).phases
    assert (coding.tasks, coding.attempts, coding.per_task) == (0, 1, None)
    (begun,) = Summary([phase(0, "", "coding")]).phases
    assert (begun.tasks, begun.attempts, begun.per_task, begun.success) == (1, 0, None, None)


def test_signs_of_the_session_are_signs_of_its_work() -> None:
    """Where no task is named they tell when it began, and that it was not away."""
    signs = [blocked(minute, "") for minute in range(5, 305, 100)]
    (coding, _) = visits([*signs, moved(305, "CODING", "TESTING", "")])
    assert (coding.seconds, coding.away) == (300 * MINUTE, 0)
    named = [moved(5, "", "CODING"), *signs[1:], moved(305, "CODING", "TESTING")]
    assert (visits(named)[0].seconds, visits(named)[0].away) == (300 * MINUTE, 0)
