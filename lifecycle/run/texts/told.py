"""Texts that somebody gives a run: one line, no secret, nothing that is not seen."""

from __future__ import annotations

from lifecycle.core.errors import Refused
from lifecycle.core.redact import redact, visible

LINE = 2_000
"""Characters of a title, a criterion, a question, an answer."""

LONG = 20_000
"""Characters of a goal, or of a design."""


def kept_words(text: str, longest: int = LINE) -> str:
    """A text as it is kept: one line, without secrets, cut where it is too long."""
    return visible(redact(" ".join(text.split())))[:longest]


def line_of(text: str, what: str, longest: int = LINE) -> str:
    """The text in one line, as it is kept.

    Args:
        text: as it was given.
        what: what it is, with its article, for the refusal: "a story's title".
        longest: characters that it may have.

    Raises:
        Refused: it is empty, or too long.
    """
    words = " ".join(text.split())
    if not words:
        raise Refused(f"There is nothing in {what}, so nothing was changed; give its text.")
    if len(words) > longest:
        raise Refused(
            f"There are {len(words):,} characters in {what}, and {longest:,} at the most, so nothing was "
            "changed. Keep it short, and name the file that holds the rest."
        )
    return visible(redact(words))
