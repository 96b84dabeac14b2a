"""What an agent's text claims in its own words, and a review's verdict in its form.

How a sentence claims something, and what takes that back, is read in `claim_words`; here is told which of a
text's lines are the agent's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from lifecycle.evidence.words import claim_words, word_tables

LINE = 4_000
"""Characters of the longest line that is read; beside a longer one no claim stands."""

LENGTH = 20_000
"""Characters of a text in which words are looked for, from its end."""


def said(text: str, about: tuple[str, ...] = (), wanted: str = "") -> tuple[list[str], list[str]]:
    """What the text claims, the furthest first, and what it says is open: as `claim_words.said` has it."""
    lines = [line[:LINE] for line in text[-LENGTH:].splitlines()]
    claims, still = claim_words.said(lines, about, partial(_prose, text), wanted)
    if claim_words.APPROVED in claims and claim_words.may_have_verdict(text):
        claims.remove(claim_words.APPROVED)  # its verdict is read by its form alone
    return claims, still


def takes_back(text: str) -> bool:
    """True if the text says something that no claim can stand beside."""
    return claim_words.takes_back(_prose(text)[1])


def approves(text: str) -> bool:
    """True if a review's own words approve, and nothing around them is a condition."""
    has_form = claim_words.may_have_verdict(text)  # and that is no verdict there
    return not has_form and claim_words.approves(text[-LENGTH:].splitlines(), partial(_prose, text))


def verdict(text: str) -> str:
    """The verdict of a text's last line in that form: "approved", "changes"; "" if it has none."""
    if not claim_words.may_have_verdict(text):
        return ""
    from lifecycle.evidence.words.prose_blocks import CODE, END, blocks

    lines: list[tuple[str, str]] = []
    every_block = blocks(text)
    for block, later in zip(every_block, (*every_block, None)[1:], strict=True):
        if block.box == " " or (later and _has("goes on", later.text, re.match)):
            continue  # nobody ticked it; or a sentence goes on behind it
        above = block.lead if _announces(block.lead) or block.is_item else ""
        for line in block.text.split("\n"):
            lines.append((line.replace(CODE, "").replace(END, ""), above))
            above = "" if re.search(r"[.!?;)\]*_]\s*$", line) else line
    return claim_words.verdict(lines)


def _prose(text: str) -> tuple[list[str], list[str], bool]:
    """The lines of the agent's own that say something, all of its prose, and whether a box is unchecked."""
    from lifecycle.evidence.words.prose_blocks import blocks

    text = re.sub(rf"(?m)^.{{{LINE},}}$", "todo", text)
    own: list[str] = []
    cells = re.findall(r"[^|\n]+(?=\|)", "\n".join(re.findall(r"(?m)^ *\|.*", text)))
    all_lines = [f"{claim_words.ITEM}{cell.strip()}" for cell in cells]
    fences = "\n".join(re.findall(r"(?ms)^ {0,3}(?:```|~~~).*?^ {0,3}(?:```|~~~)", text))
    all_lines += [f"{claim_words.ITEM}todo"] if _has("empty fence", fences) else []
    every_block = blocks(text)
    for block in every_block:
        # A line that goes on in the next is joined with it.
        words = block.text if len(block.text) < LINE else "todo"
        parts = re.split(r"(?<=[.!?:;])\n|\n(?=\W*[A-Z\u2705/])", words)
        sign = claim_words.ITEM if block.is_item or block.is_heading else ""
        lines = [f"{sign}{line}" for line in parts if line.strip()]
        all_lines += lines
        is_led = _announces(block.lead, ",") or (block.is_item and block.lead)
        is_alone = block.is_item and not (block.lead or block.box)  # nothing announces the list
        is_due = _has("unled", block.lead) or not (_has("led", block.lead) or block.is_headed)
        is_strange = is_alone or (is_led and is_due)
        is_code = re.fullmatch("\ue000[^\ue001]* [^\ue001]*\ue001[.!]?", words)
        if not is_strange and not is_code:
            own += lines
    return own, all_lines, any(block.box == " " for block in every_block)


def _announces(lead: str, *more: str) -> bool:
    return lead.rstrip(" *_").endswith((":", *more))


def _has(kind: str, text: str, how: Callable[..., object] = re.search) -> bool:
    return how(word_tables.pattern(claim_words.TABLE, kind), text, re.IGNORECASE) is not None
