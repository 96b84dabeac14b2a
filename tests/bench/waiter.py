"""A real waiter on a clock that is set forward where it would sleep; prints what it used in that time.

`python -m tests.bench.waiter hook ci-waiter` is that hook: the same command, begun anew as often as it
begins itself anew. What it computes is counted over all of them, and its memory is what it holds while it
waits, day and night: at the last moment.
"""

from __future__ import annotations

import os
import sys
import time

from lifecycle.core import timing

PASSED, ENDS = "BENCH_PASSED", "BENCH_ENDS"
"""Seconds by which the clock is ahead, and those after which the client is gone."""


class Hurried(timing.SystemClock):
    """A clock that is set forward by whoever sleeps."""

    def now(self) -> float:
        """As if the time had been waited for."""
        return super().now() + float(os.environ[PASSED])

    def monotonic(self) -> float:
        """As if the time had been waited for."""
        return super().monotonic() + float(os.environ[PASSED])

    def sleep(self, seconds: float) -> None:
        """Nothing but the count; it lasts for the processes that follow this one."""
        os.environ[PASSED] = str(float(os.environ[PASSED]) + seconds)


def resident() -> int:
    """Bytes of memory that this process holds."""
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 -- it imports nothing
        return next(int(one.split()[1]) * 1024 for one in status if one.startswith("VmRSS"))


def main() -> int:
    """Wait as the hook does, until the time is over."""
    timing.SystemClock = Hurried  # type: ignore[misc]  # before anybody imports it
    from lifecycle import __main__
    from lifecycle.hooks import quick_wait

    clock, really_heard = Hurried(), quick_wait.is_heard

    def is_heard(seconds: float, environment: dict[str, str]) -> bool:
        clock.sleep(seconds)
        return really_heard(0, environment) and float(os.environ[PASSED]) < float(os.environ[ENDS])

    quick_wait.is_heard = is_heard  # type: ignore[assignment]  # as it is called
    code = __main__.main()
    sys.stdout.write(f"{code} {time.process_time()} {resident()} {' '.join(sys.modules)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
