"""The journal read as visits: what began when, what ended how, and what was silence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.stage_names import LINE
from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry
from lifecycle.views.stats.visits import AWAY_SECONDS, ORDER, Visit, visits
from tests.views.stats.journals import (
    CLAIMED,
    HOUR,
    MINUTE,
    NOW,
    WHOLE,
    blocked,
    checked,
    moved,
    phase,
    refused,
)


def short(found: Visit) -> tuple[str, str, float | None, str]:
    """What tells a visit: task, stage, minutes, and where it led."""
    minutes = None if found.seconds is None else found.seconds / MINUTE
    return found.task, found.stage, minutes, found.target


def test_one_task_through_all_stages() -> None:
    """Each stage lasts from the step into it to the step out of it; the next task's has not ended."""
    assert [short(one) for one in visits(WHOLE)] == [
        ("#42", "CODING", 30, "REQUIREMENTS_REVIEW"),
        ("#42", "REQUIREMENTS_REVIEW", 5, "TESTING"),
        ("#42", "TESTING", 10, "ORACLE_REVIEW"),
        ("#42", "ORACLE_REVIEW", 15, "COMMIT_CLOSE"),
        ("#42", "COMMIT_CLOSE", 2, "NEXT_TASK"),
        ("#42", "NEXT_TASK", 1, "CODING"),
        ("#43", "CODING", None, ""),
    ]
    assert all(one.is_passed and one.attempts == 1 for one in visits(WHOLE)[:-1])
    assert visits(WHOLE)[-1].attempts == 0


def test_order_in_the_file_does_not_matter() -> None:
    """Entries that had to wait stand behind later ones; they are read by their time."""
    assert visits(reversed(WHOLE)) == visits(WHOLE)


def test_the_next_tasks_coding_may_be_noted_before_its_name_is_known() -> None:
    """A step out of NEXT_TASK that still names the old task begins a stage of the one that follows."""
    entries = (*WHOLE[:-1], moved(63, "NEXT_TASK", "CODING"), moved(73, "CODING", "TESTING", "#43"))
    assert [short(one) for one in visits(entries)][5:] == [
        ("#42", "NEXT_TASK", 1, "CODING"),
        ("#43", "CODING", 10, "TESTING"),
        ("#43", "TESTING", None, ""),
    ]


def test_a_step_back_is_an_attempt_that_failed() -> None:
    """The review sends the work back: it did not pass, and coding is entered once more."""
    entries = (
        moved(0, "TESTING", "ORACLE_REVIEW"),
        moved(5, "ORACLE_REVIEW", "CODING"),
        moved(9, "CODING", "REQUIREMENTS_REVIEW"),
    )
    _, review, coding, _ = visits(entries)
    assert (review.target, review.is_passed, review.attempts) == ("CODING", False, 1)
    assert short(coding) == ("#42", "CODING", 4, "REQUIREMENTS_REVIEW")


@pytest.mark.parametrize(
    "before", [checked(3, journal.RED), refused(3, "ORACLE_REVIEW", "TESTING")]
)
def test_a_step_back_after_a_failure_is_no_second_one(before: JournalEntry) -> None:
    """One red run, or one report that was not accepted, and back to the code: the tests were tried once."""
    entries = (moved(2, "CODING", "TESTING"), before, moved(4, "TESTING", "CODING"))
    _, testing, _ = visits(entries)
    assert (testing.target, testing.failed, testing.attempts) == ("CODING", 1, 1)


def test_red_runs_and_refusals_count_in_the_stage_that_stays() -> None:
    """Red runs in TESTING and reports without evidence are attempts; a red run while coding is none."""
    entries = (
        moved(0, "", "CODING"),
        checked(1, journal.RED),
        moved(2, "CODING", "TESTING"),
        checked(3, journal.RED),
        checked(4, journal.UNKNOWN),
        checked(5, journal.GREEN),
        refused(6, "ORACLE_REVIEW", "TESTING"),
        moved(7, "TESTING", "ORACLE_REVIEW"),
    )
    coding, testing, _ = visits(entries)
    assert (coding.failed, coding.attempts) == (0, 1)
    assert (testing.failed, testing.attempts, testing.is_passed) == (2, 3, True)


