"""A worktree with a run in it, in tests: its file with a clock that the test moves, and its commands."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifecycle.core.timing import Deadline
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run
from lifecycle.run.stories.begin import new_run
from tests.cli.outcome import ok
from tests.conftest import COMMAND, ManualClock


@dataclass
class RunGround:
    """A git worktree of a user whose home lies beside it."""

    root: Path
    clock: ManualClock = field(default_factory=ManualClock)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of that user: no client runs anything here."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.root.parent / "home")}

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

    def git(self, *words: str) -> str:
        """Run git here; it must succeed."""
        own = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
        done = subprocess.run(
            ["git", *own, *words], cwd=self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def run(self, *words: str, stdin: str = "", **environment: str) -> Any:
        """Run `lifecycle run …` as a process that reads this on its standard input."""
        return subprocess.run(
            [COMMAND, "run", *words],
            cwd=self.root,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            input=stdin,
            timeout=60,
            check=False,
        )

    def said(self, *words: str, **environment: str) -> str:
        """What such a command prints; it must succeed."""
        return ok(self.run(*words, **environment))

    def data(self, *words: str, **environment: str) -> dict[str, Any]:
        """What such a command prints with `--json`; it must succeed."""
        loaded: dict[str, Any] = json.loads(self.said(*words, "--json", **environment))
        return loaded
