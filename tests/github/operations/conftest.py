"""A fresh sandbox with the operations on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.github.operations.ground import APP, Ground, ground


@pytest.fixture(name="ground")
def person() -> Iterator[Ground]:
    """A fresh sandbox with a person's operations on it, its request log empty."""
    with ground() as found:
        yield found


@pytest.fixture(name="app")
def app() -> Iterator[Ground]:
    """A fresh sandbox with an app's operations on it, its request log empty."""
    with ground(APP) as found:
        yield found
