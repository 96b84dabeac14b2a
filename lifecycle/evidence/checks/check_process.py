"""One command of a check as a process: its output as it comes, its time, the end of all its processes.

The command leads its own process group, which has no terminal. When it ends, when its time is up or when we
get a signal to end, the rest of the group is asked to end, then killed, then checked.

In the main thread signals are noted here while it runs, and looked at every 20 ms; other threads receive
none.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.timing import heard
from lifecycle.evidence.outcomes import NOT_INSTALLED
from lifecycle.platforms.command_argv import Argv

Take = Callable[[bytes], None]
"""Receives a part of the output."""

Process = subprocess.Popen[bytes]
Streams = list[tuple[IO[bytes], Take]]
"""The streams of a process, each with what receives its output."""

LATE, ABSENT, UNUSABLE = 124, 127, 126
"""Exit statuses: the time was up; the program does not exist; it cannot be started. As in `timeout` and sh:
https://www.gnu.org/software/coreutils/timeout and
https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02"""

DRAIN_SECONDS = 1.0
"""Seconds to wait, after a command's end, for output of processes that it left running."""

TERM_SECONDS = 5.0
"""Seconds that a group may take to end after it was asked to."""

KILL_SECONDS = 3.0
"""Seconds that a killed group may take to disappear."""

_OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PART = 65_536
_STEP = 0.02


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a command ended.

    Attributes:
        status: its exit status, 128 + n for a signal n, or one of LATE, ABSENT, UNUSABLE.
        signal: the signal that we received meanwhile and that ended it; 0 for none.
        is_late: its time was up.
        left: processes that it had started still ran when it ended, and were ended.
        error: why it could not be started, as half a sentence; "" if it was started.
    """

    status: int
    signal: int = 0
    is_late: bool = False
    left: bool = False
    error: str = ""


def run(
    words: Argv, root: Path, environment: Mapping[str, str], seconds: float, *, out: Take, err: Take
) -> ProcessEnd:
    """Run a command, and pass on its output as it comes.

    Args:
        words: the program and its arguments.
        root: the folder that it runs in.
        environment: all of its environment variables.
        seconds: how long it may take.
        out: receives its standard output.
        err: receives its standard error.
    """
    # Only the main thread receives signals; one that is ignored, as under `nohup`, stays so.
    numbers = _OURS if threading.current_thread() is threading.main_thread() else ()
    ours = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    caught: list[int] = []
    with heard(caught.append, *ours):
        try:
            process = subprocess.Popen(
                words,
                cwd=root,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except (FileNotFoundError, NotADirectoryError):
            return ProcessEnd(ABSENT, error=f"{words[0]} {NOT_INSTALLED}, or not on PATH")
        except OSError as error:
            why = error.strerror or error
            return ProcessEnd(UNUSABLE, error=f"{words[0]} cannot be started ({why})")
        pairs = ((process.stdout, out), (process.stderr, err))
        streams = [(stream, take) for stream, take in pairs if stream is not None]
        try:
            _follow(process, caught, seconds, streams)
            code = process.poll()
            left = code is not None and _is_there(process.pid)
        finally:
            _end(process)
            for stream, _ in streams:
                stream.close()
        number = caught[0] if caught else 0  # also if it came while they were ended
        if code is None:
            return ProcessEnd(128 + number if number else LATE, number, is_late=not number)
        return ProcessEnd(code if code >= 0 else 128 - code, number, left=left)


def _follow(process: Process, caught: list[int], seconds: float, streams: Streams) -> None:
    """Pass on the output until the process ends, its time is up, or a signal comes."""
    limit, ended = time.monotonic() + seconds, 0.0
    with selectors.DefaultSelector() as selector:
        for stream, take in streams:
            selector.register(stream, selectors.EVENT_READ, take)
        while not caught:
            now = time.monotonic()
            if process.poll() is not None:
                ended = ended or now
                if not selector.get_map() or now - ended >= DRAIN_SECONDS:
                    return
            elif now >= limit:
                return
            for key, _ in selector.select(_STEP):
                if part := os.read(key.fd, _PART):
                    key.data(part)
                else:
                    selector.unregister(key.fileobj)


def _end(process: Process) -> None:
    """End what is left of the process and its group. Signals do not interrupt this."""

    def is_over() -> bool:
        return process.poll() is not None and not _is_there(process.pid)

    for number, seconds in ((signal.SIGTERM, TERM_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
        if is_over():
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        until = time.monotonic() + seconds
        while not is_over() and time.monotonic() < until:
            time.sleep(_STEP)


def _is_there(group: int) -> bool:
    """True if a process of the group runs; a dead one that nobody waited for does not count.

    Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    """
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # macOS's error for a dead one
    proc = Path("/proc")
    if not (proc / "self" / "stat").exists():
        return True
    for path in proc.glob("[0-9]*/stat"):
        try:
            state, _, of = path.read_text("utf-8", "replace").rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue  # it has ended
        if int(of) == group and state not in "ZX":
            return True
    return False
