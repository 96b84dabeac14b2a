"""The real Claude Code: its program, one user's folders, and how it is started.

It speaks to the scripted model and to the embedded GitHub, both on loopback, and to nothing else. Each
process that comes of it inherits `MARK`, so that a test sees what is left when the client has ended.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.clients.claude_code.model import Model
from tests.clients.claude_code.screen import Screen
from tests.conftest import Place

SECONDS = 120
"""How long anything may take, on a machine that does much else."""

TIMEOUT = 300
"""Seconds that a whole story may take there; on a machine of its own it takes 20."""

MARK = "LIFECYCLE_TEST_CLIENT"

PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
"""Stands before what the person types, as soon as they can."""

RESTING = "\N{EIGHT SPOKED ASTERISK}"
"""Begins the terminal's title while nothing runs."""

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}
"""No address but the model's. Source: https://code.claude.com/docs/en/settings."""

ALLOWED = ("Bash(git:*)", "Write", "Edit", "Read")
"""What the user of these tests lets any agent do, in every project."""


@dataclass
class Client:
    """Claude Code as one user has it, in one worktree.

    Attributes:
        program: the native program of the npm package.
        place: the worktree.
        model: what answers.
        folder: an empty folder for home and commands.
        more: further environment variables.
    """

    program: Path
    place: Place
    model: Model
    folder: Path
    more: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the user a home where the client was used before: nothing is asked at the first start."""
        self.home = self.folder / "home"
        self.settings = self.home / ".claude"
        if self.settings.exists():
            return  # another client of the same user's
        self.settings.mkdir(parents=True)
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "projects": {str(self.place.root.resolve()): trusted},
        }
        (self.settings / ".claude.json").write_text(json.dumps(known))
        # Else a session begins by asking whether auto mode is to be the default, and that question, which
        # the client draws and takes away again by its own time, may take the person's first Enter.
        allowed = {"defaultMode": "default", "disableAutoMode": "disable", "allow": ALLOWED}
        (self.settings / "settings.json").write_text(json.dumps({"permissions": allowed}))

    @property
    def environment(self) -> dict[str, str]:
        """What the client is started with."""
        kept = {k: v for k, v in self.place.environment.items() if not k.startswith("CLAUDE")}
        kept.pop("LIFECYCLE_BIN")  # the hooks find the command as they do at a user's: on PATH
        return {
            **kept,
            **QUIET,
            "PATH": f"{self.place.command.parent}{os.pathsep}{kept['PATH']}",
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "CLAUDE_CONFIG_DIR": str(self.settings),
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_AUTH_TOKEN": "made-up",
            # Whatever would leave this machine reaches the model's server instead, which notes it.
            "HTTP_PROXY": self.model.url,
            "HTTPS_PROXY": self.model.url,
            "TERM": "xterm-256color",
            "SHELL": "/bin/bash",
            MARK: str(self.folder),
            **self.more,
        }

    @contextmanager
    def session(self, *arguments: str) -> Iterator[Terminal]:
        """A person's session at a terminal; killed at the end of the block if it still runs."""
        terminal = Terminal([str(self.program), *arguments], self)
        try:
            yield terminal
        finally:
            terminal.end()

    @contextmanager
    def piped(self, *arguments: str) -> Iterator[Piped]:
        """A session that a program leads: JSON in and out, stdin kept open."""
        piped = Piped([str(self.program), "-p", *STREAMS, *arguments], self)
        try:
            yield piped
        finally:
            piped.end()

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the client to its end."""
        return self._run(self.program, arguments)

    def lifecycle(self, *arguments: str) -> str:
        """The user runs `lifecycle` at a shell of their own, and it succeeds; what it says."""
        done = self._run(self.place.command, arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _run(self, program: Path, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(program), *arguments],
            cwd=self.place.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def left(self) -> list[str]:
        """The command lines of what came of this client and still runs."""
        return [line for line in _processes() if f"{MARK}={self.folder}" in line]

    def is_gone(self) -> bool:
        """True as soon as nothing is left; what still runs is given the time to end."""
        return until(lambda: not self.left())


STREAMS = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")


def _processes() -> list[str]:
    """Each process of ours: its command line and environment."""
    if sys.platform != "linux":
        done = subprocess.run(
            ["ps", "-A", "-E", "-ww", "-o", "command="], capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parts = [(path / name).read_bytes() for name in ("cmdline", "environ")]
        except OSError:
            continue  # it ended meanwhile, or is not ours
        found.append(b" ".join(parts).replace(b"\0", b" ").decode(errors="replace"))
    return found


def until(is_so: Callable[[], object], seconds: float = SECONDS) -> bool:
    """Wait until something is so; False if it is not within the time."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


_CONTROLS = re.compile(rb"\x1b\][^\x07]*\x07|\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b.")


