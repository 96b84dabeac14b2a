"""A GitHub whose inside a test can see, and a server that forks hooks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lifecycle.sandbox.server import Sandbox, SandboxInfo
from tests.e2e.forked import Forked


@pytest.fixture
def running() -> Iterator[Sandbox]:
    """A fresh embedded GitHub in this process."""
    with Sandbox() as started:
        yield started


@pytest.fixture
def sandbox(running: Sandbox) -> SandboxInfo:
    """Where it is; `place` is a clone of its repository."""
    return running.info


@pytest.fixture(scope="session")
def forked() -> Iterator[Forked]:
    """The server, one for all tests of a process."""
    with Forked() as started:
        yield started
