"""A person at a terminal of their own, and an agent that hides whose it is, in tests."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_APART = """
import json, os, pty, sys
alone, result = int(sys.argv[1]), int(sys.argv[2])
if os.fork():
    os._exit(0)
os.setsid()
os.read(alone, 1)
pid, terminal = pty.fork()
if not pid:
    os.close(alone)
    os.close(result)
    os.execv(sys.argv[3], sys.argv[3:])
shown = b""
try:
    while part := os.read(terminal, 4096):
        shown += part
except OSError:
    pass
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
with open(result, "w") as file:
    json.dump([code, shown.decode().replace("\\r\\n", "\\n")], file)
"""
"""Runs a command on a terminal, below no process of whoever asked for it: of a client's agent, say.

It begins when it reads a byte: then its first process has ended, and it is below nobody of ours.
"""


def at_terminal(
    words: Sequence[str | Path], root: Path, environment: Mapping[str, str], seconds: float = 60.0
) -> tuple[int, str]:
    """The exit code of a command that a person runs in a terminal, and what it showed."""
    alone, begin = os.pipe()
    result, ended = os.pipe()
    with open(begin, "wb", buffering=0) as beginning, open(result) as ending:  # noqa: PTH123 -- descriptors
        try:
            subprocess.run(
                [sys.executable, "-c", _APART, str(alone), str(ended), *map(str, words)],
                cwd=root,
                env=dict(environment),
                pass_fds=(alone, ended),
                check=True,
                timeout=seconds,
            )
        finally:
            os.close(alone)
            os.close(ended)
        beginning.write(b".")
        assert select.select([ending], [], [], seconds)[0], "the command does not end"
        code, shown = json.load(ending)
        return code, shown


def variables_of_a_client(session: str = "session-1") -> dict[str, str]:
    """What the client's agent's commands see."""
    return {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session, "CLAUDE_PID": str(os.getpid())}
