"""The documentation, read as Markdown, so that tests can hold it against the code.

The parser is markdown-it-py, which reads the agents' words, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
REFERENCE = ROOT / "docs" / "reference.md"


def every_page() -> list[Path]:
    """Every Markdown file that is written for people, in name order."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of code and its language."""

    language: str
    code: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the heading above it, and each row's cells as Markdown text."""

    heading: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def codes(self, column: int = 0) -> list[str]:
        """Everything in `code` quotes in one column, from top to bottom."""
        return [code for row in self.rows for code in codes_in(row[column])]


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path

    @cached_property
    def text(self) -> str:
        """The file's text."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tokens(self) -> list[Token]:
        """What the parser made of it."""
        return _parsed(self.text)

    @property
    def blocks(self) -> list[Block]:
        """Every fenced block, in order."""
        return [Block(t.info.strip(), t.content) for t in self.tokens if t.type == "fence"]

    def blocks_in(self, language: str) -> list[str]:
        """The code of every block in one language."""
        return [block.code for block in self.blocks if block.language == language]

    def blocks_under(self, heading: str) -> list[Block]:
        """Every fenced block between a heading of the second rank and the next of that rank."""
        found: list[Block] = []
        at = ""
        for before, token in zip(self.tokens, self.tokens[1:], strict=False):
            if before.type == "heading_open" and before.tag == "h2":
                at = token.content
            elif token.type == "fence" and at == heading:
                found.append(Block(token.info.strip(), token.content))
        return found

    @property
    def headings(self) -> list[str]:
        """The text of every heading, in order."""
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        return [inline.content for before, inline in pairs if before.type == "heading_open"]

    @property
    def anchors(self) -> set[str]:
        """The fragment that GitHub gives to each heading."""
        return {
            re.sub(r"[^\w\- ]", "", heading.casefold()).replace(" ", "-")
            for heading in self.headings
        }

    @property
    def links(self) -> list[str]:
        """Where every link and image points to."""
        inlines = [child for token in self.tokens for child in token.children or ()]
        names = {"link_open": "href", "image": "src"}
        return [str(t.attrs[names[t.type]]) for t in inlines if t.type in names]

    @property
    def tables(self) -> list[Table]:
        """Every table, in order."""
        found: list[Table] = []
        heading, rows = "", [[""]]
        for before, token in zip(self.tokens, self.tokens[1:], strict=False):
            if before.type == "heading_open":
                heading = token.content
            elif before.type == "table_open":
                rows = []
            elif before.type == "tr_open":
                rows.append([])
            if before.type in ("th_open", "td_open"):
                rows[-1].append(token.content)
            elif token.type == "table_close":
                head, *body = [tuple(row) for row in rows]
                found.append(Table(heading, head, tuple(body)))
        return found

    def table(self, heading: str) -> Table:
        """The first table under a heading."""
        found = [table for table in self.tables if table.heading == heading]
        assert found, f"{self.path.name} has no table under {heading!r}"
        return found[0]

    def section(self, heading: str) -> str:
        """The text under a heading, up to the next one of its rank or above."""
        match = re.search(rf"(?ms)^(#+) {re.escape(heading)}\n(.*?)(?=^#{{1,2}} |\Z)", self.text)
        assert match, f"{self.path.name} has no heading {heading!r}"
        return match[2]


@cache
def _parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def codes_in(text: str) -> list[str]:
    """Everything in `code` quotes in a piece of inline Markdown."""
    return [*_codes_in(text)]


@cache
def _codes_in(text: str) -> list[str]:
    tokens = MarkdownIt("commonmark").parseInline(text)
    return [t.content for one in tokens for t in one.children or () if t.type == "code_inline"]
