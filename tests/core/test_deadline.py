"""lifecycle.core.timing: an end that everybody shares, and that can be moved."""

from __future__ import annotations

import math
import signal
import time

import pytest

from lifecycle.core.errors import Transient
from lifecycle.core.timing import (
    Deadline,
    DeadlineReached,
    SystemClock,
    alarm,
    interrupted,
    unhurried,
)
from tests.github.hub import PatientClock


def test_a_deadline_is_renewed_for_all_who_share_it() -> None:
    """The end moves for whoever was built with it, also after it has passed."""
    clock = PatientClock()
    deadline = Deadline.after(clock, 5)
    clock.sleep(6)
    assert deadline.left == -1
    with pytest.raises(Transient, match="time for this look is up"):
        deadline.remaining()
    deadline.renew(8)
    assert (deadline.left, deadline.remaining(), deadline.remaining(2)) == (8, 8, 2)
    deadline.renew(None)
    assert (deadline.left, deadline.remaining()) == (math.inf, 10)


def test_a_night_of_a_closed_laptop_is_past_every_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read before it is old: nothing more is written by that, and the next look reads again.

    Python's own monotonic clock stands still meanwhile; of macOS, CLOCK_MONOTONIC does not.
    Source: https://docs.python.org/3/library/time.html#time.CLOCK_BOOTTIME and clock_gettime(3) of macOS
    """
    night = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    slept = {night: 0.0}
    monkeypatch.setattr(time, "clock_gettime", lambda clock: 60.0 + slept.get(clock, 0.0))
    deadline = Deadline.after(SystemClock(), 8)
    assert deadline.left == 8
    slept[night] = 30_000.0
    with pytest.raises(Transient, match="time for this look is up"):
        deadline.remaining()


@pytest.mark.parametrize(("seconds", "inside"), [(5.0, 3.0), (None, math.inf)])
def test_time_can_be_kept_for_later(seconds: float | None, inside: float) -> None:
    """Within, the end is earlier; afterwards it is where it was, whatever happened."""
    deadline = Deadline.after(PatientClock(), seconds)
    before = deadline.at

    def fail_within() -> None:
        with deadline.keeping(2):
            assert deadline.left == inside
            raise KeyError

    with pytest.raises(KeyError):
        fail_within()
    assert deadline.at == before


def test_an_alarm_interrupts_what_may_be_interrupted() -> None:
    """It comes once: what is unhurried goes on, and what comes after that as well; all else is left."""
    done = []

    def ring_within() -> None:
        with alarm(60):
            with unhurried(), unhurried():
                pass
            signal.raise_signal(signal.SIGALRM)
            done.append("never")

    with alarm(60):
        with unhurried():
            with unhurried():
                done.append("inner")
            signal.raise_signal(signal.SIGALRM)
            done.append("rung")
        done.append("after")
    with pytest.raises(DeadlineReached, match="the time for this look was up"):
        ring_within()
    assert done == ["inner", "rung", "after"]
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_part_that_is_interrupted_takes_its_time_from_the_alarm_around_it() -> None:
    """The part hears it twice if it did not listen; the alarm outside rings when it would have rung."""
    heard: list[DeadlineReached] = []

    def does_not_listen() -> None:
        with interrupted(0.05):
            try:
                signal.pause()
            except DeadlineReached as error:
                heard.append(error)
            signal.pause()

    with alarm(20):
        whole = signal.getitimer(signal.ITIMER_REAL)[0]
        with pytest.raises(DeadlineReached):
            does_not_listen()
        left = signal.getitimer(signal.ITIMER_REAL)[0]
    assert len(heard) == 1
    assert 0 < left <= whole - 0.05
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
