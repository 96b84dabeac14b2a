"""Tables in Markdown: what strangers wrote stays in its cell."""

from __future__ import annotations

from lifecycle.core.markdown_table import cell, table


def test_a_table_has_one_line_for_each_row() -> None:
    """Whatever its cells hold: no line ends in one, no column, no tag of a client."""
    lines = table(("A", "Long"), [("x\ny", "a|b"), ("[i](http://x)", "c")])
    assert lines == [
        "| A | Long |",
        "|---|------|",
        "| x y | a\\|b |",
        "| [i] (http://x) | c |",
    ]
    assert len(cell("x" * 999)) == 200


def test_a_table_without_rows_is_a_word() -> None:
    """Nobody reads an empty table."""
    assert table(("A",), []) == ["None."]
