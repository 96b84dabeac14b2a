"""How urgent a task is, as people write it: in a label, or in the board's field Priority."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORDS = {
    0: ("critical", "urgent", "highest", "blocker"),
    1: ("high",),
    2: ("medium", "normal", "moderate"),
    3: ("low",),
    4: ("lowest", "trivial", "backlog"),
}
_RANKS = {word: rank for rank, words in _WORDS.items() for word in words}
_FORMS = (
    re.compile(r"(?:priority|prio)\s*[:/=-]\s*(?P<word>.+)"),
    re.compile(r"(?P<word>[^:/=]+?)[\s-]+(?:priority|prio)"),
    re.compile(r"(?P<word>p\d(?:\b.*)?)"),
)


def rank_of(word: str) -> int | None:
    """0 (the most urgent) to 4 for `P0`, `0`, `high` and the like; None for any other word."""
    plain = word.strip().casefold()
    match = re.fullmatch(r"p?([0-4])(?:\b.*)?", plain)
    if match is not None:
        return int(match[1])
    return _RANKS.get(plain)


def of_label(name: str) -> int | None:
    """The priority that a label means: `P1`, `priority: high`, `high priority`; None for any other."""
    for form in _FORMS:
        match = form.fullmatch(name.strip().casefold())
        if match is not None:
            return rank_of(match["word"])
    return None


def of_labels(names: Iterable[str]) -> int | None:
    """The most urgent that any of the labels means, or None."""
    return min((rank for rank in map(of_label, names) if rank is not None), default=None)


def label_of(priority: int) -> str:
    """The label that a verb gives a task of this priority."""
    return f"P{priority}"


def ranks_of(words: Iterable[str]) -> dict[str, int]:
    """A rank for each word of a board: known ones theirs, all others behind them, as their text sorts.

    The claim's next task is chosen in the order of the text as well.
    """
    known = {word: rank_of(word) for word in words}
    others = sorted(word for word, rank in known.items() if rank is None)
    ranks = {word: rank for word, rank in known.items() if rank is not None}
    return ranks | {word: len(_WORDS) + place for place, word in enumerate(others)}
