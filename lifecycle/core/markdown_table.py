"""Tables in Markdown whose cells show anybody's words as data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.core.redact import LIMIT, as_data, short


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; without rows, a sentence instead."""
    cells = [f"| {' | '.join(cell(text) for text in row)} |" for row in rows]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join('-' * (len(title) + 2) for title in head)}|"]
    return [*lines, *cells] if cells else ["None."]


def cell(text: str) -> str:
    """The text in the form of a cell: one line, of a bounded length, that ends no column."""
    return short(as_data(" ".join(text.split())), LIMIT).replace("|", "\\|")
