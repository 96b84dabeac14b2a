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
import math
import os
import signal
import threading
import time
from dataclasses import dataclass
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
"""After so many, the process is ended as pytest-timeout does it. Where no thread gets a turn, it is ended
from C, once as much time again has passed."""

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


@dataclass
class _Running:
    """The test that runs, when its time is up, and how often it was interrupted."""

    item: pytest.Item
    settings: pytest_timeout.Settings
    until: float
    interruptions: int = 0


class _Watch:
    """The one thread that waits for whatever test runs to end.

    To begin and to end a thread for each test costs more CPU than most tests do. This one sleeps until the
    first moment at which it may have something to do. A test that begins meanwhile and has as much time
    ends later than that, and need not wake it.

    As long as it gets a turn it puts off the end of the process, which comes from C.
    """

    def __init__(self, stderr: int) -> None:
        self.stderr = stderr
        self.changed = threading.Condition()
        self.running: _Running | None = None
        self.wakes = math.inf
        self.allowed = 0.0
        self.is_over = False
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def begin(self, item: pytest.Item, settings: pytest_timeout.Settings) -> None:
        """A test begins."""
        with self.changed:
            self.running = _Running(item, settings, time.monotonic() + settings.timeout)
            if self.running.until < self.wakes or settings.timeout > self.allowed:
                self._put_off(self.running)  # here, since the thread may never get its turn
                self.changed.notify()

    def end(self) -> None:
        """It has ended: from now on it is not interrupted."""
        with self.changed:
            self.running = None

    def close(self) -> None:
        """No test comes any more."""
        with self.changed:
            self.is_over = True
            self.changed.notify()
        self.thread.join()

    def _watch(self) -> None:
        with self.changed:
            while not self.is_over:
                now = time.monotonic()
                if self.running and self.running.until <= now:
                    self._interrupt(self.running)
                    self.running.until = now + AGAIN_SECONDS
                if self.running:
                    self._put_off(self.running)
                    self.changed.wait(self.wakes - now)
                else:
                    faulthandler.cancel_dump_traceback_later()
                    self.wakes, self.allowed = math.inf, 0.0
                    self.changed.wait()
        faulthandler.cancel_dump_traceback_later()

    def _put_off(self, running: _Running) -> None:
        self.wakes, self.allowed = running.until, running.settings.timeout
        more = self.allowed + (TIMES + 1) * AGAIN_SECONDS
        last = max(self.wakes - time.monotonic(), 0) + more
        faulthandler.dump_traceback_later(last, exit=True, file=self.stderr)

    @staticmethod
    def _interrupt(running: _Running) -> None:
        running.interruptions += 1
        if running.interruptions > TIMES:
            pytest_timeout.timeout_timer(running.item, running.settings)
        signal.pthread_kill(threading.main_thread().ident or 0, SIGNAL)


WATCH = pytest.StashKey[_Watch]()
"""What waits for the tests of this process."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep the process's own stderr, which is not captured yet."""
    config.stash[STDERR] = os.dup(2)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close it, and watch no longer."""
    if watch := config.stash.get(WATCH, None):
        watch.close()
    os.close(config.stash[STDERR])


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: Any, settings: pytest_timeout.Settings) -> bool:
    """Begin to wait for the end of the test."""
    stash = item.config.stash
    if WATCH not in stash:
        stash[WATCH] = _Watch(stash[STDERR])
    watch = stash[WATCH]
    before = signal.signal(SIGNAL, _Interruptions())
    signal.setitimer(signal.ITIMER_PROF, settings.timeout, AGAIN_SECONDS)
    watch.begin(item, settings)

    def cancel() -> None:
        signal.signal(SIGNAL, signal.SIG_IGN)  # one that is on its way meets nobody
        signal.setitimer(signal.ITIMER_PROF, 0)
        watch.end()
        signal.signal(SIGNAL, before)

    item.cancel_timeout = cancel
    return True
