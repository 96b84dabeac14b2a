"""Where platforms are looked for, in tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.platforms.platform_ground import OWN, WORKFLOWS


@dataclass(frozen=True)
class Ground:
    """A worktree with its neighbours and the user's home, all in folders of the test's own."""

    root: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables that name the home."""
        return {"HOME": str(self.home)}

    @property
    def project(self) -> Path:
        """Where the project has its platforms."""
        return self.root / WORKFLOWS

    @property
    def neighbour(self) -> Path:
        """Where the folder beside it has some."""
        return self.root.parent / WORKFLOWS

    @property
    def own(self) -> Path:
        """Where the user has theirs."""
        return self.home / OWN


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """A worktree with the file that tests' platforms are known by."""
    root = tmp_path / "work" / "root"
    root.mkdir(parents=True)
    (root / "marker").touch()
    return Ground(root, tmp_path / "home")
