"""Where a run's commands are run, in tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.run.run_ground import RunGround


@pytest.fixture
def ground(tmp_path: Path) -> RunGround:
    """A git worktree without a run."""
    root = tmp_path / "a clone's"
    subprocess.run(["git", "init", "--quiet", root], check=True)
    return RunGround(root)
