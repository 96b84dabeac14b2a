"""A worktree with workflows in it, in tests: its commands, and what lies in its files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests.cli.command_ground import CommandGround

CURRENT = ".claude/state/workflow.json"
VIEW = ".claude/workflow_state_system.md"
ARCHIVE = ".claude/state/workflows/archive"
CHECKPOINTS = "untracked/workflow-state"


@dataclass
class WorkflowGround(CommandGround):
    """A git worktree, and what lies in the files of its workflows."""

    group: ClassVar[str] = "workflow"

    def begun(self, *phases: str, name: str = "User Auth", **environment: str) -> dict[str, Any]:
        """A workflow that was just begun, with these phases."""
        every = [word for phase in phases or ("Design", "Build") for word in ("--phase", phase)]
        return self.data("start", name, *every, **environment)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the worktree."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def document(self, name: str = CURRENT) -> dict[str, Any]:
        """What a document holds."""
        loaded: dict[str, Any] = json.loads((self.root / name).read_text(encoding="utf-8"))
        return loaded

    def checkpoints(self) -> list[Path]:
        """The checkpoint documents that lie here."""
        return sorted((self.root / CHECKPOINTS).glob("*/*.json"))

    def files(self) -> dict[str, bytes]:
        """Every file of the worktree's own, but for git's folder and `.lifecycle/`."""
        there = (path for path in self.root.rglob("*") if path.is_file() or path.is_symlink())
        names = ((path.relative_to(self.root).as_posix(), path) for path in there)
        return {
            name: path.read_bytes()
            for name, path in names
            if not name.startswith((".git/", ".lifecycle/"))
        }
