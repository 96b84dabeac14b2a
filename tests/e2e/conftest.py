"""Where staged work is done, in tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Place
from tests.e2e.forked import Forked
from tests.e2e.staged import Ground
from tests.trackers.beads import simulated


@pytest.fixture
def ground(place: Place, forked: Forked, tmp_path: Path) -> Ground:
    """A worktree with the staged workflow on and an empty `bd` database."""
    folder = tmp_path / "bin"
    simulated.install(folder)
    simulated.workspace(place.root, folder)
    simulated.allow(place.root, place.environment)
    found = Ground(place, folder, str(forked.command))
    found.settings()
    return found
