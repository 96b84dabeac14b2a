"""The agent's own prose in a text: its paragraphs, headings and list items, found by a Markdown parser.

Text in a fence, indented code, a block quote, a table, an HTML block or comment, or struck out, is left
out. Inline code is kept, between CODE and END, so that each reader decides about it.

The parser is imported at the first text with a candidate; most stops have none.
Source: https://spec.commonmark.org/0.31.2/, with the tables and the strikethrough of GitHub's dialect.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

CODE, END = "\ue000", "\ue001"
"""The marks around inline code in a block's text."""

HIDDEN = "\ufffc"
"""A placeholder for text that is not the agent's words."""

_BLANKS = dict.fromkeys(map(ord, "\u00a0\u202f\u2007\u2002\u2003\u2009\t"), " ")
_BLANKS |= dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\ufe0f"), "")
_NO_PROSE = ("blockquote", "table")
_OWN_TAG = r"(?i)<(/?)(code|pre|kbd|samp|tt|q|del|s|blockquote|template)\b"
_BOX = r"\[([ xX])\](?:\s+|$)"


class Block:
    """One paragraph, heading or paragraph of a list item.

    Attributes:
        text: its words with its line breaks; inline code between CODE and END.
        lead: the last line of the prose before it, or before its list; "" if code, a quote or a table comes
            between.
        is_item: it is in a list.
        is_headed: `lead` is a heading.
        is_heading: it is a heading itself.
        box: " " or "x" for an item that begins with a check box; else "".
    """

    __slots__ = ("box", "is_headed", "is_heading", "is_item", "lead", "text")

    def __init__(self, text: str, lead: str, box: str) -> None:
        self.text, self.lead, self.box = text, lead, box
        self.is_item = self.is_headed = self.is_heading = False

    @property
    def bare(self) -> str:
        """The text without its inline code."""
        return re.sub(f"{CODE}[^{END}]*{END}", HIDDEN, self.text)


def plain(text: str) -> str:
    """The text with all kinds of blanks as spaces, and without characters of no width."""
    return text.translate(_BLANKS)


@lru_cache(8)
def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of the agent's own prose, in order."""
    markdown = _markdown()
    result: list[Block] = []
    outside, lists, kind = 0, 0, ""
    above = list_lead = ("", False)
    for token in markdown.parse(text):
        name, _, end = token.type.rpartition("_")
        if name in _NO_PROSE or token.type in ("fence", "code_block"):
            outside += token.nesting
            above = ("", False)
        elif name in ("bullet_list", "ordered_list"):
            if not lists:
                list_lead = above
            lists += token.nesting
        elif end == "open":
            kind = name
        elif token.type == "inline" and not outside:
            words = _words(markdown, token)
            box = re.match(_BOX, words) if lists else None
            words = words[box.end() :] if box else words
            lead, is_headed = list_lead if lists else above
            block = Block(words, lead, box[1].lower() if box else "")
            block.is_item, block.is_headed = bool(lists), is_headed
            block.is_heading = kind == "heading"
            result.append(block)
            above = (words.rstrip().rpartition("\n")[2], block.is_heading)
    return tuple(result)


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    markdown.core.ruler.disable("inline")  # done only for the agent's own blocks
    return markdown


def _words(markdown: MarkdownIt, block: Token) -> str:
    """The words of a block as a reader sees them, without emphasis, tags and struck-out text."""
    result: list[str] = []
    tokens: list[Token] = []
    markdown.inline.parse(block.content, markdown, {}, tokens)
    hidden = 0
    for token in tokens:
        tag = re.match(_OWN_TAG, token.content) if token.type == "html_inline" else None
        if token.type in ("s_open", "s_close"):
            hidden += token.nesting
        elif tag:
            hidden = max(0, hidden + (-1 if tag[1] else 1))
        elif token.type == "image" or (hidden and token.type not in ("softbreak", "hardbreak")):
            result.append(HIDDEN)
        elif token.type == "code_inline":
            result.append(f"{CODE}{token.content}{END}")
        elif token.type in ("softbreak", "hardbreak"):
            result.append("\n")
        elif token.type != "html_inline":
            result.append(token.content)
    return plain("".join(result))
