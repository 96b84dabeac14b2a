"""Where an overview is read, in tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.overview.overview_ground import OverviewGround, worktree


@pytest.fixture
def ground(tmp_path: Path) -> OverviewGround:
    """A git worktree with nothing of ours in it."""
    return worktree(tmp_path / "a clone's")
