"""A user without clones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.web.web_ground import WebGround


@pytest.fixture
def user(tmp_path: Path) -> WebGround:
    """A user who has no clone yet."""
    (tmp_path / "home").mkdir()
    return WebGround(tmp_path)
