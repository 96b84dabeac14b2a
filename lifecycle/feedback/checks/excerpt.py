"""The excerpt of a failed job's log: the lines around its errors that a person would quote.

Pure: lines in, an excerpt out. The log is read once, and only lines that may be shown are kept.

The first error is shown with the lines around it; then the last error, where runners sum up, and the step's
last lines, where others count; then further errors, the most certain first, as far as they fit. If no tool
names an error in a log, lines that hint at one are shown, too; if there are none, the end of the log.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import redact
from lifecycle.core.values.failed_checks import JobStep
from lifecycle.feedback.checks.log_lines import AnchorRank, begin, is_of, plain_lines, rank_of

MOST_LINES = 150
MOST_CHARACTERS = 12_000
MOST_WIDE = 500
"""Characters of one line that are shown."""

BEFORE, AFTER = 10, 40
"""Lines around the first error."""

BEFORE_LAST, AFTER_LAST = 10, 5
BEFORE_OTHER, AFTER_OTHER = 2, 8
MOST_OTHERS = 40
"""How many errors between the first and the last are kept for showing, of each rank."""

TAIL = 30
"""Lines of the end that are shown of a log in which no error was found."""

MOST_SHAPES = 1_000
"""How many line shapes (lines without their numbers) are remembered."""

END = 6
"""Lines of the end that are shown of a log with errors."""

_NUMBERS = re.compile(r"\d+")

_SHARES, _END_SHARE = (0.6, 0.85), 0.9
"""Shares of the characters: of the first error, of it and the last, and of both with the end."""


@dataclass(frozen=True)
class ReadLog:
    """The result of reading one job's log; nothing in it contains a secret.

    Attributes:
        first_error: the first line that names the error.
        tests: the tests that the log names as failed.
        excerpt: lines of the log, those around its errors; where some are left out, one line says how many.
        lines, left_out: how many lines the failed step printed, and how many of them are not here.
        log: the path of the log from the worktree's root; a long log is kept without its middle.
        problem: why there is no excerpt.
    """

    first_error: str = ""
    tests: tuple[str, ...] = ()
    excerpt: tuple[str, ...] = ()
    lines: int = 0
    left_out: int = 0
    log: str = ""
    problem: str = ""


def by_distance(numbers: Iterable[int], anchor: int) -> list[int]:
    """The numbers of lines, that of the error first; later lines say more than earlier ones."""
    return sorted(numbers, key=lambda at: max(at - anchor, 2 * (anchor - at)))


@dataclass
class _Window:
    """The lines around one error: its own number, and those that were kept, by number."""

    anchor: int
    after: int
    lines: dict[int, str]

    @property
    def by_distance(self) -> list[tuple[int, str]]:
        """Its lines with their numbers, the error first."""
        return [(at, self.lines[at]) for at in by_distance(self.lines, self.anchor)]


class _Reading:
    """A log while it is read; hints are dropped when a tool names an error.

    For each rank `windows` has the one of its first error, that of its last, then those of others, and
    `named` the first line that names the error.
    """

    def __init__(self) -> None:
        self.total = 0
        self.recent: deque[tuple[int, str]] = deque(maxlen=TAIL)
        self.windows: dict[AnchorRank, list[_Window]] = {rank: [] for rank in reversed(AnchorRank)}
        self.named: dict[AnchorRank, str] = {}
        self.shapes: set[str] = set()

    def take(self, text: str) -> None:
        """Read one line: it belongs to the windows that are open, and may be an error itself."""
        at = self.total
        self.total += 1
        for windows in self.windows.values():
            for window in (*windows[:2], *windows[2:][-AFTER_OTHER:]):
                if at <= window.anchor + window.after:
                    window.lines[at] = text
        self.recent.append((at, text))
        rank = rank_of(text)
        if rank is AnchorRank.VERDICT:
            self.windows.pop(AnchorRank.HINT, None)
        elif rank is AnchorRank.NONE and AnchorRank.HINT in self.windows and self._hints(text):
            rank = AnchorRank.HINT
        if rank is not AnchorRank.NONE:
            if not begin("openers").match(text):
                self.named.setdefault(rank, text.strip())
            self._note(self.windows[rank], at)

    def _hints(self, text: str) -> bool:
        """True if the line may hint at an error and is new, apart from its numbers."""
        shape = _NUMBERS.sub("", text[:MOST_WIDE])
        is_new = shape not in self.shapes
        if len(self.shapes) < MOST_SHAPES:
            self.shapes.add(shape)
        return is_new and is_of(AnchorRank.HINT, text)

    def _note(self, windows: list[_Window], at: int) -> None:
        around = (BEFORE_OTHER, AFTER_OTHER) if windows else (BEFORE, AFTER)
        if windows:
            windows[1:2] = [self._window(at, BEFORE_LAST, AFTER_LAST)]
        if len(windows) < 2 + MOST_OTHERS:
            windows.append(self._window(at, *around))

    def _window(self, at: int, before: int, after: int) -> _Window:
        return _Window(at, after, {n: text for n, text in self.recent if n >= at - before})

    def wanted(self) -> list[tuple[list[tuple[int, str]], float]]:
        """Groups of lines by priority, each with the share of the room that may be used up by then."""
        parts: list[tuple[list[tuple[int, str]], float]] = []
        end = [*reversed(self.recent)]
        for rank, windows in self.windows.items():
            if rank is AnchorRank.HINT and not parts:
                parts.append((end, _SHARES[0]))
            if windows:
                lines = [window.by_distance for window in windows]
                parts += [*zip(lines, _SHARES, strict=False), (end[:END], _END_SHARE)]
                parts += [(others, 1.0) for others in lines[2:]]
        return parts

    @property
    def first_error(self) -> str:
        """The first line of the most certain rank; a hint does not count.

        A line that only announces an error, as a traceback's first line, counts only if there is no other.
        """
        for rank, windows in self.windows.items():
            if rank is not AnchorRank.HINT and windows:
                return self.named.get(rank) or windows[0].lines[windows[0].anchor].strip()
        return ""


def excerpt(lines: Iterable[str], step: JobStep | None = None) -> ReadLog:
    """Cut the excerpt out of a job's log.

    Args:
        lines: the log, as GitHub gives it or as a tool printed it.
        step: the failed step, if its times are known; else the first one that failed is searched for.

    Returns:
        at most MOST_LINES lines and MOST_CHARACTERS characters, including the lines that mark gaps.
    """
    reading = _Reading()
    for line in plain_lines(lines, step):
        if line is None:
            reading = _Reading()
        else:
            reading.take(line)
    shown, total = _shown(reading), reading.total
    text = redact("\n".join(gapped(shown, total)))
    while text.count("\n") >= MOST_LINES or len(text) > MOST_CHARACTERS:
        shown.popitem()  # the line that was taken last matters least
        text = redact("\n".join(gapped(shown, total)))
    first_error = redact(reading.first_error)[:MOST_WIDE]
    cut = tuple(text.split("\n")) if total else ()
    return ReadLog(first_error, excerpt=cut, lines=total, left_out=total - len(shown))


def _shown(reading: _Reading) -> dict[int, str]:
    """The lines that fit, by their number."""
    shown: dict[int, str] = {}
    characters = 0
    for lines, share in reading.wanted():
        for at, line in lines:
            text = _clipped(line)
            if characters + len(text) > MOST_CHARACTERS * share:
                break
            if at not in shown:
                shown[at] = text
                characters += len(text)
    return shown


def _clipped(text: str) -> str:
    """The line, cut to the shown length; it is redacted first, since half a secret is not recognized."""
    whole = redact(text) if len(text) > MOST_WIDE else text
    left = len(whole) - MOST_WIDE
    return whole if left <= 0 else f"{whole[:MOST_WIDE]} … {left:,} more characters"


def gapped(shown: Mapping[int, str], total: int) -> list[str]:
    """Lines by their number, in their order, with a line for each gap."""
    lines: list[str] = []
    expected = 0
    for at in [*sorted(shown), total]:
        if at > expected:
            lines.append(f"… {at - expected:,} lines left out …")
        if at < total:
            lines.append(shown[at])
        expected = at + 1
    return lines
