"""The real git, knowing nothing of the developer's own settings."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


def quiet(home: Path) -> dict[str, str]:
    """An environment without the developer: no configuration, no prompt, no other language."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        **{
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.com"))
        },
    }


@dataclass(frozen=True, slots=True)
class Git:
    """A working folder and the git that works in it."""

    folder: Path
    environment: dict[str, str]

    def tried(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run git, whatever comes of it."""
        return subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def run(self, *arguments: str) -> str:
        """Run git, which must succeed; what it printed."""
        done = self.tried(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def refused(self, *arguments: str) -> str:
        """Run git, which must fail; what it complained of."""
        done = self.tried(*arguments)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def commit(self, name: str, text: str = "") -> str:
        """Commit a file; the sha."""
        (self.folder / name).write_text(text or f"{name}\n")
        self.run("add", name)
        self.run("commit", "-q", "-m", f"Add {name}")
        return self.run("rev-parse", "HEAD")

    def remote(self) -> dict[str, str]:
        """The remote's refs by name, as `git ls-remote` tells them."""
        lines = self.run("ls-remote", "origin").splitlines()
        return {name: sha for sha, _, name in (line.partition("\t") for line in lines)}
