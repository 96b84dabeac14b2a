"""`lifecycle watch` on a terminal of its own, in tests: what it shows, keys, and the window's size."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.cli.views.view_ground import ViewGround
from tests.clients.claude_code.screen import Screen
from tests.conftest import STARTED

SECONDS = 60.0
"""How long anything may take, on a machine that does much else."""

_ON_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal that of a new session, so that Ctrl-C means what it means there."""


@dataclass
class Watched:
    """The program, and its terminal as a person has it before them.

    Attributes:
        process: it.
        master: our end of the terminal.
        rows, width: of the window.
        raw: everything that it wrote.
    """

    process: subprocess.Popen[bytes]
    master: int
    rows: int
    width: int
    raw: str = ""
    _frames: list[str] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """The screen as it is now: the last frame that was painted."""
        frame = self.raw.rpartition("\x1b[H")[2]
        screen = Screen()
        screen.feed(frame)
        return screen.text

    @property
    def lines(self) -> list[str]:
        """Its lines."""
        return [line.rstrip() for line in self.shown.splitlines()]

    def until(self, *words: str, but: str = "\0") -> str:
        """Wait until the screen shows all of these and not that one."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            shown = self.shown
            if all(word in shown for word in words) and but not in shown:
                return shown
            if not self._read(0.1) and self.process.poll() is not None:
                break
        raise AssertionError(f"{words} never came; the screen has:\n{self.shown}")

    def reads(self, word: str) -> None:
        """Wait until the program has written this anywhere."""
        end = time.monotonic() + SECONDS
        while word not in self.raw:
            assert time.monotonic() < end, self.raw[-2000:]
            self._read(0.1)

    def leaves(self) -> None:
        """Wait until the program has given the screen back."""
        end = time.monotonic() + SECONDS
        while not self.is_clean:
            assert time.monotonic() < end, self.raw[-2000:]
            self._read(0.1)

    def press(self, keys: str) -> None:
        """Type these."""
        os.write(self.master, keys.encode())

    def resize(self, rows: int, width: int) -> None:
        """Make the window so large."""
        self.rows, self.width = rows, width
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, width, 0, 0))

    def end(self) -> int:
        """Wait for its end; the exit code."""
        end = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            self._read(0.1)
        while self._read(0.2):
            pass
        return self.process.wait(1)

    @property
    def is_clean(self) -> bool:
        """The other screen was left, and the cursor is seen."""
        left = self.raw.rfind("\x1b[?1049l") > self.raw.rfind("\x1b[?1049h") >= 0
        return left and self.raw.rfind("\x1b[?25h") > self.raw.rfind("\x1b[?25l")

    @property
    def echoes(self) -> bool:
        """The terminal shows what is typed, line by line, as it did before."""
        modes = termios.tcgetattr(self.master)[3]
        return bool(modes & termios.ECHO) and bool(modes & termios.ICANON)

    def _read(self, seconds: float) -> bool:
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            part = os.read(self.master, 65536).decode("utf-8", "replace")
        except OSError:  # nobody has the other end any more
            return False
        self.raw += part
        return bool(part)


@contextmanager
def watching(
    ground: ViewGround, rows: int = 24, width: int = 80, *words: str, **more: str
) -> Iterator[Watched]:
    """`lifecycle watch`, or the program that is named, in a window of this size."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, width, 0, 0))
    environment = {**ground.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8", **more}
    command = [sys.executable, "-c", _ON_TERMINAL, *(words or (str(STARTED), "watch"))]
    with subprocess.Popen(
        command, cwd=ground.root, env=environment, stdin=slave, stdout=slave, stderr=slave
    ) as process:
        watched = Watched(process, master, rows, width)
        try:
            yield watched
        finally:
            process.kill()
            os.close(slave)
            os.close(master)


def plain(text: str) -> str:
    """Without colours and links."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^\x1b]*\x1b\\", "", text)
