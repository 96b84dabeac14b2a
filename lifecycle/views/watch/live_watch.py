"""The live screen: redrawn when a file changes, the window is resized, or an age changes; until `q`.

Only the dates of files are checked, a few times a second: some twenty calls of `stat` and no more.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import termios
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from lifecycle.core.ports import Clock
from lifecycle.core.timing import Deadline, heard
from lifecycle.views.overview.overview_reading import overview, signature_of, watched
from lifecycle.views.watch.watch_screen import watch_screen

POLL_SECONDS = 0.25
"""Seconds between two checks of dates, keys and the window's size."""

READ_SECONDS = 10.0
"""How long one reading may take."""

SAID_SECONDS = 8.0
"""How long the last line shows the result of a key."""

KEYS = "p PR  i issue  q quit"


class LiveWatch:
    """One worktree on one terminal.

    Attributes:
        root: the worktree.
        console: where it is drawn.
        clock: the clock for ages.
        seen: its overview as last read, which is at once.
    """

    def __init__(self, root: Path, console: Console, clock: Clock) -> None:
        self.root, self.console, self.clock = root, console, clock
        self._said, self._said_at = "", 0.0
        self._drawn: list[Text] = []
        self._heard: set[int] = set()
        self._read()

    def once(self) -> None:
        """Print everything, whatever its length, and end."""
        self.console.print(Text("\n").join(self._lines(None)), soft_wrap=True)

    def run(self) -> None:
        """Show it until a key, a signal or the end of input ends it."""
        live = Live(console=self.console, screen=True, auto_refresh=False, redirect_stderr=False)
        # Only note it: a handler draws nothing, since a signal may arrive during a drawing.
        noting = heard(self._heard.add, signal.SIGTSTP, signal.SIGCONT, signal.SIGTERM)
        with _keys() as (pressed, settle), live, noting:
            while True:
                if signal.SIGTSTP in self._heard:
                    self._leave(live, settle)
                self._draw(live)
                if any(self._has_ended(key) for key in pressed()) or signal.SIGTERM in self._heard:
                    break
                if self._dates != signature_of(watched(self.root)):
                    self._read()
        if signal.SIGTERM in self._heard:  # the same end as without a screen to restore
            signal.raise_signal(signal.SIGTERM)

    def _read(self) -> None:
        # The dates come first: a file that changes during the read is read again.
        self._dates = signature_of(watched(self.root))
        self.seen = overview(self.root, os.environ, Deadline.after(self.clock, READ_SECONDS))

    def _lines(self, rows: int | None) -> list[Text]:
        now = self.clock.now()
        foot = self._said if self._said and now - self._said_at < SAID_SECONDS else KEYS
        return watch_screen(self.seen, self.console, now, rows, foot)

    def _draw(self, live: Live) -> None:
        """Draw the screen, unless it shows these lines already."""
        lines = self._lines(self.console.height)
        if lines != self._drawn or signal.SIGCONT in self._heard:
            self._drawn = lines
            self._heard.discard(signal.SIGCONT)
            live.update(Text("\n").join(lines), refresh=True)

    def _has_ended(self, key: str) -> bool:
        pages = {"p": ("The pull request", self.seen.pull), "i": ("The issue", self.seen.claim)}
        page, part = pages.get(key.lower(), ("", None))
        if page:
            self._open(page, part.url if part is not None else "")
        return key in ("q", "Q", "")

    def _open(self, page: str, url: str) -> None:
        """Show a page's address, and open it in the browser without waiting for it."""
        self._said_at = self.clock.now()
        self._said = f"{page}: {url}" if url else f"{page} has no address yet."
        windows = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
        is_windowed = sys.platform == "darwin" or any(os.environ.get(name) for name in windows)
        if url and is_windowed:
            # Without this terminal, whose screen it might take or print into.
            nothing = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            browser = [sys.executable, "-I", "-m", "webbrowser", url]
            started = partial(subprocess.run, browser, start_new_session=True, **nothing)
            threading.Thread(target=started, daemon=True).start()

    def _leave(self, live: Live, settle: Callable[[bool], None]) -> None:
        """Restore the shell's own screen and line, and stop; continue from here at `fg`."""
        live.stop()
        settle(False)
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, handler)
        self._heard.discard(signal.SIGTSTP)
        settle(True)
        live.start()
        self._drawn = []


@contextmanager
def _keys() -> Iterator[tuple[Callable[[], Iterator[str]], Callable[[bool], None]]]:
    """Keys as they are pressed, without the terminal's line editing.

    Yields:
        A function that waits up to POLL_SECONDS for keys ("" stands for the end of input), and one that
        switches the terminal to keys (True) or lines (False).
    """
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)

    def pressed() -> Iterator[str]:
        if select.select([number], [], [], POLL_SECONDS)[0]:
            yield from os.read(number, 64).decode("utf-8", "replace") or [""]

    def settle(is_ours: bool) -> None:
        if is_ours:
            tty.setcbreak(number)
        else:
            termios.tcsetattr(number, termios.TCSADRAIN, before)

    settle(True)
    try:
        yield pressed, settle
    finally:
        settle(False)
