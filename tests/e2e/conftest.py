"""A GitHub whose inside a test can see, and a server that forks hooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.sandbox.server import Sandbox, SandboxInfo
from tests.conftest import Place
from tests.e2e.forked import Forked
from tests.e2e.staged import Ground
from tests.trackers.beads import simulated


@pytest.fixture
def running() -> Iterator[Sandbox]:
    """A fresh embedded GitHub in this process."""
    with Sandbox() as started:
        yield started


@pytest.fixture
def sandbox(running: Sandbox) -> SandboxInfo:
    """Where it is; `place` is a clone of its repository."""
    return running.info


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
