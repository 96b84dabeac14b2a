"""The generated parts of the pages are those of today's code."""

from __future__ import annotations

import re

import pytest

from lifecycle.claim.decisions.table import CLAIM
from tests.docs import regenerate
from tests.docs.pages import README, Page
from tests.docs.regenerate import PAGES, STATES, renewed


@pytest.mark.parametrize("name", ["phases", "moves", "steps", "stages", "inferred"])
def test_generated_parts_are_fresh(name: str) -> None:
    """What stands between the markers is what the phase table gives now; else: make docs."""
    pages = [path for path, names in PAGES if name in names]
    assert pages
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert renewed(text, (name,)) == text, f"{path.name} is stale: run make docs"


def test_demo_prints_what_the_readme_shows() -> None:
    """The README's story is what `lifecycle demo` prints, up to line breaks and passing numbers."""
    text = README.read_text(encoding="utf-8")
    assert renewed(text, ("demo",)).split() == text.split(), "README.md is stale: run make docs"


def test_every_move_of_the_table_is_on_the_states_page() -> None:
    """The page lists each phase of the table, and each move with its reason."""
    rows = {(row[0], row[1], row[2]) for row in Page(STATES).table("Legal moves").rows}
    wanted = {
        (f"`{phase}`", f"`{after}`", why)
        for phase, row in CLAIM.table.items()
        for after, why in row.items()
    }
    assert wanted < rows
    assert {row[0] for row in rows} == {f"`{phase}`" for phase in CLAIM.table}


def test_a_stale_part_is_renewed_and_the_rest_is_kept() -> None:
    """Only what lies between the two comments changes."""
    page = "before\n<!-- moves: x -->\nold\nlines\n<!-- /moves -->\nafter\n"
    after = renewed(page, ("moves",))
    assert after == f"before\n<!-- moves: x -->\n{regenerate.moves()}\n<!-- /moves -->\nafter\n"
    assert renewed(after, ("moves",)) == after


def test_a_lost_marker_is_an_error() -> None:
    """A page without the comments is refused: nothing would be renewed on it ever again."""
    with pytest.raises(ValueError, match=re.escape("0 times, not once")):
        renewed("<!-- moves: x -->\nno end\n", ("moves",))
