"""When a watcher looks next."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions.pull import pace
from lifecycle.claim.record.sections import Trouble
from lifecycle.core.timing import render_time
from lifecycle.core.values.checks import Bucket, Check, Checks
from tests.claim.steps import READY, REVIEW
from tests.factories import NOW, SHA, record

EVERY = 120.0
POLLED: dict[str, Any] = {
    **REVIEW,
    "phase": "checks_running",
    "last_check_poll": render_time(NOW - 10),
}


def when(made: Any, *, settled: bool = True, stopped_at: float | None = None) -> float | None:
    return pace.next_look(made, EVERY, NOW, settled=settled, stopped_at=stopped_at)


def summary(ends_at: float | None) -> dict[str, Any]:
    return {
        "pull.checks": {"sha": SHA, "passed": 0, "running": 1, "failed": [], "ends_at": ends_at}
    }


def test_the_design_polls_every_two_minutes() -> None:
    """With nothing known of how long the checks take: 120 s after the last poll."""
    assert when(record(**POLLED)) == NOW - 10 + 120


def test_a_poll_comes_early_when_the_checks_are_about_to_end() -> None:
    """Five seconds behind the expected end, but never within fifteen of the last poll."""
    assert when(record(**POLLED, memory=summary(NOW + 40))) == NOW + 45
    assert when(record(**POLLED, memory=summary(NOW - 5))) == NOW + 5
    assert when(record(**POLLED, memory=summary(NOW + 4000))) == NOW + 110


def test_an_estimate_that_was_wrong_is_not_polled_after_again_and_again() -> None:
    """A check that runs longer than last time costs one early poll, not one every few seconds."""
    assert when(record(**POLLED, memory=summary(NOW - 30))) == NOW + 110


def test_a_review_that_waits_for_its_end_is_looked_for_then() -> None:
    """Once nobody writes any more; never within fifteen seconds, and what is past counts for nothing."""
    for due, expected in (
        (NOW + 30, NOW + 30),
        (NOW, NOW + 5),
        (NOW - 10, NOW + 110),
        (NOW - 11, NOW + 110),
        (None, NOW + 110),
    ):
        made = record(**POLLED, memory={"pull.reviews": {"due": due}})
        assert when(made) == expected, due


@pytest.mark.parametrize("last", [None, "yesterday", render_time(NOW + 5000)])
def test_fault_9_an_unusable_time_polls_at_once(last: str | None) -> None:
    """Missing, unreadable or in the future: none of them stops the polling."""
    made = record(**{**POLLED, "last_check_poll": last})
    assert when(made) == pace.next_poll(made, EVERY, NOW) == 0.0


def test_a_rate_limit_is_waited_out() -> None:
    """What GitHub asked us to wait holds the next look back, whatever the backoff says."""
    held = Trouble("m", "rate limit", until=NOW + 900)
    assert when(record(**POLLED, memory={"troubles": {"Look": held}})) == NOW + 900


def test_a_refusal_is_asked_about_again_as_soon_as_somebody_looks() -> None:
    """A wait that begins looks after fifteen seconds, also where a token was refused; a limit holds it.

    So it is where GitHub was not reached, and named no time.
    """
    for is_guessed, every, held, expected in (
        (True, 15, NOW + 5, NOW + 5),
        (True, 60.5, NOW + 50, NOW + 50.5),
        (True, 120, NOW + 50, NOW + 110),
        (False, 15, NOW + 50, NOW + 50),
    ):
        trouble = Trouble("", "GitHub could not be reached.", NOW + 50, is_guessed=is_guessed)
        made = record(**POLLED, memory={"troubles": {"Look": trouble}})
        look = pace.next_look(made, every, NOW, settled=True, stopped_at=None)
        assert (pace.held_until(made, every), look) == (held, expected), every


@pytest.mark.parametrize("phase", ["coding", "merged_detected"])
def test_what_only_people_can_bring_about_is_not_waited_for(phase: str) -> None:
    """While the agent codes, and after the question: nothing that a poll could see."""
    assert when(record(phase=phase, memory={"judged": phase})) is None


def test_a_hand_off_is_left_to_the_stop_that_it_was_made_for() -> None:
    """Written in the middle of a turn it is nobody's yet; after its stop, on-stop has ten seconds."""
    made = record(**READY)
    assert when(made, settled=False) == math.inf
    assert when(made, settled=False, stopped_at=NOW - 1) == NOW + 9
    assert when(made, settled=True, stopped_at=NOW - 1) is None


