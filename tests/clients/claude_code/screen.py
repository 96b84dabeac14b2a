"""What a terminal shows after it was sent some output: of the control sequences those that the client uses.

The client repaints a line by its cells that differ. So a sentence painted over another one comes without
the letters that both have in the same place, and only the screen has it whole.

Source: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
"""

from __future__ import annotations

import re

ROWS = 60

_PART = re.compile(
    r"\x1b\[(?P<numbers>[0-9;?<>=]*)[ -/]*(?P<name>[@-~])|\x1b\].*?(?:\x07|\x1b\\)|\x1b[()].|\x1b."
    r"|(?P<control>[\r\n\b])|(?P<text>[^\x1b\r\n\b]+)",
    re.DOTALL,
)


class Screen:
    """Lines of cells, those that were scrolled away included."""

    def __init__(self) -> None:
        self.lines: list[list[str]] = [[]]
        self.row = self.column = self.top = 0

    def feed(self, output: str) -> None:
        """Paint what was sent."""
        for part in _PART.finditer(output):
            if part["text"]:
                self._write(part["text"])
            elif part["control"]:
                self._control(part["control"])
            elif part["name"] and not part["numbers"].startswith(("?", "<", ">", "=")):
                numbers = [int(number or 0) for number in part["numbers"].split(";")]
                self._sequence(part["name"], numbers[0], numbers[1] if numbers[1:] else 0)

    @property
    def text(self) -> str:
        """The lines from the top down."""
        return "\n".join("".join(line) for line in self.lines)

    def _go(self, row: int, column: int) -> None:
        self.row, self.column = max(row, 0), max(column, 0)
        self.lines += [[] for _ in range(self.row + 1 - len(self.lines))]
        self.top = max(self.top, self.row + 1 - ROWS)

    def _write(self, text: str) -> None:
        line, end = self.lines[self.row], self.column + len(text)
        line += " " * (end - len(line))
        line[self.column : end] = text
        self.column = end

    def _control(self, control: str) -> None:
        if control == "\n":
            self._go(self.row + 1, self.column)
        else:
            self.column = 0 if control == "\r" else max(self.column - 1, 0)

    def _sequence(self, name: str, first: int, second: int) -> None:
        steps = first or 1
        bottom = self.top + ROWS - 1
        if name in "Hf":
            self._go(min(self.top + steps - 1, bottom), (second or 1) - 1)
        elif name in "AF":
            self._go(max(self.row - steps, self.top), 0 if name == "F" else self.column)
        elif name in "BE":
            self._go(min(self.row + steps, bottom), 0 if name == "E" else self.column)
        elif name in "CD":
            self._go(self.row, self.column + (steps if name == "C" else -steps))
        elif name == "G":
            self._go(self.row, steps - 1)
        elif name == "d":
            self._go(min(self.top + steps - 1, bottom), self.column)
        elif name in "JK":
            self._erase(first, is_all=name == "J")

    def _erase(self, which: int, *, is_all: bool) -> None:
        """0: from the cursor on; 1: up to it; 2: all that is seen."""
        line = self.lines[self.row]
        if which in (0, 2):
            del line[self.column if which == 0 else 0 :]
        if which == 1:
            line[: self.column + 1] = " " * (self.column + 1)
        if is_all and which in (0, 2):
            del self.lines[self.row + 1 :]
        if is_all and which in (1, 2):
            self.lines[self.top : self.row] = [[] for _ in range(self.row - self.top)]
