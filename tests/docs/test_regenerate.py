"""The generated parts of the pages are those of today's code."""

from __future__ import annotations

import re

import pytest

from lifecycle.claim.decisions.table import CLAIM
from tests.docs import regenerate
from tests.docs.demo_picture import PICTURE, picture, printed, words_in
from tests.docs.pages import REFERENCE, Page
from tests.docs.reference_tables import settings
from tests.docs.regenerate import PAGES, STATES, renewed

FRESH = [name for name in (*regenerate.PARTS, *regenerate.EXPLAINED) if name != "demo"]


@pytest.mark.parametrize("name", FRESH)
def test_generated_parts_are_fresh(name: str) -> None:
    """What stands between the markers is what the code gives now; else: make docs."""
    pages = [path for path, names in PAGES if name in names]
    assert pages
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert renewed(text, (name,)) == text, f"{path.name} is stale: run make docs"


def test_demo_prints_what_the_reference_shows() -> None:
    """The page's story is what `lifecycle demo` prints, up to line breaks and passing numbers."""
    text = REFERENCE.read_text(encoding="utf-8")
    assert renewed(text, ("demo",)).split() == text.split(), "reference.md is stale: run make docs"


def test_the_picture_shows_what_demo_prints() -> None:
    """The README's picture has every word of the same run, in its order, and loads nothing."""
    kept = PICTURE.read_text(encoding="utf-8")
    assert words_in(kept) == "".join(printed().plain.split()), "demo.svg is stale: run make docs"
    assert picture() == picture()
    assert "url(http" not in kept
    assert "href" not in kept


def test_a_setting_without_a_meaning_is_an_error() -> None:
    """Whoever adds a setting is told to explain it; what the page says of the others is kept."""
    (text,) = re.findall(
        r"(?s)<!-- settings: .*?-->\n(.*?)<!-- /settings -->", Page(REFERENCE).text
    )
    assert settings(text) == text.rstrip("\n")
    lines = [line for line in text.splitlines() if not line.startswith("| `labels.use`")]
    with pytest.raises(ValueError, match=re.escape("does not explain 'labels.use'")):
        settings("\n".join(lines))


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
