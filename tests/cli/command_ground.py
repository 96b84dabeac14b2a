"""A worktree in tests where a group of commands is run as processes, and git beside them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests.cli.outcome import ok, run
from tests.conftest import COMMAND


@dataclass
class CommandGround:
    """A git worktree of a user whose home lies beside it."""

    root: Path

    group: ClassVar[str] = ""
    """The word between `lifecycle` and a command's own words."""

    @property
    def environment(self) -> dict[str, str]:
        """The variables of that user: no client runs anything here."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.root.parent / "home")}

    def run(self, *words: str, stdin: str = "", **environment: str) -> Any:
        """Run `lifecycle GROUP …` as a process that reads this on its standard input."""
        env = {**self.environment, **environment}
        return run(COMMAND, self.group, *words, cwd=self.root, env=env, stdin=stdin)

    def said(self, *words: str, **environment: str) -> str:
        """What such a command prints; it must succeed."""
        return ok(self.run(*words, **environment))

    def data(self, *words: str, **environment: str) -> dict[str, Any]:
        """What such a command prints with `--json`; it must succeed."""
        loaded: dict[str, Any] = json.loads(self.said(*words, "--json", **environment))
        return loaded

    def git(self, *words: str) -> str:
        """Run git here; it must succeed."""
        own = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
        done = subprocess.run(
            ["git", *own, *words], cwd=self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()