class Terminal:
    """A client at a terminal of 200 columns, and the person in front of it."""

    def __init__(self, command: list[str], client: Client) -> None:
        self._model = client.model
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
        self.process = subprocess.Popen(
            command,
            cwd=client.place.root,
            env=client.environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._output = bytearray()
        self._painted, self._shown = -1, (-1, "")
        self.sent = 0
        self._thread = threading.Thread(target=self._read)
        self._thread.start()
        self.sees(PROMPT)

    def _read(self) -> None:
        try:
            while data := os.read(self._ours, 65536):
                self._output += data
        except OSError:
            pass  # the last process that had the terminal has ended

    def text(self, since: int = 0) -> str:
        """What was shown, without the control sequences, in which spaces may be missing."""
        return _CONTROLS.sub(b" ", bytes(self._output[since:])).decode(errors="replace")

    @property
    def screen(self) -> str:
        """What is shown, as of the last time that the client was done with painting it."""
        painted, self._painted = self._painted, len(self._output)
        if painted == self._painted and self._shown[0] != painted:
            screen = Screen()
            screen.feed(bytes(self._output[:painted]).decode(errors="replace"))
            self._shown = (painted, screen.text)
        return self._shown[1]

    def sees(self, *words: str, since: int = 0) -> None:
        """Wait until all of the words were shown."""
        if not until(lambda: self._has_shown(words, since)):
            raise AssertionError(f"{words} was not shown, but:\n{self.screen[-3000:]}")

    def _has_shown(self, words: tuple[str, ...], since: int) -> bool:
        def is_in(text: str) -> bool:
            packed = re.sub(r"\s", "", text)
            return all(re.sub(r"\s", "", word) in packed for word in words)

        return is_in(self.text(since)) or (not since and is_in(self.screen))

    def rests(self) -> None:
        """Wait until the turn has ended, its hooks as well: the client's title says when."""

        def is_idle() -> bool:
            _, _, title = bytes(self._output[self.sent :]).rpartition(b"\x1b]0;")
            return title.startswith(RESTING.encode())

        assert until(is_idle), self.text()[-3000:]

    def types(self, line: str) -> None:
        """The person writes a line and sends it; a command's name not before the client offers it.

        The client reads a plugin's commands after it has drawn the prompt, and what it does not know yet
        it calls unknown. Keys that come while it still sets its terminal up may be lost: who sees nothing
        of them takes away what stands there and types again.
        """
        self.sent = len(self._output)
        name = line.split(maxsplit=1)[0] if line.startswith("/") else ""
        offer = re.compile(rf"/(\S+:)?{re.escape(name[1:])} {{2,}}\S")

        def is_offered() -> bool:
            os.write(self._ours, b"\x15" + name.encode())  # Ctrl-U: whatever stands there goes
            return until(lambda: offer.search(self.screen), seconds=2)

        def is_typed() -> bool:
            os.write(self._ours, b"\x15" + line.encode())
            return until(lambda: self._has_shown((line,), self.sent), seconds=5)

        assert until(is_offered if name else is_typed), self.screen[-3000:]
        if rest := line.removeprefix(name) if name else "":
            os.write(self._ours, rest.encode())
            self.sees(rest, since=self.sent)
        os.write(self._ours, b"\r")

    def allows(self, command: str) -> None:
        """The person is asked about a command, and says yes, this once.

        The client takes no key for a moment after the question is drawn, so that nobody answers what
        they have not read; Enter is pressed again until its result has reached the model.
        """
        self.sees(command, "Do you want to proceed?", since=self.sent)
        turns = len(self._model.turns)

        def is_answered() -> bool:
            os.write(self._ours, b"\r")
            return until(lambda: len(self._model.turns) > turns, seconds=1)

        assert until(is_answered), self.text()[-3000:]

    def leaves(self) -> int:
        """The person types /exit; the exit code."""
        self.types("/exit")
        return self.process.wait(SECONDS)

    def end(self) -> None:
        """Kill what still runs, and take the terminal away."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(SECONDS)
        self._thread.join(SECONDS)
        os.close(self._ours)
        print(self.screen[-4000:])  # noqa: T201 - pytest shows it where a test failed


class Piped:
    """A client that a program talks to."""

    def __init__(self, command: list[str], client: Client) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=client.place.root,
            env=client.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.events: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._read, args=(self.process.stdout,))
        self._thread.start()

    def _read(self, lines: IO[str]) -> None:
        self.events.extend(json.loads(line) for line in lines)

    def says(self, text: str) -> None:
        """The program sends a prompt."""
        assert self.process.stdin is not None
        message = {"role": "user", "content": text}
        self.process.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
        self.process.stdin.flush()

    def results(self, count: int) -> bool:
        """Wait until so many turns have ended."""
        return until(lambda: sum(event["type"] == "result" for event in self.events) >= count)

    def leaves(self) -> int:
        """The program closes the client's stdin; the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(SECONDS)

    def end(self) -> None:
        """Kill what still runs."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(SECONDS)
        self._thread.join(SECONDS)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
