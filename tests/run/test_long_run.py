"""What the length of a run asks for, by a clock that the test holds."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from lifecycle.run.long_run import report_due, review_due, runtime, sync_due
from lifecycle.run.state import Run, Story
from lifecycle.run.table import TIERS, RunStatus, StoryStatus

NOW = 1_800_000_000.0


def completed(count: int) -> tuple[Story, ...]:
    """So many completed stories."""
    return tuple(Story(f"S{n}", "One", status=StoryStatus.COMPLETED) for n in range(1, count + 1))


@pytest.mark.parametrize(
    ("stories", "reported", "seconds", "is_due"),
    [
        (0, 0, 0.0, False),
        (2, 0, 0.0, False),
        (3, 0, 0.0, True),
        (5, 3, 0.0, False),
        (6, 3, 0.0, True),
        (1, 3, 0.0, False),
        (0, 0, TIERS[0].report_seconds - 1, False),
        (0, 0, TIERS[0].report_seconds, True),
    ],
)
def test_a_report_is_due_every_three_stories_or_thirty_minutes(
    stories: int, reported: int, seconds: float, is_due: bool
) -> None:
    """What counts is what came since the last report, or since the beginning."""
    run = Run("a", "b", NOW, stories=completed(stories), reported_stories=reported)
    assert report_due(run, NOW + seconds) is is_due
    told = replace(run, reported_at=NOW + seconds, reported_stories=stories)
    assert not report_due(told, NOW + seconds)


@pytest.mark.parametrize(
    "status", [RunStatus.AWAITING_USER, RunStatus.STOPPED, RunStatus.COMPLETED]
)
def test_a_run_that_does_not_go_on_owes_no_report(status: RunStatus) -> None:
    """Nobody is at work who could give it."""
    run = Run("a", "b", NOW, status=status, stories=completed(3))
    assert not report_due(run, NOW + 2 * TIERS[0].report_seconds)


def test_the_runtime_ends_with_the_run_and_is_never_negative() -> None:
    """A clock that was set back makes no run younger than new."""
    run = Run("a", "b", NOW)
    assert runtime(run, NOW + 5) == 5
    assert runtime(run, NOW - 5) == 0
    assert runtime(replace(run, completed=NOW + 3), NOW + 9) == 3


HOUR_1, HOUR_4 = TIERS[0].until, TIERS[1].until


@pytest.mark.parametrize(
    ("stories", "seconds", "is_due"),
    [
        (5, HOUR_1 - 1, False),
        (5, HOUR_1, True),
        (4, HOUR_1, False),
        (0, HOUR_4, False),
        (10, HOUR_4, True),
    ],
)
def test_a_review_is_due_every_five_stories_of_a_long_run(
    stories: int, seconds: float, is_due: bool
) -> None:
    """Between two stories, and not in the middle of one."""
    run = Run("a", "b", NOW, stories=completed(stories))
    assert review_due(run, NOW + seconds) is is_due
    to_come = replace(run, stories=(*run.stories, Story("S99", "Two")))
    assert review_due(to_come, NOW + seconds) is is_due
    at_work = Story("S99", "Two", status=StoryStatus.TESTING)
    assert not review_due(replace(run, stories=(*run.stories, at_work)), NOW + seconds)


def test_only_the_longest_runs_say_that_their_state_is_old() -> None:
    """After a quarter of an hour without a change; one that nobody works on is never old."""
    run = Run("a", "b", NOW)
    now = NOW + HOUR_4
    assert sync_due(run, now - 900, now)
    assert not sync_due(run, now - 899, now)
    assert not sync_due(run, 0.0, now)
    assert not sync_due(run, now - 2_000, NOW + HOUR_4 - 1)
    assert not sync_due(replace(run, status=RunStatus.AWAITING_USER), now - 2_000, now)
