"""A repair of all that an owner has, with pauses that are counted and not waited for; prints JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.reconcile.reconcile_run import reconcile
from lifecycle.reconcile.scope import Policy, Scope
from lifecycle.storage.state_file import MemoryCache

SECONDS = 3_600.0


class Unhurried(SystemClock):
    """A clock that is set forward by whoever sleeps."""

    def __init__(self) -> None:
        self.paused = 0.0

    def now(self) -> float:
        """As if the pauses had been waited for."""
        return super().now() + self.paused

    def monotonic(self) -> float:
        """As if the pauses had been waited for."""
        return super().monotonic() + self.paused

    def sleep(self, seconds: float) -> None:
        """Nothing but the count."""
        self.paused += seconds


def main(owner: str, silent_hours: str) -> int:
    """Repair everything of an owner."""
    clock = Unhurried()
    world = WorktreeWorld(
        Path.cwd(), os.environ, clock, Deadline.after(clock, SECONDS), MemoryCache()
    )
    try:
        report = reconcile(
            world, Scope(owner=owner), Policy(silent_seconds=float(silent_hours) * 3600)
        )
    finally:
        world.close()
    sys.stdout.write(json.dumps({**report.as_json(), "paused": clock.paused}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
