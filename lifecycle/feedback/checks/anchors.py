"""Classify a line of a log by the table in `log_words.toml`: an error and its rank, noise, a step's end."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from enum import StrEnum, auto

from lifecycle.settings import resources

MOST_READ = 2_000
"""Characters of a line that are read: a one-line bundle has no second error further on."""


class AnchorRank(StrEnum):
    """How certain it is that a line names the error."""

    NONE = auto()
    HINT = auto()
    """A place in a file, a difference, a vague word of trouble: shown if nothing is more certain."""
    TROUBLE = auto()
    """A general word for something that went wrong."""
    VERDICT = auto()
    """A tool names what failed, or names the error itself."""


table = functools.partial(resources.table, "feedback/checks/log_words.toml")
"""The content of `log_words.toml`."""


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


@functools.cache
def _patterns(rank: AnchorRank) -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    """The patterns of a rank, each with words of which its lines have one; "" is in every line."""
    by_words: dict[tuple[str, ...], list[str]] = {}
    for row in table()["anchor"]:
        if row["rank"] == rank:
            by_words.setdefault(tuple(row.get("has", [""])), []).append(row["pattern"])
    return tuple((words, _any_of(patterns)) for words, patterns in by_words.items())


def is_of(rank: AnchorRank, line: str) -> bool:
    """True if a line has a pattern of this rank; one that names no error may still be a HINT."""
    text = line[:MOST_READ]
    small = text.lower()
    worth = (pattern for words, pattern in _patterns(rank) if any(map(small.__contains__, words)))
    return any(pattern.match(text) for pattern in worth)


@functools.cache
def begin(*kinds: str) -> re.Pattern[str]:
    """A pattern for the beginning of lines of these kinds.

    `noise` is never shown; `openers` announce an error without naming it. Actions ends a failed step with
    an `ended` line; by a `stopped` line it says that it stopped a step itself.
    """
    return _any_of(pattern for kind in kinds for pattern in table()[kind])


def rank_of(line: str) -> AnchorRank:
    """The rank of one line of a log (without time and colours), if it names an error; else NONE."""
    ranks = (AnchorRank.VERDICT, AnchorRank.TROUBLE)
    return next((rank for rank in ranks if is_of(rank, line)), AnchorRank.NONE)
