"""Time: the clock, one wall-clock deadline for a wake, retries and processes within it, and timestamps.

The read time-outs of HTTP clients are not a deadline: a server that sends a byte now and then holds
such a client for ever. So two things end a wake: adapters ask `Deadline.remaining()` for each
request's time-out, and `alarm()` interrupts whatever still hangs. Only requests that may be sent twice
are retried (`reading`): reads, and writes that set a value.

Inside the product a moment is a float of seconds since the epoch. Outside, in the claim file and in
GitHub's answers, it is ISO 8601 text, written by people and machines of all kinds.
"""

from __future__ import annotations

import importlib
import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from lifecycle.core.errors import LifecycleError, Transient
from lifecycle.core.light_dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import Popen

    from tenacity import RetryCallState

    from lifecycle.core.ports import Clock


class SystemClock:
    """The system's clock, as `ports.Clock` describes one."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never run backwards; a laptop's sleep counts, unlike in Python's own on Linux."""
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


CLOCK_SKEW = 60.0
"""Seconds by which this machine's clock may be ahead of GitHub's, which shows whole seconds."""

_DEFAULTS = ((2000, 1, 1), (2003, 2, 2))
"""Defaults for what a text lacks; a text has year, month and day only if both give the same date."""


@cache
def _from_iso() -> Callable[[str], Any]:
    """Python's own reader; importing it each time would take four times as long as reading a text."""
    return importlib.import_module("datetime").datetime.fromisoformat  # type: ignore[no-any-return]


