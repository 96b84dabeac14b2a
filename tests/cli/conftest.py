"""Where a reconcile is run, in tests."""

from __future__ import annotations

from dataclasses import replace as changed
from pathlib import Path

import pytest

from tests.cli.reconcile_ground import REPOSITORY, drift
from tests.conftest import Place


@pytest.fixture
def step(place: Place, tmp_path: Path) -> Place:
    """A step of GitHub Actions in an empty workspace: variables, files, no worktree."""
    empty = tmp_path / "workspace"
    empty.mkdir()
    files = {
        "GITHUB_OUTPUT": tmp_path / "output",
        "GITHUB_STEP_SUMMARY": tmp_path / "summary",
        "GITHUB_EVENT_PATH": tmp_path / "event.json",
    }
    for path in files.values():
        path.touch()
    actions = {name: str(path) for name, path in files.items()} | {
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_EVENT_NAME": "schedule",
    }
    return changed(place, root=empty, environment={**place.environment, **actions})


@pytest.fixture
def drifted(place: Place) -> Place:
    """A claimed task whose issue somebody closed on GitHub: its card still says In Progress."""
    drift(place)
    return place
