"""How urgent a task is, as people write it: in a label, or in the board's field Priority."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"(?<![\w./#-])#?(\d+)\b")


def numbers(text: str | None) -> list[int]:
    """The issue numbers that a Dependencies field names: `#12, #13` or `12 13`.

    Issues of other repositories (`owner/name#12`, URLs) are not ours to judge.
    """
    return sorted({int(number) for number in _NUMBER.findall(text or "")})


class Status:
    """The board's Status options that the engine itself writes, as the design names them."""

    TODO = "Todo"
    IN_PROGRESS = "In Progress"
    IN_REVIEW = "In Review"
    DONE = "Done"


STATUSES = (Status.TODO, Status.IN_PROGRESS, Status.IN_REVIEW, Status.DONE)
SPELLINGS = {status.casefold(): status for status in STATUSES}
"""How `Status` spells an option, by its name in small letters: a board may have it in any case."""

READY_FOR_AGENT = "Ready for Agent"
"""The Readiness option of a task that an agent may take without a warning."""


_WORDS = {
    0: ("critical", "urgent", "highest", "blocker"),
    1: ("high",),
    2: ("medium", "normal", "moderate"),
    3: ("low",),
    4: ("lowest", "trivial", "backlog"),
}
_RANKS = {word: rank for rank, words in _WORDS.items() for word in words}
_SIGNS = re.compile(r"^[\W_]+|[\W_]+$")
_FORMS = r"(?:priority|prio)\s*[:/=-]\s*(.+)|([^:/=]+?)[\s-]+(?:priority|prio)|(p\d(?:\b.*)?)"


def rank_of(word: str) -> int | None:
    """0 (the most urgent) to 4 for `P0`, `0`, `high` and the like; None for any other word.

    Signs around the word do not count: boards have options such as a picture and `High`.
    """
    plain = _SIGNS.sub("", word.casefold())
    match = re.fullmatch(r"p?([0-4])(?:\b.*)?", plain)
    return int(match[1]) if match is not None else _RANKS.get(plain)


def of_label(name: str) -> int | None:
    """The priority that a label means: `P1`, `priority: high`, `high priority`; None for any other."""
    match = re.fullmatch(_FORMS, name.strip().casefold())
    return rank_of(next(filter(None, match.groups()))) if match is not None else None


def of_labels(names: Iterable[str]) -> int | None:
    """The most urgent that any of the labels means, or None."""
    return min((rank for rank in map(of_label, names) if rank is not None), default=None)


def label_of(priority: int) -> str:
    """The label that a verb gives a task of this priority."""
    return f"P{priority}"


def order_of(rank: int | None, word: str | None = None) -> tuple[int, str]:
    """What tasks and cards are sorted by, the most urgent first.

    Those of a known priority come first, then those whose word nobody knows, as its text sorts, then
    those that have none.

    Args:
        rank: 0 to 4, None if it is not known.
        word: the board's own word.
    """
    if rank is not None:
        return rank, ""
    return (len(_WORDS), word.casefold()) if word else (len(_WORDS) + 1, "")
