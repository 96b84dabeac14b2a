"""Where views are shown, in tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.views.view_ground import ViewGround, viewed


@pytest.fixture
def ground(tmp_path: Path) -> ViewGround:
    """A git worktree with nothing of ours in it, and the command in it."""
    return viewed(tmp_path / "a clone's")
