"""The oracles, each built once in a process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.conformance import recordings as replay
from tests.conformance import sources
from tests.conformance.graph_shape import GraphOracle
from tests.conformance.openapi import RestOracle

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.recordings import Recorded


@cache
def _rest(path: Path) -> RestOracle:
    return RestOracle.load(path)


@pytest.fixture(scope="session")
def rest() -> RestOracle:
    """GitHub's OpenAPI description, as an oracle."""
    return _rest(sources.need("openapi"))


@pytest.fixture(scope="session")
def graph() -> GraphOracle:
    """GitHub's GraphQL schema, as an oracle."""
    return GraphOracle.load(sources.need("sdl"))


@pytest.fixture(scope="session")
def recordings() -> list[Recorded]:
    """Every recorded exchange."""
    return replay.read(sources.need("recordings"))
