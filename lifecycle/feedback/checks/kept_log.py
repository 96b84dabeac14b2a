"""Keep the begin and the end of a log while its lines go by, however long it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from lifecycle.core.redact import redact
from lifecycle.feedback.checks.log_lines import KeyBlocks, moment_end

BEGIN = 500_000
END = 1_500_000
"""Characters that are kept of a log's begin, and of its end."""


class KeptLog:
    """Keeps the lines of a log that somebody reads, as far as there is room."""

    def __init__(self) -> None:
        self._begin: list[str] = []
        self._begun = 0
        self._end: deque[str] = deque()
        self._ended = 0
        self._left_out = 0
        self._keys = KeyBlocks()

    def through(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the same lines, and keep each but for those of keys, whose begin the gap may hide."""
        for line in lines:
            at = moment_end(line)
            shown = self._keys.shown(line[at:])
            if shown is not None:
                self._keep(line[:at] + shown)
            yield line

    def _keep(self, line: str) -> None:
        size = len(line) + 1
        if self._begun + size <= BEGIN and not self._end:
            self._begin.append(line)
            self._begun += size
            return
        self._end.append(line)
        self._ended += size
        while self._ended > END and len(self._end) > 1:
            self._ended -= len(self._end.popleft()) + 1
            self._left_out += 1

    @property
    def lines(self) -> list[str]:
        """What is kept; where lines are left out, one says how many."""
        gap = [f"… {self._left_out:,} lines left out …"] if self._left_out else []
        return [*self._begin, *gap, *self._end]

    @property
    def text(self) -> str:
        """What is kept as one text, without secrets."""
        return redact("\n".join(line.rstrip("\r") for line in self.lines)) + "\n"
