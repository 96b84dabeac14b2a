"""A worktree with a run in it, in tests: its file with a clock that the test moves, and its commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from lifecycle.core.timing import Deadline
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run, new_run
from tests.cli.command_ground import CommandGround
from tests.conftest import ManualClock


@dataclass
class RunGround(CommandGround):
    """A git worktree, and the file of its run."""

    group: ClassVar[str] = "run"
    clock: ManualClock = field(default_factory=ManualClock)

    @property
    def store(self) -> RunStore:
        """The run's file, with this clock."""
        return RunStore(self.root, self.environment, Deadline.after(self.clock, 60))

    @property
    def state(self) -> Path:
        """The file."""
        return self.root / ".claude" / "workflow-state.json"

    def begun(self, goal: str = "Implement payment processing") -> Run:
        """A run that was just begun."""
        run = new_run(goal, self.clock.now())
        with self.store.locked():
            self.store.begin(run)
        return run

    def kept(self, run: Run) -> Run:
        """Put this run into the file, whatever was there."""
        with self.store.locked():
            self.store.begin(run)
        return run
