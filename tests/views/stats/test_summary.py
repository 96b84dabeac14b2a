"""What the visits come to: times, success, attempts, bottlenecks, groups."""

from __future__ import annotations

import json
import math
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.cli.views.stats import summary_data
from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry
from lifecycle.views.stats.stats_page import charts
from lifecycle.views.stats.summary import Flake, StatsRow, Summary, Times, Wanted, rate
from tests.views.stats.journals import CLAIMED, MINUTE, NOW, WHOLE, checked, moved, phase
from tests.views.stats.test_visits import ENTRIES, step

HARD = tuple(
    entry
    for number, reds in enumerate((0, 1, 4), 1)
    for entry in (
        moved(100 * number, "", "TESTING", f"#{number}", detail={"labels": [f"auto:{number % 2}"]}),
        *(checked(100 * number + 1 + n, journal.RED) for n in range(reds)),
        moved(100 * number + 10, "TESTING", "COMMIT_CLOSE", f"#{number}"),
        moved(100 * number + 11, "COMMIT_CLOSE", "", f"#{number}"),
    )
)
"""Three tasks whose tests fail never, once, and four times."""


def row(name: str, *entries: JournalEntry) -> StatsRow:
    """The row of one stage or phase."""
    found = Summary(entries)
    (one,) = [one for one in (*found.stages, *found.phases) if one.name == name]
    return one


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [
        ([], Times(0, 0, 0, 0, 0)),
        ([5], Times(1, 5, 5, 5, 5)),
        ([1, 2, 3, 10], Times(4, 16, 4, 2.5, 10)),
        (range(1, 11), Times(10, 55, 5.5, 5.5, 9)),
        (range(1, 101), Times(100, 5050, 50.5, 50.5, 90)),
    ],
)
def test_times(seconds: list[float], wanted: Times) -> None:
    """Mean, median and the nearest rank that nine of ten do not exceed."""
    assert Times.of(seconds) == wanted


@given(st.lists(st.floats(0, 1e9), min_size=1))
def test_times_hold_together(seconds: list[float]) -> None:
    """Nine of ten are no longer than p90, which is one of them; nothing is outside of what was measured."""
    found = Times.of(seconds)
    assert found.p90 in seconds
    assert sum(one <= found.p90 for one in seconds) >= math.ceil(0.9 * len(seconds))
    assert min(seconds) <= found.median <= max(seconds)
    assert found.median == median(seconds)
    assert found.mean == pytest.approx(found.total / len(seconds))


def test_a_whole_task() -> None:
    """Each stage has one visit, one attempt and full success; the task is done when its issue is closed."""
    found = Summary(WHOLE)
    assert [one.name for one in found.stages] == [
        *("CODING", "REQUIREMENTS_REVIEW", "TESTING", "ORACLE_REVIEW", "COMMIT_CLOSE", "NEXT_TASK")
    ]
    assert [one.times.total / MINUTE for one in found.stages] == [30, 5, 10, 15, 2, 1]
    assert {one.success for one in found.stages} == {1.0}
    assert {(one.most, one.hardest) for one in found.stages} == {(1, "")}
    assert found.done == {"#42": NOW + 62 * MINUTE}
    assert dict(found.tasks) == {"#42": "Fix the race", "#43": ""}
    assert [one.task for one in found.lasting] == ["#43"]
    assert found.phases == ()


def test_attempts_and_success() -> None:
    """Three tasks needed one, two and five attempts at their tests: three of eight led onward."""
    testing = row("TESTING", *HARD)
    assert (testing.attempts, testing.passed, testing.tasks) == (8, 3, 3)
    assert testing.success == pytest.approx(3 / 8)
    assert testing.per_task == pytest.approx(8 / 3)
    assert (testing.hardest, testing.most) == ("#3", 5)


def test_who_only_just_came_into_a_stage_has_not_tried_it() -> None:
    """How often a task has to try is told of those that did: another one in the stage makes it no less."""
    testing = row("TESTING", *HARD, moved(9000, "CODING", "TESTING", "#4"))
    assert (testing.tasks, testing.tried, testing.attempts) == (4, 3, 8)
    assert testing.per_task == pytest.approx(8 / 3)


def test_bottlenecks_are_ranked_and_say_why() -> None:
    """What failed often and takes the time comes first; what is quick and passes is none."""
    (worst,) = Summary(HARD).bottlenecks
    assert worst.name == "TESTING"
    assert worst.why == ["5 of 8 attempts failed", "#3 took 5", "91 % of all time"]
    slow = Summary(WHOLE).bottlenecks
    assert [(one.name, one.why) for one in slow] == [("CODING", ["48 % of all time"])]


def test_without_stages_the_phases_tell_what_holds_work_up() -> None:
    """Where only claims are used, their phases are judged."""
    found = Summary(CLAIMED)
    assert [one.name for one in found.bottlenecks] == ["checks_running"]
    assert found.done == {"#42": NOW + 961 * MINUTE}