def test_stages_that_were_skipped_led_onward() -> None:
    """A marker of a later stage ends the one that was open: it was passed on the way."""
    coding, testing, review = visits(
        (moved(0, "", "CODING"), moved(20, "TESTING", "ORACLE_REVIEW"))
    )
    assert short(coding) == ("#42", "CODING", 20, "TESTING")
    assert coding.is_passed
    assert short(testing) == ("#42", "TESTING", None, "ORACLE_REVIEW")
    assert review.ended is None


def test_a_session_that_turns_to_another_task_leaves_the_first() -> None:
    """What was open is neither passed nor failed; another session's work goes on beside it."""
    entries = (
        moved(0, "", "CODING", "#1"),
        moved(1, "", "CODING", "#2", session="other"),
        moved(10, "", "CODING", "#3"),
        moved(11, "CODING", "TESTING", "#2", session="other"),
    )
    left, two, *open_ones = visits(entries)
    assert short(left) == ("#1", "CODING", 10, "")
    assert (left.is_passed, left.target, left.attempts) == (False, "", 0)
    assert short(two) == ("#2", "CODING", 10, "TESTING")
    assert [one.task for one in open_ones] == ["#3", "#2"]


def test_a_resumed_session_goes_on_with_its_task() -> None:
    """The client gives a resumed session another id: the task tells that it is the same work."""
    (coding, _) = visits((moved(0, "", "CODING"), moved(9, "CODING", "TESTING", session="another")))
    assert short(coding) == ("#42", "CODING", 9, "TESTING")


def test_an_unknown_begin_is_the_first_sign_of_the_task() -> None:
    """Without a step into a stage, it began with the task's first entry; without one, nobody knows when."""
    (known, _) = visits((blocked(5), moved(9, "CODING", "TESTING")))
    (unknown, _) = visits((moved(9, "CODING", "TESTING"),))
    assert short(known) == ("#42", "CODING", 4, "TESTING")
    assert short(unknown) == ("#42", "CODING", None, "TESTING")


@pytest.mark.parametrize(
    ("signs", "minutes", "away"),
    [
        ((), None, 20 * HOUR),
        ((30,), 30, 19.5 * HOUR),
        ((30, 1190), 40, 20 * HOUR - 40 * MINUTE),
        (tuple(range(0, 1200, 100)), 1200, 0),
    ],
)
def test_a_long_silence_is_time_away(
    signs: tuple[int, ...], minutes: float | None, away: float
) -> None:
    """More than two hours without a sign are not work; a visit that is nothing else has no time."""
    entries = (moved(0, "", "CODING"), *map(blocked, signs), moved(1200, "CODING", "TESTING"))
    (coding, _) = visits(entries)
    assert (short(coding)[2], coding.away) == (minutes, away)


def test_a_claim_that_waits_for_people_is_waiting_and_not_away() -> None:
    """Fifteen hours until the merge are the phase's time; the claim ends with its last step."""
    found = [short(one) for one in visits(CLAIMED)]
    assert found == [
        ("#42", "coding", 50, "ready_for_pr"),
        ("#42", "ready_for_pr", 1, "pr_created"),
        ("#42", "pr_created", 2, "checks_running"),
        ("#42", "checks_running", 900, "merged_detected"),
        ("#42", "merged_detected", 7, "done"),
        ("#42", "done", 1, journal.CLOSED),
    ]
    assert all(one.is_passed for one in visits(CLAIMED))


@pytest.mark.parametrize(
    ("source", "target", "is_passed"),
    [
        ("coding", "ready_for_pr", True),
        ("ready_for_pr", "merged_detected", True),
        ("checks_running", "coding", False),
        ("checks_running", "pr_closed", False),
        ("pr_closed", "pr_created", True),
        ("pr_closed", "coding", False),
        ("merged_detected", journal.RELEASED, False),
        ("coding", journal.RELEASED, False),
        ("done", journal.CLOSED, True),
    ],
)
def test_which_steps_of_a_claim_lead_onward(source: str, target: str, *, is_passed: bool) -> None:
    """Towards the closed issue is onward; back to work, a closed PR and a task given back are not."""
    (found, *_) = visits((phase(0, "", source), phase(1, source, target)))
    assert found.is_passed is is_passed
    assert found.attempts == 1