def parse_time(text: object) -> float | None:
    """Seconds since the epoch, or None for anything that is not a readable timestamp.

    A timestamp has a year, a month and a day, unlike `-3` and `5s`. Without a zone it is taken as UTC.
    """
    if not isinstance(text, str) or not text.strip():
        return None
    if text[10:11] == "T" and (text[-1] == "Z" or text[-6] in "+-"):
        # The form of GitHub, bd and git: a sweep reads tens of thousands; no look should load dateutil.
        try:
            return float(_from_iso()(text).timestamp())
        except ValueError:
            pass  # read below, like any other form
    if text[3:5] == ", " and text[-4:] == " GMT":
        from email.utils import parsedate_to_datetime  # of HTTP's Date; http.client has loaded it

        with suppress(ValueError, OverflowError):
            return parsedate_to_datetime(text).timestamp()
    import warnings
    from datetime import UTC, datetime

    from dateutil import parser

    with suppress(ValueError, OverflowError, TypeError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an unknown zone name is read as UTC
        defaults = (datetime(*day) for day in _DEFAULTS)  # noqa: DTZ001 -- the zone is the text's
        moment, same = (parser.parse(text, default=default) for default in defaults)
        if moment == same:
            return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    return None


def earlier(stated: str, known: str) -> str:
    """The timestamp that somebody states if it is before one that is known; else the known one."""
    moment, bound = parse_time(stated), parse_time(known) if stated else None
    return known if moment is None or (bound is not None and moment > bound) else stated


_LAST = 253_402_300_799
"""The last second that a date can have, of the year 9999."""


def render_time(moment: float) -> str:
    """ISO 8601 in UTC with whole seconds, as GitHub writes it: `2026-01-31T09:30:00Z`.

    For a number that is no moment, as an edited file may have, it is 1970, or the last one of all.
    """
    from datetime import UTC, datetime

    seconds = int(min(_LAST, max(0, moment)))
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


HARD_EXIT_GRACE = 0.8
"""Seconds between the alarm, which lets the engine commit and report, and the hard end."""

COMMAND_GRACE = 1.0
"""Seconds from a command's deadline to the alarm: whatever asks the deadline has ended by then."""

COMMAND_LAST = 5.0
"""Seconds between a command's alarm and its hard end: git may finish what it would leave half done."""

_GLANCE = 2.0
"""Seconds between two checks of an alarm whether its deadline was moved."""


class _Hold:
    """Counts the blocks of `unhurried` that run in this process, which has one alarm."""

    depth = 0


@contextmanager
def unhurried() -> Iterator[None]:
    """Context in which an alarm interrupts nothing; its hard end is not delayed.

    For the short writes at the end of a wake: notices that they mark as said have to be said. After
    the block, the deadline reports that the time is up.
    """
    _Hold.depth += 1
    try:
        yield
    finally:
        _Hold.depth -= 1


class DeadlineReached(BaseException):
    """The wake's time is up.

    A BaseException, so that no client's `except Exception` swallows it on the way to the engine.
    """

    def __str__(self) -> str:
        return "the time for this look was up"


ANYTHING = (LifecycleError, DeadlineReached, Exception)
"""What may go wrong in one of several parts, so that the others can still speak: for `log.Surviving`."""


@dataclass(slots=True, eq=False)
class Deadline:
    """A moment on the injected monotonic clock; `at` is None for "no limit".

    All clients that were built with one share it, so that a process that looks again and again renews it
    for all of them at once, and keeps clients and connections.
    """

    clock: Clock
    at: float | None
    over: str = "The time for this look is up, so nothing more was asked; try again."

    @classmethod
    def after(cls, clock: Clock, seconds: float | None) -> Deadline:
        """The deadline `seconds` from now."""
        return cls(clock, None if seconds is None else clock.monotonic() + seconds)

    @classmethod
    def of_object(cls, clock: Clock, seconds: float | None) -> Deadline:
        """The deadline of an object of the API, which no later call has more time with."""
        made = cls.after(clock, seconds)
        made.over = (
            f"The {seconds or 0:g} seconds of this object are over, so nothing more was asked; "
            "make a new one, or give it more seconds, or None."
        )
        return made

    def renew(self, seconds: float | None) -> None:
        """Set the end to `seconds` from now; None means no limit."""
        self.at = None if seconds is None else self.clock.monotonic() + seconds

    @contextmanager
    def renewed(self, seconds: float) -> Iterator[None]:
        """Give the block `seconds` from now on; afterwards there is no limit."""
        self.renew(seconds)
        try:
            yield
        finally:
            self.renew(None)

    @property
    def left(self) -> float:
        """Seconds until the end; negative after it, infinite without a limit."""
        return math.inf if self.at is None else self.at - self.clock.monotonic()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Stop the clock during the block, which has a limit of its own, or none."""
        left, self.at = self.left, None
        try:
            yield
        finally:
            self.renew(None if math.isinf(left) else left)

    @contextmanager
    def keeping(self, seconds: float) -> Iterator[None]:
        """End `seconds` earlier during the block, to have them afterwards; do not renew within it."""
        end = self.at
        self.at = None if end is None else end - seconds
        try:
            yield
        finally:
            self.at = end

    def remaining(self, at_most: float = 10.0) -> float:
        """Seconds left for one request, never more than `at_most`.

        Raises:
            Transient: nothing is left; nothing was sent.
        """
        if self.left <= 0.05:
            raise Transient(self.over)
        return min(self.left, at_most)


def alarm(seconds: float) -> AbstractContextManager[None]:
    """Raise `DeadlineReached` after `seconds`, and end the process with 0 a little later.

    The second step is for code that cannot be interrupted: state is committed after each fact, so the next
    wake finds again whatever an abrupt end loses. Main thread only.
    """
    first = max(seconds - HARD_EXIT_GRACE, 0.05)
    return _ringing(first, lambda: 0.0, HARD_EXIT_GRACE, lambda: os._exit(0))


def interrupted(seconds: float) -> AbstractContextManager[None]:
    """Raise `DeadlineReached` after `seconds` in one part of a wake, and again if that was swallowed.

    For parts that may be left out: a server that sends a byte now and then does not cost the rest. The
    alarm around it keeps counting. Main thread only.
    """

    def again() -> NoReturn:
        raise DeadlineReached

    return _ringing(seconds, lambda: 0.0, HARD_EXIT_GRACE, again)


def ending(deadline: Deadline, end: Callable[[], NoReturn]) -> AbstractContextManager[None]:
    """Raise `DeadlineReached` once a deadline is over, and call `end` some seconds later.

    For a command that a person waits for: calls that ask the deadline end by themselves, and this ends the
    others, such as a read from a server that sends a byte now and then. Meanwhile the deadline may be moved
    or its clock stopped. Main thread only.

    Args:
        deadline: the deadline; without a limit nothing rings.
        end: says that the time was up, and ends the process even if something hangs.
    """

    def soft() -> float:
        return deadline.left + COMMAND_GRACE

    return _ringing(min(soft(), _GLANCE), soft, COMMAND_LAST, end)


@contextmanager
def _ringing(
    seconds: float, soft: Callable[[], float], grace: float, end: Callable[[], NoReturn]
) -> Iterator[None]:
    """Ring after `seconds`, and again while `soft` returns more time; then raise, and later call `end`.

    Nothing is raised within `unhurried`.
    """

    def hard(_signal: int, _frame: FrameType | None) -> NoReturn:
        end()

    def ring(_signal: int, _frame: FrameType | None) -> None:
        left = soft()
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, max(min(left, _GLANCE), 0.05))
            return
        signal.signal(signal.SIGALRM, hard)
        signal.setitimer(signal.ITIMER_REAL, grace)
        if not _Hold.depth:
            raise DeadlineReached

    before, begun = signal.signal(signal.SIGALRM, ring), time.monotonic()
    left, interval = signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.05))
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        if left:  # time of the alarm around this one
            left = max(left - (time.monotonic() - begun), 0.05)
        signal.setitimer(signal.ITIMER_REAL, left, interval)


@contextmanager
def heard(listen: Callable[[int], object], *numbers: int) -> Iterator[None]:
    """Call `listen` with the number of each of these signals that arrives; main thread only.

    For a view that stays open, or a command that waits. The former handlers are restored.
    """
    before = {number: signal.signal(number, lambda came, _: listen(came)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


T = TypeVar("T")

_LOOK_SECONDS = 0.1
"""Seconds between two checks whether a process has ended while its output is still open."""

_SOON_READ = 1024
"""How many characters a process is given at once, whether or not it reads: each pipe holds them."""


_END_SECONDS = 0.3
"""How long a process may take to end when it is asked to."""


def ran(
    words: Sequence[str],
    seconds: float,
    environment: Mapping[str, str],
    folder: Path | None = None,
    *,
    errors: str = "replace",
    given: str = "",
    most: float = math.inf,
    grace: float = 0.0,
) -> tuple[int, str, str]:
    """Run a program in a process group of its own, and return its exit code and both outputs.

    If it is interrupted, late or endless, all of its group is ended. Processes that it left behind may hold
    its output open: they are not waited for.

    Args:
        words: the program and its arguments.
        seconds: how long it may take.
        environment: all of its variables.
        folder: where it runs; None for where we do.
        errors: how bytes that are not UTF-8 are decoded.
        given: its input; if "", it finds the end at once.
        most: how many bytes it may have printed while it still runs.
        grace: seconds in which it may end by itself if we are interrupted.

    Raises:
        OSError: it cannot be started.
        TimeoutExpired: it did not end in time.
        OverflowError: it printed more.
    """
    from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

    process = Popen(
        words,
        cwd=folder,
        env=environment,
        stdin=PIPE if given else DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        encoding="utf-8",
        errors=errors,
        start_new_session=True,
    )
    with process:
        try:
            out, err = _heard(process, errors, seconds, given, most)
        except BaseException as error:
            if grace and not isinstance(error, (TimeoutExpired, OverflowError)):
                with suppress(TimeoutExpired):
                    process.communicate(timeout=grace)
            _end(process)
            raise
    return process.returncode, out, err


def _end(process: Popen[str]) -> None:
    """End a process and what it started (ssh, git-remote-https), which hold its pipes open.

    Asked to end, git removes its lock files; killed, it leaves them, and the next git refuses to work.
    """
    from subprocess import TimeoutExpired

    with suppress(ProcessLookupError, PermissionError):  # macOS: a group of dead processes
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(TimeoutExpired):
            process.wait(timeout=_END_SECONDS)
        os.killpg(process.pid, signal.SIGKILL)


def _heard(
    process: Popen[str], errors: str, seconds: float, given: str, most: float
) -> tuple[str, str]:
    """What a process printed until it ended; raises as `ran` does."""
    from subprocess import TimeoutExpired

    has_ended = False
    while True:
        # Input that was not read within a step is never sent: `communicate` accepts it only once.
        step = seconds if len(given) > _SOON_READ else min(_LOOK_SECONDS, seconds)
        try:
            return process.communicate(given or None, timeout=max(step, 0))
        except TimeoutExpired as late:
            shown = (late.output or b"", late.stderr or b"")
            if sum(map(len, shown)) > most:
                raise OverflowError from None
            if has_ended:  # checked before the last read, so that all of its words are here
                out, err = (words.decode("utf-8", errors) for words in shown)
                return out, err
            has_ended, given, seconds = process.poll() is not None, "", seconds - step
            if seconds <= 0 and not has_ended:
                raise


ATTEMPTS = 3
SHORTEST = 0.2
LONGEST = 2.0
PATIENCE = 60.0


def reading(deadline: Deadline, call: Callable[[], T], patience: float = PATIENCE) -> T:
    """The result of `call`, which is tried up to three times while it raises `Transient`.

    Between two attempts are 0.2 to 2 seconds, growing and jittered, or the time that the server named if
    that is longer. If the wait would last beyond the deadline, or longer than `patience`, the error is
    raised at once.

    Args:
        deadline: when everything has to be over; its clock does the waiting.
        call: a read, or a write that may be applied twice. Never a write that creates something.
        patience: the longest single wait, in seconds; if a rate limit lasts longer, its error is raised.

    Raises:
        Transient: the last attempt's own error. Every other error is raised as it comes.
    """
    try:
        return call()
    except Transient as error:
        return again(deadline, call, error, patience)


def again(
    deadline: Deadline, call: Callable[[], T], failed: Transient, patience: float = PATIENCE
) -> T:
    """What `reading` does if its first attempt failed: rare, and tenacity's import takes longer than it."""
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt
    from tenacity.wait import wait_exponential, wait_random

    growing = wait_exponential(multiplier=SHORTEST, max=LONGEST - SHORTEST)
    backoff = growing + wait_random(0, SHORTEST)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return max(backoff(state), getattr(error, "retry_after", None) or 0.0)

    def is_too_late(state: RetryCallState) -> bool:
        return state.upcoming_sleep >= min(patience, deadline.left)

    made = [failed]

    def attempt() -> T:
        if made:
            raise made.pop()
        return call()

    retrying = Retrying(
        retry=retry_if_exception_type(Transient),
        wait=wait,
        stop=lambda state: stop_after_attempt(ATTEMPTS)(state) or is_too_late(state),
        sleep=deadline.clock.sleep,
        reraise=True,
    )
    return retrying(attempt)


_needed: list[str] = []
"""Modules that will be needed once GitHub has answered."""


def import_meanwhile(*modules: str) -> None:
    """Name modules that are needed after an answer, to import them while the next answer is on its way.

    The process would only wait for that tenth of a second. Without a request they are not imported.
    """
    _needed.extend(modules)


def use_wait() -> None:
    """Import what `import_meanwhile` named, in order; an error is raised again at its user's import."""
    while _needed:
        with suppress(Exception):
            importlib.import_module(_needed.pop(0))
