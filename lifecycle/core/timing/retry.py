"""Asking again: the one module that knows tenacity.

Only what may safely be sent twice comes through here: reads, and writes that set a value. Nothing is
ever waited for past the deadline, and the wait is the injected clock's, so that tests do not wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from lifecycle.core.errors import Transient
from lifecycle.core.timing.deadline import Deadline

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")

ATTEMPTS = 3
SHORTEST = 0.2
LONGEST = 2.0
PATIENCE = 60.0
"""The longest single wait, in seconds, however much time is left: a limit that lasts longer is told."""


def reading(deadline: Deadline, call: Callable[[], T]) -> T:
    """What `call` returns, asked up to three times while it is `Transient`.

    Between two attempts lie 0.2 to 2 seconds, growing and jittered, or the time that the server
    named if that is longer. If that time is not left before the deadline, or is longer than a minute,
    the error is raised at once.

    Args:
        deadline: when all of it has to be over; its clock does the waiting.
        call: a read, or a write that may be applied twice. Never one that creates something.

    Raises:
        Transient: the last attempt's own error. Every other error is raised as it comes.
    """
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt
    from tenacity.wait import wait_exponential, wait_random

    growing = wait_exponential(multiplier=SHORTEST, max=LONGEST - SHORTEST)
    backoff = growing + wait_random(0, SHORTEST)

    def wait(state: RetryCallState) -> float:
        return max(backoff(state), _named_wait(state))

    def is_too_late(state: RetryCallState) -> bool:
        return state.upcoming_sleep >= _left(deadline)

    attempts = Retrying(
        retry=retry_if_exception_type(Transient),
        wait=wait,
        stop=lambda state: stop_after_attempt(ATTEMPTS)(state) or is_too_late(state),
        sleep=deadline.clock.sleep,
        reraise=True,
    )
    return attempts(call)


def _named_wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return (error.retry_after or 0.0) if isinstance(error, Transient) else 0.0


def _left(deadline: Deadline) -> float:
    return min(PATIENCE, deadline.left)