def test_claims_and_stages_of_one_task_stand_beside_each_other() -> None:
    """Both systems write of #42: their visits are those of each alone."""
    both = visits((*WHOLE, *CLAIMED))
    assert sorted(map(short, both), key=str) == sorted(
        map(short, (*visits(WHOLE), *visits(CLAIMED))), key=str
    )


ENTRIES = st.lists(
    st.builds(
        JournalEntry,
        at=st.integers(0, 100_000).map(lambda n: NOW + n),
        system=st.sampled_from(journal.SYSTEMS),
        kind=st.sampled_from(journal.KINDS),
        task=st.sampled_from(["", "#1", "#2"]),
        session=st.sampled_from(["", "a", "b"]),
        source=st.sampled_from(["", "odd", "coding", *map(str, LINE)]),
        target=st.sampled_from(["", "odd", "coding", journal.CLOSED, *map(str, LINE)]),
        detail=st.sampled_from([{}, {"outcome": "red"}, {"outcome": 3}]),
    ),
    max_size=30,
)


@given(ENTRIES)
def test_whatever_the_journal_holds_visits_make_sense(entries: list[JournalEntry]) -> None:
    """Work and silence are all of a visit, nothing is negative, and no task is in two stages at once."""
    found = visits(entries)
    for one in found:
        assert one.stage in ORDER[one.system]
        assert one.attempts >= 0
        if one.began is not None and one.ended is not None:
            assert one.began <= one.ended
            assert one.away == 0 or AWAY_SECONDS < one.away <= one.ended - one.began
            spent = one.seconds
            assert spent is None or spent + one.away == pytest.approx(one.ended - one.began)
    lasting = [(one.system, one.task) for one in found if one.ended is None and one.task]
    assert len(set(lasting)) == len(lasting)


def step(minute: float, system: str, target: str, task: str, **more: Any) -> JournalEntry:
    """A story of a run, or a phase of a workflow, that came to another status."""
    at, values = NOW + minute * MINUTE, {"detail": {"phase": "Pay"}, **more}
    return JournalEntry(at, system, journal.TRANSITION, task, target=target, **values)


def test_stories_and_phases_are_stays_until_work_on_them_ends() -> None:
    """Review is work still; a silence is time away; the end of a run ends what is left of it alone."""
    told = (
        step(0, journal.RUN, "S1 in_progress", "run", session="s", actor="me"),
        step(1, journal.WORKFLOW, "1 active", "flow", detail={}),
        step(2, journal.RUN, "S2 testing", "run"),
        step(3, journal.RUN, "S1 review", "run"),
        JournalEntry(NOW + 4 * MINUTE, journal.RUN, journal.BLOCK, "run", target="S1 pending"),
        moved(5, "CODING", "S1 completed", "run"),
        step(160, journal.RUN, "S1 completed", "run"),
        step(161, journal.WORKFLOW, "2 skipped", "flow"),
        step(162, journal.RUN, journal.CLOSED, "run"),
        step(163, journal.RUN, "S3 in_progress", "next"),
    )
    found = [stay for stay in visits(reversed(told)) if stay.system not in ORDER]
    assert [short(one) for one in found] == [
        ("run", "S1 Pay", 5, "completed"),
        ("run", "S2 Pay", 5, journal.CLOSED),
        ("flow", "1", None, ""),
        ("next", "S3 Pay", None, ""),
    ]
    assert [one.is_passed for one in found] == [True, False, False, False]
    assert (found[0].away, found[0].session, found[0].actor) == (155 * MINUTE, "s", "me")
    assert found[0].system == journal.RUN
    assert found[2].system == journal.WORKFLOW
    assert not [stay for stay in visits(told[:4]) if stay.system in ORDER]
