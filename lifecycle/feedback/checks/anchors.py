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
def _pattern(rank: AnchorRank) -> re.Pattern[str]:
    return _any_of(row["pattern"] for row in table()["anchor"] if row["rank"] == rank)


@functools.cache
def begin(*kinds: str) -> re.Pattern[str]:
    """A pattern for the beginning of lines of these kinds.

    `noise` is never shown; `openers` announce an error without naming it. Actions ends a failed step with
    an `ended` line; by a `stopped` line it says that it stopped a step itself.
    """
    return _any_of(pattern for kind in kinds for pattern in table()[kind])


def rank_of(line: str) -> AnchorRank:
    """The rank of one line of a log (without time and colours), if it names an error; else NONE."""
    text = line[:MOST_READ]
    for rank in (AnchorRank.VERDICT, AnchorRank.TROUBLE):
        if _pattern(rank).match(text):
            return rank
    return AnchorRank.NONE


def is_hint(line: str) -> bool:
    """True if a line that names no error may still hint at one."""
    return _pattern(AnchorRank.HINT).match(line[:MOST_READ]) is not None
