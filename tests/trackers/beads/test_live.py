"""The suite on the real bd, where there is one on PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.trackers.beads.bd_process import Runner
from lifecycle.trackers.beads.bd_tracker import BeadsTracker
from lifecycle.trackers.conformance.suite import CheckOutcome, run

pytestmark = pytest.mark.skipif(
    shutil.which("bd") is None,
    reason="No bd is on PATH, so the real one was not asked; install it to run this.",
)


class _Ground:
    """A fresh workspace of the real bd."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def tracker(self, actor: str) -> BeadsTracker:
        """A tracker in the name of this actor."""
        return BeadsTracker(Runner(self.root, {}, actor, Deadline(SystemClock(), None)))

    def holder(self, actor: str) -> str:
        """The actor's own name."""
        return actor

    def writes(self) -> int | None:
        """Nobody counts them."""
        return None

    def later(self, _seconds: float) -> bool:
        """Its time is its own."""
        return False


@pytest.mark.timeout(900)
def test_the_suite_holds_on_the_real_one(tmp_path: Path) -> None:
    """No check of the suite fails in a workspace of its own."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    around = {name: value for name, value in os.environ.items() if name != "BEADS_DIR"}
    made = ["bd", "init", "--prefix", "live", "--quiet"]
    subprocess.run(made, cwd=tmp_path, env=around, check=True, stdin=subprocess.DEVNULL)
    results = list(run(_Ground(tmp_path)))
    failed = [f"{r.check}: {r.words}" for r in results if r.outcome is CheckOutcome.FAILED]
    assert not failed, "\n".join(failed)
