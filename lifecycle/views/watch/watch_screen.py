"""The parts of an overview laid out for a window: what matters first; what has no room is named. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from lifecycle.views.overview.overview_values import Overview
from lifecycle.views.stats.stats_words import count
from lifecycle.views.watch.watch_parts import LABEL, WatchPart, watch_parts

WIDE = 130
"""From so many columns on there are two columns of parts."""

WIDEST = 200
"""Columns at most: further apart, the words of a line lose each other."""

_GAP = 3
_HANGS = 2
"""How far what goes on below stands in."""


@dataclass(slots=True)
class _Placed:
    """A part with its lines as they are on the screen, and how many of them are shown."""

    part: WatchPart
    lines: list[Text]
    shown: int = 0


def watch_screen(
    overview: Overview, console: Console, now: float, rows: int | None, foot: str = ""
) -> list[Text]:
    """The lines of the screen.

    Args:
        overview: of the worktree.
        console: whose width it is for.
        now: ages are as of then.
        rows: how many lines there may be; None for all of them.
        foot: the last line; without rows there is none.
    """
    width = min(console.width, WIDEST)
    head = [_head(overview, width), Text()]
    parts = watch_parts(overview, now)
    if not parts:
        head.append(Text("Nothing is claimed, run or waited for in this worktree."))
        head.append(Text("Begin with: lifecycle claim <number>", "dim"))
    room = None if rows is None else max(rows - len(head) - 1, 1)
    first = [part for part in parts if not part.name]
    others = [part for part in parts if part.name]
    top = _column(first, width, room, console)
    room = None if room is None else max(room - len(top.lines) - bool(first), 0)
    beside = [part for part in others if part.is_beside]
    if width >= WIDE and beside and len(beside) < len(others):
        half = (width - _GAP) // 2
        left = _column([p for p in others if not p.is_beside], half, room, console)
        right = _column(beside, half, room, console)
        body = _side_by_side(left.lines, right.lines, half)
        missing = [*top.missing, *left.missing, *right.missing]
    else:
        column = _column(others, width, room, console)
        body, missing = column.lines, [*top.missing, *column.missing]
    lines = [*head, *top.lines, *([Text()] if first and body else []), *body]
    if rows is None:
        return lines
    lines = lines[: rows - 1]
    lines += [Text() for _ in range(rows - 1 - len(lines))]
    return [*lines, _foot(foot, missing, width)]


@dataclass(frozen=True, slots=True)
class _Column:
    """The lines of one column, and what had no room in it."""

    lines: list[Text]
    missing: list[str]


def _column(parts: Sequence[WatchPart], width: int, room: int | None, console: Console) -> _Column:
    placed = [_Placed(part, _lines_of(part, width, console)) for part in parts]
    left = sum(len(one.lines) for one in placed) if room is None else room
    # First each part gets what it needs to say anything, then the most important ones the rest.
    for is_all in (False, True):
        for one in placed:
            wanted = len(one.lines) if is_all else min(one.part.least, len(one.lines))
            more = min(max(wanted - one.shown, 0), left)
            one.shown += more
            left -= more
    lines = [line for one in placed for line in one.lines[: one.shown]]
    missing = [
        f"{one.part.name or 'what waits'} ({count(len(one.lines) - one.shown, 'line')})"
        for one in placed
        if one.shown < len(one.lines)
    ]
    return _Column(lines, missing)


def _lines_of(part: WatchPart, width: int, console: Console) -> list[Text]:
    """The part's lines with its name before them, none wider than the column."""
    indent = LABEL + 1 if part.name else 0
    lines: list[Text] = []
    for text in part.lines:
        if part.is_folded:
            lines += _folded(text, max(width - indent, 1), console)
        else:
            cut = text.copy()
            cut.truncate(width - indent, overflow="ellipsis")
            lines.append(cut)
    if not part.name:
        return lines
    names = [Text(f"{part.name:>{LABEL}} ", "dim"), Text(" " * indent)]
    return [Text.assemble(names[0 if at == 0 else 1], line) for at, line in enumerate(lines)]


def _folded(text: Text, width: int, console: Console) -> list[Text]:
    """The text in lines of this width; what goes on below stands in a little."""
    first = text.wrap(console, width)[0]
    rest = text[len(first) :]
    rest = rest[len(rest) - len(rest.plain.lstrip()) :]
    below = rest.wrap(console, max(width - _HANGS, 1))
    return [first, *(Text.assemble(" " * _HANGS, line) for line in below if rest)]


def _side_by_side(left: Sequence[Text], right: Sequence[Text], half: int) -> list[Text]:
    lines = []
    for at in range(max(len(left), len(right))):
        line = left[at].copy() if at < len(left) else Text()
        line.pad_right(half + _GAP - line.cell_len)
        lines.append(Text.assemble(line, right[at]) if at < len(right) else line)
    return lines


def _head(overview: Overview, width: int) -> Text:
    """What is worked on, and at the right the branch."""
    claim, place = overview.claim, overview.worktree
    if claim is not None and claim.issue:
        head = Text.assemble((f"#{claim.issue}", f"bold link {claim.url}" if claim.url else "bold"))
        head.append(f" {claim.title}" if claim.title else "", "bold")
    else:
        head = Text.assemble((place.root.rpartition("/")[2], "bold"))
        head.append(" no claim", "dim")
    branch = Text(place.branch or "no branch", "dim")
    branch.truncate(max(width // 3, 1), overflow="ellipsis")
    head.truncate(max(width - branch.cell_len - 2, 1), overflow="ellipsis")
    head.pad_right(width - branch.cell_len - head.cell_len)
    return Text.assemble(head, branch)


def _foot(foot: str, missing: Sequence[str], width: int) -> Text:
    line = Text.assemble((foot, "dim"))
    if missing:
        line.append(f"  no room for: {', '.join(missing)}", "bold")
    line.truncate(width, overflow="ellipsis")
    return line
