"""The real Claude Code in front of a scripted model and the embedded GitHub.

`make claude` installs it. Where it is not installed, its tests are not run, and the end says so
(`tests/needed.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.claude_code.client import Client
from tests.clients.claude_code.model import Model
from tests.clients.claude_code.wiring import init
from tests.conftest import STARTED, Place
from tests.needed import ROOT, from_npm, lack

PACKAGES = ROOT / ".cache" / "claude" / "node_modules" / "@anthropic-ai"


@pytest.fixture(scope="session")
def program() -> Path:
    """The native program: npm installs the one package of this platform, and no script of it is run."""
    found = sorted(PACKAGES.glob("claude-code-*/claude"))
    if not found:
        lack("the real Claude Code", from_npm("claude"))
    return found[0]


@pytest.fixture
def command() -> Path:
    """Started, not forked: parents and signals are what the client makes them."""
    return STARTED


@pytest.fixture
def model() -> Iterator[Model]:
    """A model without a script yet."""
    with Model() as listening:
        yield listening


@pytest.fixture
def client(program: Path, place: Place, model: Model, tmp_path: Path) -> Iterator[Client]:
    """The client in the worktree; it has neither hooks nor the plugin yet."""
    yield Client(program, place, model, tmp_path)
    log = place.root / ".lifecycle" / "log"
    if log.exists():
        print(log.read_text())  # noqa: T201 - pytest shows it where a test failed


@pytest.fixture
def open_pull(client: Client, place: Place) -> Place:
    """The hooks, and a claim of nobody's yet whose pull request #46 is open and watched."""
    init(client)
    (place.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.2\n")
    place.ready()
    client.lifecycle("tick")
    return place