def test_a_task_of_both_systems_is_one() -> None:
    """It is done once, when the first of both says so, and its time is that of its stages."""
    found = Summary((*WHOLE, *CLAIMED))
    assert found.done == {"#42": NOW + 62 * MINUTE}
    (agent,) = found.agents
    assert (agent.tasks, agent.done, agent.times.median / MINUTE) == (2, 1, 63)
    for rows in (found.stages, found.phases):
        assert sum(one.share for one in rows) == pytest.approx(1)


def test_groups_by_label_and_agent() -> None:
    """Each label has its tasks, those done, and a task's time; who has most tasks comes first."""
    found = Summary(HARD)
    assert [(one.name, one.tasks, one.done, one.attempts) for one in found.labels] == [
        ("auto:1", 2, 2, 8),
        ("auto:0", 1, 1, 3),
    ]
    assert [(one.name, one.tasks) for one in found.agents] == [("octocat-1", 3)]
    assert found.labels[0].times.median == 11 * MINUTE


def test_work_of_which_nobody_knows_the_task_is_no_task() -> None:
    """Its attempts count for who made them all the same."""
    entries = (moved(0, "", "CODING", ""), moved(5, "CODING", "TESTING", ""))
    (agent,) = Summary(entries).agents
    assert (agent.tasks, agent.attempts, agent.passed) == (0, 1, 1)


def test_a_task_is_wanted_by_its_title_too() -> None:
    """In any case and whole: a run and a workflow have ids that nobody types."""
    begun = JournalEntry(NOW, "workflow", "transition", task="wf_1", detail={"title": "Big Thing"})
    for name, tasks in {"big thing": ["wf_1"], "WF_1": ["wf_1"], "Big": []}.items():
        assert list(Summary([begun], Wanted(task=name)).tasks) == tasks


def test_only_what_is_wanted() -> None:
    """A label counts with what follows its colon; a task is named with or without its sign."""
    assert list(Summary(HARD, Wanted(label="auto")).tasks) == ["#1", "#2", "#3"]
    assert list(Summary(HARD, Wanted(label="auto:1")).tasks) == ["#1", "#3"]
    assert list(Summary(HARD, Wanted(label="aut")).tasks) == []
    for name in ("2", "#2"):
        found = Summary(HARD, Wanted(task=name))
        assert list(found.tasks) == ["#2"]
        assert found.stages[0].attempts == 2


def test_since_counts_what_ended_in_the_period() -> None:
    """A visit that began before counts whole if it ended within; what ended before does not."""
    found = Summary(HARD, Wanted(since=NOW + 205 * MINUTE))
    assert list(found.tasks) == ["#2", "#3"]
    (testing, *_) = found.stages
    assert testing.visits == 2
    assert testing.times.total == 20 * MINUTE


@given(ENTRIES)
def test_any_journal_can_be_told(entries: list[JournalEntry]) -> None:
    """Whatever it holds: parts lie between 0 and 1, it is plain JSON, and every chart has its numbers."""
    found = Summary(entries)
    for one in (*found.stages, *found.phases):
        assert one.success is None or 0 <= one.success <= 1
        assert 0 <= one.share <= 1 + 1e-9
        assert one.passed <= one.attempts
    assert json.loads(json.dumps(summary_data(found)))["entries"] == len(entries)
    for chart in charts(found):
        assert all(len(bars["x"]) == len(bars["y"]) > 0 for bars in chart.bars)
        json.dumps([chart.bars, chart.layout])


def test_nothing_is_nothing() -> None:
    """An empty journal has no rows, no charts, and no moments."""
    found = Summary(())
    assert (found.stages, found.phases, found.agents, found.tasks) == ((), (), (), {})
    assert charts(found) == ()
    assert summary_data(found)["since"] is None


def test_a_part_of_nothing_is_no_part() -> None:
    """There is no success rate without an attempt."""
    assert (rate(0, 0), rate(1, 4)) == (None, 0.25)


def test_an_issue_is_one_task_however_it_is_spelled() -> None:
    """`41` and `#41` in the journal are one task in the numbers."""
    told = Summary((moved(0, "", "CODING", "#41"), checked(5, "green", task="41")))
    assert list(told.tasks) == ["#41"]


@pytest.mark.parametrize("system", [journal.RUN, journal.WORKFLOW])
def test_an_id_of_digits_alone_is_no_issue(system: str) -> None:
    """A run's id is eight hexadecimal digits: one in fifty has no letter."""
    done = JournalEntry(1, system, journal.TRANSITION, "35238297", target=journal.CLOSED)
    told = Summary((done,))
    assert (list(told.tasks), list(told.done)) == (["35238297"], ["35238297"])


def test_phases_of_workflows_are_listed_and_count_for_no_stage_or_agent() -> None:
    """They are no stays of a task: one that is open does not last, and their agent has no task of it."""
    flow = [step(n, journal.WORKFLOW, f"{n} active", "flow", actor="ada") for n in (1, 2)]
    summary = Summary((*flow, step(5, journal.WORKFLOW, "1 completed", "flow")))
    assert [visit.ended for visit in summary.told] == [NOW + 5 * MINUTE, None]
    assert (summary.stages, summary.phases, summary.agents, summary.lasting) == ((), (), (), [])


