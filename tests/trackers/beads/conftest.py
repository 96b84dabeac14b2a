"""A workspace of the newest recorded build, and one of each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.trackers.beads import grounds, simulated


@pytest.fixture
def ground() -> Iterator[grounds.BeadsGround]:
    """Build 1.0.5."""
    with grounds.known("1.0.5") as made:
        yield made


@pytest.fixture(params=simulated.PROFILES)
def each(request: pytest.FixtureRequest) -> Iterator[grounds.BeadsGround]:
    """Each recorded build in turn."""
    with grounds.known(request.param) as made:
        yield made
