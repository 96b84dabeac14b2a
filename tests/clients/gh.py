"""The real `gh`, as a person's script runs it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLASSIC_PROJECTS = (
    "Projects (classic) is being deprecated in favor of the new Projects experience, see: "
    "https://github.blog/changelog/2024-05-23-sunset-notice-projects-classic/."
)
"""What GitHub says to whoever asks for classic projects."""


@dataclass(frozen=True, slots=True)
class Gh:
    """A clone and the `gh` that works in it, in the environment that a user would set."""

    folder: Path
    environment: dict[str, str]

    def tried(self, *arguments: str, token: str = "") -> subprocess.CompletedProcess[str]:
        """Run `gh`, whatever comes of it."""
        return subprocess.run(
            ["gh", *arguments],
            cwd=self.folder,
            env=self.environment | ({"GH_TOKEN": token} if token else {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def run(self, *arguments: str, token: str = "") -> str:
        """Run `gh`, which must succeed; what it printed."""
        done = self.tried(*arguments, token=token)
        assert done.returncode == 0, (arguments, done.stderr, done.stdout)
        return done.stdout.strip()

    def refused(self, *arguments: str, token: str = "") -> str:
        """Run `gh`, which must fail; what it complained of."""
        done = self.tried(*arguments, token=token)
        assert done.returncode != 0, (arguments, done.stdout)
        return done.stderr

    def json(self, *arguments: str, fields: str = "") -> Any:
        """What `gh … --json fields` says, or `gh api` without fields."""
        return json.loads(self.run(*arguments, *(("--json", fields) if fields else ())))

    def number(self, *arguments: str) -> int:
        """The number of what `gh … create` made: it prints the address."""
        return int(self.run(*arguments).rsplit("/", 1)[1])
