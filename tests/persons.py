"""A person at a terminal of their own, and an agent that hides whose it is, in tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_APART = """
import json, os, pty, sys, time
first = os.getpid()
if os.fork():
    os._exit(0)
os.setsid()
while os.getppid() == first:
    time.sleep(0.01)
pid, terminal = pty.fork()
if not pid:
    os.execv(sys.argv[2], sys.argv[2:])
shown = b""
try:
    while part := os.read(terminal, 4096):
        shown += part
except OSError:
    pass
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
with open(sys.argv[1] + ".new", "w") as file:
    json.dump([code, shown.decode().replace("\\r\\n", "\\n")], file)
os.rename(sys.argv[1] + ".new", sys.argv[1])
"""
"""Runs a command on a terminal, below no process of whoever asked for it: of a client's agent, say."""


def at_terminal(
    words: Sequence[str | Path], root: Path, environment: Mapping[str, str], seconds: float = 60.0
) -> tuple[int, str]:
    """The exit code of a command that a person runs in a terminal, and what it showed."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result"
        subprocess.run(
            [sys.executable, "-c", _APART, str(result), *map(str, words)],
            cwd=root,
            env=dict(environment),
            check=True,
            timeout=seconds,
        )
        until = time.monotonic() + seconds
        while not result.exists():
            assert time.monotonic() < until, "the command does not end"
            time.sleep(0.02)
        code, shown = json.loads(result.read_text())
        return code, shown


def variables_of_a_client(session: str = "session-1") -> dict[str, str]:
    """What the client's agent's commands see."""
    return {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session, "CLAUDE_PID": str(os.getpid())}
