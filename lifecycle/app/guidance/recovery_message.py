"""The one recovery message: what claim, run, stage and workflow tell a session, folded by one rule. Pure.

The message has at most LIMIT characters, whatever its parts have. Lines stand in the order in which the
parts give them. `WHOLE` lines are never cut. Of the others those of a lower rank are taken first, and the
last one that is taken may be shortened. Where something was left out, the last line names the commands that
show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import short

LIMIT: Final = 1_500
"""Characters of a recovery message: what is longer is not read after a compaction."""

WHOLE_LIMIT: Final = 1_000
"""Characters that the `WHOLE` lines of all parts may have together; whoever makes them sees to it."""

_SHORTEST = 40
"""Characters of a line that is still worth showing when it is cut."""


class Rank(IntEnum):
    """Which lines are taken before others; those that are `WHOLE` are never cut."""

    WHOLE = 0
    FIRST = 1
    NEXT = 2
    LAST = 3


@dataclass(frozen=True, slots=True)
class RecoveryLine:
    """One line of the message, fit to be shown, and its rank."""

    text: str
    rank: Rank = Rank.FIRST


@dataclass(frozen=True, slots=True)
class RecoveryPart:
    """What one system tells.

    Attributes:
        lines: in their order.
        rest: the command that shows all of it.
    """

    lines: tuple[RecoveryLine, ...] = ()
    rest: str = ""


def part_of(lines: Iterable[str], rest: str, first: Sequence[str] = ()) -> RecoveryPart:
    """A part whose lines are of the rank FIRST if they begin with one of `first`, and else NEXT.

    Without `first` the lines that stand first are the first to be taken.
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
    rests = [part.rest for part in parts if part.lines and part.rest]
    left = limit - len(_more(rests))
    kept: dict[int, str] = {}
    order = sorted(range(len(numbered)), key=lambda at: (numbered[at][0].rank, at))
    for at in order:
        text = numbered[at][0].text
        room = left - 1
        if len(text) > room:
            if room < _SHORTEST:
                continue
            text = short(text, room)
        kept[at] = text
        left -= len(text) + 1
    cut = {index for at, (line, index) in enumerate(numbered) if kept.get(at) != line.text}
    last = _more([parts[index].rest for index in sorted(cut) if parts[index].rest])
    return [*(kept[at] for at in sorted(kept)), *([last] if last else [])]


def _more(commands: Sequence[str]) -> str:
    """The last line of a shortened message: the commands that show the rest; "" for none."""
    return f"The rest: {', '.join(commands)}" if commands else ""
