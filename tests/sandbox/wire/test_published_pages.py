"""The pages that refusals name are those of GitHub's published description."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from tests.conformance.sources import need
from tests.sandbox.wire.published_pages import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_pages_are_those_of_the_description(tmp_path: Path) -> None:
    """What `make pages` would write is what is there."""
    assert main([str(need("openapi")), str(tmp_path / "pages.txt")]) == 0
    kept = files("lifecycle.sandbox.wire.rest").joinpath("pages.txt").read_text("utf-8")
    assert (tmp_path / "pages.txt").read_text(encoding="utf-8") == kept


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """Without its two arguments it says how it is used, exit code 2."""
    assert main([]) == 2
    assert capsys.readouterr().err.startswith("Usage: python -m tests.sandbox.wire.published_pages")
