"""A worktree with the staged workflow on, its tasks in the simulated `bd`, and agents that work there."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.core.stage_names import Detected
from lifecycle.storage import journal
from tests.conftest import Place
from tests.e2e.agent import Agent
from tests.trackers.beads import simulated

LABEL = "auto-workflow"


def marker(state: Detected) -> str:
    """The marker as an agent emits it."""
    return f"All of it is done.\n\n::: WORKFLOW_STAGE: {state} :::"


@dataclass
class Ground:
    """The worktree.

    Attributes:
        place: the worktree, in front of an embedded GitHub.
        bin: the folder of the simulated program.
        command: what hooks start for `lifecycle`.
    """

    place: Place
    bin: Path
    command: str

    @property
    def root(self) -> Path:
        """The worktree's top folder."""
        return self.place.root

    @property
    def here(self) -> Path:
        """`.lifecycle/`."""
        return self.root / ".lifecycle"

    def settings(self, text: str = "") -> None:
        """`.lifecycle.toml`, as old as after a minute: its date says all that the guards need."""
        path = self.root / ".lifecycle.toml"
        path.write_text(f"[stages]\nuse = true\n{text}")
        moment = time.time() - 60
        os.utime(path, (moment, moment))

    def agent(self, **more: Any) -> Agent:
        """A session of a client here."""
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        return Agent(self.place, {"LIFECYCLE_BIN": self.command, "PATH": path}, **more)

    def task(self, title: str, *labels: str, priority: int = 2) -> str:
        """Somebody writes a task down."""
        return simulated.create(
            self.bin, self.root, title, *(labels or (LABEL,)), priority=priority
        )

    def bd(self, *arguments: str, actor: str = "a-person") -> Any:
        """Somebody runs `bd`."""
        return simulated.run(self.bin, self.root, *arguments, actor=actor)

    def calls(self) -> int:
        """How often `bd` was started so far."""
        path = self.bin / "calls.jsonl"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def forget_the_minute(self) -> None:
        """A minute passes: what the tracker said last is old."""
        path = self.here / "stages/tasks.json"
        if path.exists():
            text = path.read_text()
            at = text.partition('"at": ')[2].partition(",")[0]
            path.write_text(text.replace(at, str(float(at) - 120), 1))

    def log(self) -> list[str]:
        """The workflow's own log, without the moments."""
        path = self.root / ".claude/workflow_orchestrator.log"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.partition("] ")[2] for line in lines]

    def journal(self, kind: str) -> list[tuple[str, str, str]]:
        """The journal's entries of a kind: task, source, target."""
        return [
            (entry.task, entry.source, entry.target)
            for entry in journal.read(self.root)
            if entry.system == journal.STAGES and entry.kind == kind
        ]
