"""Where a workflow's commands are run, in tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.workflow.workflow_ground import WorkflowGround


@pytest.fixture
def ground(tmp_path: Path) -> WorkflowGround:
    """A git worktree without a workflow."""
    root = tmp_path / "a clone's"
    subprocess.run(["git", "init", "--quiet", "-b", "main", root], check=True)
    return WorkflowGround(root)
