"""A clone with a home of its own, and everything in it to the byte."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.outcome import run
from tests.conftest import COMMAND


@dataclass(frozen=True)
class Clone:
    """A git repository, its user, and the command."""

    root: Path
    home: Path
    command: Path = COMMAND

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the developer's own."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def run(self, *arguments: str, cwd: Path | None = None, **environment: str) -> Any:
        """Run `lifecycle` here."""
        env = {**self.environment, **environment}
        return run(self.command, *arguments, cwd=cwd or self.root, env=env)

    def git(self, *arguments: str) -> str:
        """Run git here; it must succeed."""
        done = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", *arguments],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of the repository."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def read(self, name: str) -> str:
        """A file of the repository, as it is."""
        return (self.root / name).read_bytes().decode()

    def picture(self) -> dict[str, tuple[int, int, bytes]]:
        """Every file of the repository, git's settings included: mode, mtime, content; and folders."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if name.startswith(".git/") and name != ".git/info/exclude":
                continue
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[name] = (status.st_mode, 0 if path.is_dir() else status.st_mtime_ns, content)
        return found

    def contents(self) -> dict[str, tuple[int, bytes]]:
        """As `picture`, without times."""
        return {name: (mode, content) for name, (mode, _, content) in self.picture().items()}


@pytest.fixture
def clone(tmp_path: Path, command: Path) -> Clone:
    """An empty repository whose path has a space and an accent."""
    made = Clone(tmp_path / "a clône", tmp_path / "home", command)
    made.root.mkdir()
    made.home.mkdir()
    made.git("init", "--quiet")
    return made
