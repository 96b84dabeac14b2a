"""The system's clock, as the entrypoints inject it."""

from __future__ import annotations

import time


class SystemClock:
    """Fits `ports.Clock`."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
