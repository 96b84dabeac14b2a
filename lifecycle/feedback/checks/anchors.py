"""Tell what a line of a log is, by the table in `log_words.toml`: an error by rank, noise, a step's end."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from enum import StrEnum, auto

from lifecycle.settings import resources

MOST_READ = 2_000
"""Characters of a line that are looked at: a bundle in one line has no second error far behind."""


class AnchorRank(StrEnum):
    """How surely a line tells the error."""

    NONE = auto()
    HINT = auto()
    """A place in a file, a difference, a word of something amiss: worth a look where nothing is surer."""
    TROUBLE = auto()
    """A general word for something that went wrong."""
    VERDICT = auto()
    """A tool names what failed, or the error itself."""


table = functools.partial(resources.table, "feedback/checks/log_words.toml")
"""The content of `log_words.toml`."""


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


@functools.cache
def _pattern(rank: AnchorRank) -> re.Pattern[str]:
    return _any_of(row["pattern"] for row in table()["anchor"] if row["rank"] == rank)


@functools.cache
def begin(*kinds: str) -> re.Pattern[str]:
    """A pattern for the begin of lines of these kinds.

    `noise` nobody reads; `openers` announce an error and do not tell it. With one that is `ended` Actions
    ends a step that failed, and with one that is `stopped` it says that it stopped a step itself.
    """
    return _any_of(pattern for kind in kinds for pattern in table()[kind])


def rank_of(line: str) -> AnchorRank:
    """The rank of one line of a log, without its time and colours, if it tells an error; else NONE."""
    text = line[:MOST_READ]
    for rank in (AnchorRank.VERDICT, AnchorRank.TROUBLE):
        if _pattern(rank).match(text):
            return rank
    return AnchorRank.NONE


def is_hint(line: str) -> bool:
    """Whether a line that tells no error may be worth a look."""
    return _pattern(AnchorRank.HINT).match(line[:MOST_READ]) is not None