def test_a_failure_that_is_tried_again_is_waited_for_in_any_phase() -> None:
    """A PR that could not be opened while GitHub was away is opened when it is back."""
    trouble = {"OpenPullRequest": Trouble("m", "502", until=NOW + 60)}
    made = replace(record(**READY), troubles=trouble)
    assert when(made, settled=False) == NOW + 60


def test_durations_are_learned_from_checks_that_ended() -> None:
    """The expected end is the start plus last time's duration; one unknown check and none is told."""
    ended = Check("test", Bucket.PASS, started_at=NOW - 300, ended_at=NOW - 60)
    durations = pace.learned({"lint": 20.0}, Checks(SHA, (ended,)))
    assert durations == {"lint": 20.0, "test": 240.0}
    running = Check("test", Bucket.PENDING, started_at=NOW - 200)
    assert pace.ends_at(Checks(SHA, (running,)), durations) == NOW + 40
    unknown = Check("deploy", Bucket.PENDING, started_at=NOW)
    assert pace.ends_at(Checks(SHA, (running, unknown)), durations) is None
    assert pace.ends_at(Checks(SHA, (ended,)), durations) is None


def test_a_poll_of_this_moment_is_the_last_one() -> None:
    """The next one comes two minutes after it; an end at that very moment is no estimate."""
    now = {**POLLED, "last_check_poll": render_time(NOW)}
    assert when(record(**now)) == NOW + 120
    assert when(record(**now, memory=summary(NOW))) == NOW + 120
    assert when(record(**{**POLLED, "last_check_poll": render_time(NOW + 1)})) == 0.0


@pytest.mark.parametrize("held", [0.0, NOW + 900])
def test_a_merge_that_somebody_wrote_is_looked_at_as_soon_as_github_lets_us(held: float) -> None:
    """A phase that GitHub has not confirmed is worth a look; a confirmed one is the person's turn."""
    troubles = {"troubles": {"Look": Trouble("m", "rate limit", until=held)}} if held else {}
    written = record(phase="merged_detected", memory={"judged": "coding", **troubles})
    assert when(written) == held
    other = record(phase="coding", memory={"judged": "ready_for_pr"})
    assert when(other) is None


@pytest.mark.parametrize("phase", ["ready_for_pr", "done"])
def test_a_stop_takes_up_what_was_written_before_it(phase: str) -> None:
    """A hand-off and a close are the stop's for ten seconds, unless the last look left nothing to do."""
    made = record(phase=phase)
    assert when(made, settled=False, stopped_at=NOW) == NOW + 10
    assert when(made, settled=True, stopped_at=NOW) is None
    assert when(record(phase="coding"), settled=False, stopped_at=NOW) is None


def test_the_last_of_the_running_checks_is_waited_for() -> None:
    """One whose start GitHub does not tell makes the end unknown."""
    durations = {"lint": 20.0, "test": 240.0}
    running = [Check(name, Bucket.PENDING, started_at=NOW) for name in ("test", "lint")]
    assert pace.ends_at(Checks(SHA, tuple(running)), durations) == NOW + 240
    queued = Check("lint", Bucket.PENDING)
    assert pace.ends_at(Checks(SHA, (running[0], queued)), durations) is None


def test_the_fifty_checks_that_ended_last_are_remembered() -> None:
    """One that ended again is the newest; one whose clock ran backwards took no time at all."""
    known = {f"check-{n}": float(n) for n in range(50)}
    ended = [
        Check("check-0", Bucket.PASS, started_at=NOW - 7, ended_at=NOW),
        Check("fresh", Bucket.FAIL, started_at=NOW, ended_at=NOW - 3),
        Check("never started", Bucket.PASS, ended_at=NOW),
        Check("not over", Bucket.PENDING, started_at=NOW),
    ]
    learned = pace.learned(known, Checks(SHA, tuple(ended)))
    assert list(learned.items())[-2:] == [("check-0", 7.0), ("fresh", 0.0)]
    assert list(learned)[:-2] == [f"check-{n}" for n in range(2, 50)]
