"""docs/views.md shows what the views show."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from lifecycle.views.prepared_line import status_words
from lifecycle.views.watch.watch_screen import watch_screen
from tests.docs.overview_schema import SCHEMA
from tests.docs.pages import ROOT, Page, codes_in
from tests.views.overview.overview_ground import OverviewGround, worktree

PAGE = Page(ROOT / "docs/views.md")


@pytest.fixture
def ground(tmp_path: Path) -> OverviewGround:
    """A worktree with everything in it but a workflow."""
    made = worktree(tmp_path / "here")
    made.everything()
    return made


def test_the_screen_is_what_watch_draws(ground: OverviewGround) -> None:
    """Line by line, in 80 columns."""
    console = Console(width=80, file=io.StringIO())
    seen = ground.seen()
    lines = [line.plain.rstrip() for line in watch_screen(seen, console, seen.at, 24)]
    assert PAGE.blocks[0].code.rstrip() == "\n".join(lines).rstrip()


def test_the_line_is_what_the_status_line_says(ground: OverviewGround) -> None:
    """Without colours and links."""
    ground.workflow()
    line = re.sub(r"\x1b\]8;;[^\x07]*\x07", "", status_words(ground.seen(), is_plain=True))
    assert line.split() == PAGE.blocks[1].code.split()


def test_every_key_of_the_schema_is_explained() -> None:
    """And no other."""
    (table,) = [t for t in PAGE.tables if t.header[0] == "key" and "has" in t.header[1]]
    named = {code for row in table.rows for code in codes_in(row[0])}
    known = set(json.loads(SCHEMA.read_text("utf-8"))["properties"])
    assert named == known - {"schema_version", "withheld"}
