"""A command on a terminal, in tests."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from tests.conftest import COMMAND, Place


def on_terminal(place: Place, width: int, *arguments: str) -> tuple[int, str]:
    """`lifecycle ARGUMENTS` on a terminal of this width: the exit code and what was shown."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    with subprocess.Popen(
        [str(COMMAND), *arguments],
        cwd=place.root,
        env={**place.environment, "TERM": "xterm-256color"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    ) as process:
        os.close(slave)
        shown = b""
        try:
            while chunk := os.read(master, 4096):
                shown += chunk
        except OSError:  # the terminal's other end was closed: the command is over
            pass
        finally:
            os.close(master)
    return process.returncode, shown.decode().replace("\r\n", "\n")


def plain(shown: str) -> str:
    """Without colours, links and what moves the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^\x1b]*\x1b\\", "", shown)
