"""Tables in Markdown, in whose cells anybody's words are data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.core.redact import LIMIT, as_data, short


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; a sentence instead of one without rows."""
    cells = [f"| {' | '.join(cell(text) for text in row)} |" for row in rows]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join('-' * (len(title) + 2) for title in head)}|"]
    return [*lines, *cells] if cells else ["None."]


def cell(text: str) -> str:
    """Text as a cell has it: one line, of a bounded length, in which no column ends."""
    return short(as_data(" ".join(text.split())), LIMIT).replace("|", "\\|")
