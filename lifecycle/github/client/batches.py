"""Batches of the size that GitHub manages: halved where it does not, grown back slowly.

GitHub ends a request after ten seconds and leaves out what takes too much of it; how much that is depends
on the repositories and on the hour, so it is found out.
Sources: https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api and
https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#timeouts
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lifecycle.core.errors import Transient
from lifecycle.core.timing import Deadline, reading

T = TypeVar("T")

LONGEST_WAIT = 10.0
"""Seconds for which a limit is waited out here; a longer one ends the sweep."""
_WAITS = 3
_GROWS_AFTER = 4
_ALONE = 2
"""So many things in a row that cannot even be read alone: then nothing can."""
_NOTHING_LEFT = 0.05


class Batches:
    """How many things the next request asks for.

    Args:
        deadline: when all has to be over; its clock does the waiting.
        most: the size to begin with, and never to exceed.

    Attributes:
        size: how many the next request should ask for.
    """

    def __init__(self, deadline: Deadline, most: int) -> None:
        self.size = self.most = most
        self._deadline = deadline
        self._good = 0
        self._failed_alone = 0

    def attempt(self, count: int, ask: Callable[[], T]) -> T | Transient:
        """What `ask` returns, or why GitHub did not manage it: then `size` is smaller than `count`.

        The same size is not asked for twice; one thing alone is, up to three times, and what is
        returned then is why it cannot be read.

        Args:
            count: how many things are asked for.
            ask: one request.

        Raises:
            Transient: a limit that lasts longer than a few seconds, the deadline, or an outage: several
                things in a row could not be read alone.
            Rejected: as `ask` raises it.
        """
        try:
            found = self._patiently(ask) if count > 1 else self._alone(ask)
        except Transient as error:
            if error.retry_after is not None or self._deadline.left <= _NOTHING_LEFT:
                raise
            self._good = 0
            self.size = max(min(count, self.size) // 2, 1)
            if count > 1:
                return error
            self._failed_alone += 1
            if self._failed_alone >= _ALONE:
                raise
            return error
        self._managed()
        return found

    def _managed(self) -> None:
        self._failed_alone = 0
        self._good += 1
        if self._good >= _GROWS_AFTER:
            self.size = min(self.size + max(self.size // 4, 1), self.most)
            self._good = 0

    def _alone(self, ask: Callable[[], T]) -> T:
        """One thing, asked for again while nobody answers; how long a limit lasts is not for `reading`."""

        def once() -> T:
            try:
                return ask()
            except Transient as error:
                if error.retry_after is None:
                    raise
                raise _Limited(error) from None

        def again() -> T:
            try:
                return reading(self._deadline, once)
            except _Limited as limited:
                raise limited.error from None

        return self._patiently(again)

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask, and wait out a limit that does not last long."""
        for _ in range(_WAITS):
            try:
                return ask()
            except Transient as error:
                wait = error.retry_after
                if wait is None or wait > LONGEST_WAIT or wait >= self._deadline.left:
                    raise
                self._deadline.clock.sleep(wait)
        return ask()


class _Limited(Exception):
    """A limit's error, which `reading` does not take for one to be asked again."""

    def __init__(self, error: Transient) -> None:
        super().__init__(error.sentence)
        self.error = error