def test_a_marker_that_is_said_again_sets_nothing_back() -> None:
    """TESTS_PASSING once more during the review: the review did not fail."""
    told = Summary(
        (
            moved(0, "", "TESTING"),
            moved(5, "TESTING", "ORACLE_REVIEW"),
            moved(8, "TESTING", "ORACLE_REVIEW"),
            moved(10, "ORACLE_REVIEW", "COMMIT_CLOSE"),
        )
    )
    rows = {row.name: (row.attempts, row.passed) for row in told.stages}
    assert (rows["TESTING"], rows["ORACLE_REVIEW"]) == ((1, 1), (1, 1))


def test_a_task_is_done_for_the_agent_that_closed_it() -> None:
    """Two agents worked on it: one of them brought it to its end."""
    told = Summary(
        (
            moved(0, "", "CODING", actor="one"),
            moved(5, "CODING", "COMMIT_CLOSE", actor="one", session="a"),
            moved(9, "COMMIT_CLOSE", "NEXT_TASK", actor="two", session="b"),
            moved(12, "NEXT_TASK", "CODING", "#43", actor="two", session="b"),
        )
    )
    done = {group.name: group.done for group in told.agents}
    assert done == {"one": 0, "two": 1}


@pytest.mark.parametrize(("most", "step"), [(1, 1), (5, 1), (6, 2), (23, 5)])
def test_the_axis_of_tasks_counts_whole_tasks(most: int, step: int) -> None:
    """However few there are, no number stands beside the axis twice."""
    entries = [moved(n, "COMMIT_CLOSE", "NEXT_TASK", f"#{n}", session=f"s{n}") for n in range(most)]
    (chart,) = [one for one in charts(Summary(entries)) if one.name == "tasks-done"]
    assert chart.layout["yaxis"]["dtick"] == step


def test_each_task_has_its_time_and_attempts() -> None:
    """A task's time is that of its stages; one of whose stages no end is known has none."""
    found = Summary(WHOLE)
    assert dict(found.spent) == {"#42": 63 * MINUTE}
    assert dict(found.tries) == {"#42": 6, "#43": 0}
    assert dict(found.failed) == {"#42": 0, "#43": 0}
    assert dict(Summary(HARD).failed) == {"#1": 0, "#2": 1, "#3": 4}


def test_a_refused_close_is_an_attempt_at_the_end_that_failed() -> None:
    """GitHub did not let the issue close: the phase before goes on, and done is tried again."""
    entries = (
        phase(0, "", "merged_detected"),
        phase(10, "merged_detected", "done"),
        phase(10, "done", "merged_detected"),
        phase(20, "merged_detected", "done"),
        phase(21, "done", journal.CLOSED),
    )
    rows = {row.name: (row.attempts, row.passed) for row in Summary(entries).phases}
    assert rows == {"merged_detected": (2, 2), "done": (2, 1)}


def test_what_reconcile_repaired_is_no_task_of_this_clone() -> None:
    """A card that was set in somebody's place is in the journal, and adds no task to the numbers."""
    repair = JournalEntry(
        NOW, journal.CLAIM, journal.WRITE, "#7", target="status", detail={"by": "reconcile"}
    )
    found = Summary((*WHOLE, repair))
    assert list(found.tasks) == ["#42", "#43"]
    assert found.entries == len(WHOLE) + 1
    assert list(Summary((repair,)).tasks) == []


def flake(at: float, check: str, failed: str, task: str = "#42") -> JournalEntry:
    """A check of CI that failed and passed at one commit."""
    return JournalEntry(at, journal.CLAIM, journal.FLAKE, task=task, source=check, target=failed)


def test_flakes_are_counted_by_check_and_what_failed_in_it() -> None:
    """The most frequent first, each with its newest moment; only what is wanted, and no other entry."""
    entries = [
        flake(1.0, "test", "test_c"),
        flake(1.0, "test", "test_b"),
        flake(5.0, "test", "test_a"),
        flake(3.0, "test", "test_a", "#43"),
        flake(2.0, "lint", "tidy"),
        JournalEntry(4.0, journal.CLAIM, journal.WRITE, task="#42", source="x", target="y"),
    ]
    assert Summary(entries).flakes == (
        Flake("test", "test_a", 2, 5.0),
        Flake("lint", "tidy", 1, 2.0),
        Flake("test", "test_b", 1, 1.0),
        Flake("test", "test_c", 1, 1.0),
    )
    assert [one.times for one in Summary(entries, Wanted(task="43")).flakes] == [1]
    assert [one.failed for one in Summary(entries, Wanted(since=3.0)).flakes] == ["test_a"]
    assert Summary(entries[-1:]).flakes == ()
