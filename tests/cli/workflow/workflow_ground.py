"""A worktree with workflows in it, in tests: its commands, and what lies in its files."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.outcome import ok
from tests.conftest import COMMAND

CURRENT = ".claude/state/workflow.json"
VIEW = ".claude/workflow_state_system.md"
ARCHIVE = ".claude/state/workflows/archive"
CHECKPOINTS = "untracked/workflow-state"


@dataclass
class WorkflowGround:
    """A git worktree of a user whose home lies beside it."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables of that user: no client runs anything here."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.root.parent / "home")}

    def run(self, *words: str, stdin: str = "", **environment: str) -> Any:
        """Run `lifecycle workflow …` as a process that reads this on its standard input."""
        return subprocess.run(
            [COMMAND, "workflow", *words],
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

    def git(self, *words: str) -> str:
        """Run git here; it must succeed."""
        own = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
        done = subprocess.run(
            ["git", *own, *words], cwd=self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()
