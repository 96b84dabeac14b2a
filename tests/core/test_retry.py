"""lifecycle.core.timing: what is asked again, how long it waits, and when it stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from lifecycle.core.errors import Rejected, Transient
from lifecycle.core.timing import Deadline, DeadlineReached, reading
from tests.github.hub import PatientClock


def failing_with(errors: Sequence[BaseException], calls: list[int]) -> Callable[[], str]:
    """A call that raises `errors` one after the other, then returns."""
    waiting = list(errors)

    def call() -> str:
        calls.append(len(calls))
        if waiting:
            raise waiting.pop(0)
        return "answer"

    return call


def test_what_passes_is_asked_again_until_it_answers() -> None:
    """Two transient failures are followed by a third attempt, after two short growing waits."""
    clock, calls = PatientClock(), list[int]()
    call = failing_with([Transient("one"), Transient("two")], calls)
    assert reading(Deadline.after(clock, 60), call) == "answer"
    assert len(calls) == 3
    assert 0.2 <= clock.naps[0] <= 0.4 <= clock.naps[1] <= 0.6


def test_the_third_failure_is_the_last_and_comes_out_as_it_is() -> None:
    """After three attempts the last error itself is raised, not one of tenacity's."""
    clock, calls = PatientClock(), list[int]()
    last = Transient("three", is_ambiguous=True)
    with pytest.raises(Transient) as caught:
        reading(
            Deadline.after(clock, 60),
            failing_with([Transient("one"), Transient("two"), last, Transient("four")], calls),
        )
    assert caught.value is last
    assert len(calls) == 3


def test_a_named_wait_is_honoured() -> None:
    """A server that says when to come back is not asked before."""
    clock = PatientClock()
    call = failing_with([Transient("limited", retry_after=7)], [])
    assert reading(Deadline.after(clock, 60), call) == "answer"
    assert clock.naps == [7]


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    """If the named time lies past the deadline the error comes at once, and nobody sleeps."""
    clock, calls = PatientClock(), list[int]()
    with pytest.raises(Transient, match="limited"):
        reading(
            Deadline.after(clock, 5), failing_with([Transient("limited", retry_after=6)], calls)
        )
    assert clock.naps == []
    assert len(calls) == 1


def test_a_limit_of_more_than_a_minute_is_told_and_not_waited_for() -> None:
    """However much time is left, nobody sits an hour for a limit to pass without a word."""
    clock, calls = PatientClock(), list[int]()
    with pytest.raises(Transient, match="limited"):
        reading(
            Deadline.after(clock, 3000), failing_with([Transient("limited", retry_after=61)], calls)
        )
    assert (clock.naps, len(calls)) == ([], 1)


def test_backoff_stops_at_the_deadline() -> None:
    """Even the shortest wait is not begun when less than that is left."""
    clock, calls = PatientClock(), list[int]()
    with pytest.raises(Transient):
        reading(Deadline.after(clock, 0.1), failing_with([Transient("late")], calls))
    assert (clock.naps, len(calls)) == ([], 1)


def test_without_a_deadline_nobody_waits_for_an_hour() -> None:
    """A spent limit that resets in an hour is raised even where no deadline forbids the wait."""
    clock = PatientClock()
    with pytest.raises(Transient):
        reading(Deadline(clock, None), failing_with([Transient("hour", retry_after=3600)], []))
    assert clock.naps == []
    assert (
        reading(Deadline(clock, None), failing_with([Transient("soon", retry_after=30)], []))
        == "answer"
    )


@pytest.mark.parametrize("error", [Rejected("no"), DeadlineReached(), ValueError("bug")])
def test_everything_else_comes_out_at_once(error: BaseException) -> None:
    """A no, the end of the wake and a mistake of ours are never asked again."""
    clock, calls = PatientClock(), list[int]()
    with pytest.raises(type(error)) as caught:
        reading(Deadline.after(clock, 60), failing_with([error], calls))
    assert caught.value is error
    assert (clock.naps, len(calls)) == ([], 1)
