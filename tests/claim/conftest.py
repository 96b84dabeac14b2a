"""Worktrees that tests of the claim share."""

from __future__ import annotations

import pytest

from tests.claim.linked_ground import tracker_of
from tests.conftest import Place


@pytest.fixture
def both(place: Place) -> Place:
    """A worktree whose tasks are kept in memory, and one of them is linked to issue 42."""
    (place.root / ".lifecycle.toml").write_text('[tracker]\nuse = "memory"\n')
    exclude = place.root / ".git/info/exclude"
    exclude.write_text(f"{exclude.read_text()}.lifecycle.toml\n")
    tracker_of(place).create("k", title="Fix race", external="octo-org/hello-service#42")
    return place
