"""How fast a run may write.

Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.core.ports import Clock

FREE = 10
"""Writes that need no pause: the pause is for who makes a large number of them."""

PAUSE = 1.0
"""Seconds between two writes after those."""


@dataclass(slots=True)
class Pace:
    """Counts the writes of a run and waits before the next one where that is due."""

    clock: Clock
    made: int = 0
    last: float = 0.0

    def wait(self) -> None:
        """Wait until the next write may be made, and count it."""
        if self.made >= FREE:
            left = self.last + PAUSE - self.clock.monotonic()
            if left > 0:
                self.clock.sleep(left)
        self.made += 1
        self.last = self.clock.monotonic()
