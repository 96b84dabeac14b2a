"""A test that hangs fails by its name, alone, and its worker goes on with the next one.

pytest-timeout's own ways do not do here: its signal is SIGALRM, which the product's deadlines use, and its
thread ends the process; a worker that is gone so has taken a whole run with it. It lets a plugin set the
timer instead: https://github.com/pytest-dev/pytest-timeout#extending-pytest-timeout-with-plugins

Set-up and tear-down have their time with the test, and fail as it does; what a fixture of many tests did
not come to, all of those tests lack. A call into C that never comes back cannot be interrupted, and
while it holds the interpreter's lock no thread gets a turn: then the process is ended, from C. A worker
that is ended so is replaced, its test fails by its name, and the others go on; without workers that is
the run's end.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import pytest_timeout  # type: ignore[import-untyped]  # it carries no types
from _pytest.outcomes import OutcomeException

if TYPE_CHECKING:
    from types import FrameType

SIGNAL = signal.SIGPROF
"""Sent by a thread when the time is up, and by the kernel when as much CPU time is: a thread gets no turn
while a regular expression runs."""

AGAIN_SECONDS = 5.0
"""What interrupts a test may be caught by it, or meet a `finally` that hangs as well: it comes again."""

TIMES = 6
"""After so many, the process is ended as pytest-timeout does it; one more, and it is ended from C."""

TOGETHER_SECONDS = 2.0
"""The thread and the kernel may both find the time to be up: that is one interruption."""

STDERR = pytest.StashKey[int]()
"""The process's own stderr: a test's is captured."""

_CALL = vars(pytest.CallInfo)["from_call"].__func__.__code__
"""What runs a phase of a test, and makes a failure of whatever is raised in it."""


class TimeIsUp(OutcomeException):
    """Raised in a test whose time is up.

    It is no `Exception`: what is tested does not catch it. It is no failure of pytest's either, which
    Hypothesis would catch, to begin to look for a smaller example that hangs as well.
    """

    __module__ = "builtins"  # the report's name of it, as short as that of pytest's own


class _Interruptions:
    """Raises in the test that runs, and in nothing that pytest does before or after it."""

    def __init__(self) -> None:
        self.last = -TOGETHER_SECONDS

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self.last < TOGETHER_SECONDS:
            return
        while frame is not None and frame.f_code is not _CALL:
            frame = frame.f_back
        if frame is not None:
            self.last = now
            raise TimeIsUp("the test did not end within its time")


def _wait(over: threading.Event, item: pytest.Item, settings: pytest_timeout.Settings) -> None:
    seconds = settings.timeout
    for _ in range(TIMES):
        if over.wait(seconds):
            return
        signal.pthread_kill(threading.main_thread().ident or 0, SIGNAL)
        seconds = AGAIN_SECONDS
    if not over.wait(seconds):
        pytest_timeout.timeout_timer(item, settings)


def pytest_configure(config: pytest.Config) -> None:
    """Keep the process's own stderr, which is not captured yet."""
    config.stash[STDERR] = os.dup(2)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close it."""
    os.close(config.stash[STDERR])


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: Any, settings: pytest_timeout.Settings) -> bool:
    """Begin to wait for the end of the test."""
    over = threading.Event()
    thread = threading.Thread(target=_wait, args=(over, item, settings), daemon=True)
    before = signal.signal(SIGNAL, _Interruptions())
    signal.setitimer(signal.ITIMER_PROF, settings.timeout, AGAIN_SECONDS)
    last = settings.timeout + (TIMES + 1) * AGAIN_SECONDS
    faulthandler.dump_traceback_later(last, exit=True, file=item.config.stash[STDERR])

    def cancel() -> None:
        signal.signal(SIGNAL, signal.SIG_IGN)  # one that is on its way meets nobody
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
        over.set()
        thread.join()
        signal.signal(SIGNAL, before)

    item.cancel_timeout = cancel
    thread.start()
    return True
