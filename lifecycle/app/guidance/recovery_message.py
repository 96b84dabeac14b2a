"""The one recovery message: what claim, run, stage and workflow tell a session, folded by one rule. Pure.

The message has at most LIMIT characters, however long its parts are. Lines keep the order in which the
parts give them. `WHOLE` lines are never cut. Of the others, those with a lower rank are taken first, and
the last one that is taken may be shortened. If something was left out, the last line names the commands
that show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import short

LIMIT: Final = 1_500
"""How many characters a recovery message may have: a longer one is not read after a compaction."""

WHOLE_LIMIT: Final = 1_000
"""How many characters the `WHOLE` lines of all parts may have together; their makers keep to it."""

_SHORTEST = 40
"""How many characters a shortened line needs to be worth showing."""


class Rank(IntEnum):
    """The order in which lines are taken; `WHOLE` lines are never cut."""

    WHOLE = 0
    FIRST = 1
    NEXT = 2
    LAST = 3


@dataclass(frozen=True, slots=True)
class RecoveryLine:
    """One line of the message, safe to show, and its rank."""

    text: str
    rank: Rank = Rank.FIRST


@dataclass(frozen=True, slots=True)
class RecoveryPart:
    """One system's part of the message.

    Attributes:
        lines: its lines, in order.
        rest: the command that shows the whole part.
    """

    lines: tuple[RecoveryLine, ...] = ()
    rest: str = ""


def part_of(lines: Iterable[str], rest: str, first: Sequence[str] = ()) -> RecoveryPart:
    """A part whose lines have the rank FIRST if they begin with one of `first`, else NEXT.

    Without `first`, lines are taken from the top.
    """
    ranked = (
        RecoveryLine(line, Rank.FIRST if not first or line.startswith(tuple(first)) else Rank.NEXT)
        for line in lines
    )
    return RecoveryPart(tuple(ranked), rest)


def folded(parts: Sequence[RecoveryPart], limit: int = LIMIT) -> list[str]:
    """The lines of the message: at most `limit` characters with the breaks between them."""
    numbered = [(line, index) for index, part in enumerate(parts) for line in part.lines]
    if sum(len(line.text) + 1 for line, _ in numbered) <= limit + 1:
        return [line.text for line, _ in numbered]
    left = limit - len(_more([part.rest for part in parts if part.lines and part.rest]))
    kept: dict[int, str] = {}
    for at in sorted(range(len(numbered)), key=lambda at: (numbered[at][0].rank, at)):
        text, room = numbered[at][0].text, left - 1
        if len(text) > room and room < _SHORTEST:
            continue
        kept[at] = short(text, room)
        left -= len(kept[at]) + 1
    cut = {index for at, (line, index) in enumerate(numbered) if kept.get(at) != line.text}
    last = _more([parts[index].rest for index in sorted(cut) if parts[index].rest])
    return [*(kept[at] for at in sorted(kept)), *([last] if last else [])]


def _more(commands: Sequence[str]) -> str:
    """The last line of a shortened message: the commands that show the rest; "" for none."""
    return f"The rest: {', '.join(commands)}" if commands else ""
