"""A workspace of the newest recorded build, and one of each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.forked import Forked
from tests.repeated import soaked
from tests.trackers.beads import grounds, simulated


@pytest.fixture(autouse=True)
def as_marked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bd of a test marked `started` is a Python of its own."""
    if request.node.get_closest_marker("started"):
        monkeypatch.setattr(Forked, "bd", None)


@pytest.fixture
def ground() -> Iterator[grounds.BeadsGround]:
    """Build 1.0.5."""
    with grounds.known("1.0.5") as made:
        yield made


OLDER = [soaked(profile) for profile in simulated.PROFILES if profile != "1.0.5"]
"""What these answer otherwise, test_decode, test_probe and test_rows have for each of them."""


@pytest.fixture(params=["1.0.5", *OLDER])
def each(request: pytest.FixtureRequest) -> Iterator[grounds.BeadsGround]:
    """Each recorded build in turn."""
    with grounds.known(request.param) as made:
        yield made
