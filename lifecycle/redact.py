"""Makes text fit to leave the process: no secret goes out, and nothing of a stranger's is hidden."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

# Patterns are text here, and made where a text may hold such a thing: a hook that has one line for the
# log starts in less than they cost.
_PATTERNS = (
    ("gh", r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("://", r"(?<=://)[^/@\s:]+:[^/@\s]+(?=@)"),
    ("authorization: ", r"(?i)(?<=authorization: )(?:basic|bearer|token) \S+"),
)
"""What every text with such a secret has in it, in small letters, and the secret."""

_NAMES = r"(?i)(token|secret|password|passwd|api_?key)"
_SHORTEST = 8

_KEPT: set[str] = set()
"""Secrets of this process that are in no variable."""


def keep_secret(value: str) -> None:
    """Let `redact` take this value out too, until the process ends."""
    if len(value) >= _SHORTEST:
        _KEPT.add(value)


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with tokens, passwords in URLs and secret environment values replaced by `***`."""
    variables = os.environ if environment is None else environment
    for name, value in variables.items():
        if len(value) >= _SHORTEST and value in text and re.search(_NAMES, name):
            text = text.replace(value, "***")
    for value in _KEPT:
        text = text.replace(value, "***")
    lower = text.lower()
    for needle, pattern in _PATTERNS:
        if needle in lower:
            text = re.sub(pattern, "***", text)
    return text


def visible(text: str) -> str:
    """The text with every character that a terminal would not show as such written as an escape.

    What a stranger wrote is shown with it: no control sequence hides a part of it or moves it around.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


_TAGS = r"<(?!(?:number|id)>)(?=[/!?]?[A-Za-z])"


def as_data(text: str) -> str:
    """One line that holds what strangers wrote, as a model may read it: it opens and ends no frame.

    Line breaks and control characters become escapes, and whatever looks like a tag loses its
    bracket: a check's name or an issue's title must not pass for the client's words or the user's.
    """
    return re.sub(_TAGS, "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", visible(text))


def short(text: str, limit: int) -> str:
    """The text, cut to so many characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
