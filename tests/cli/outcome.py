"""How a command ended, in tests."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.asserted import check
from tests.conftest import FORKED


def run(
    command: Path, *words: str, cwd: Path, env: Mapping[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command as a process; what is forked is asked for without a process that asks."""
    if command != FORKED.command:
        return subprocess.run(
            [command, *words],
            cwd=cwd,
            env=env,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    done = FORKED.run(words, cwd=cwd, env=env, stdin=stdin.encode())
    said, told = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(words, done.returncode, said, told)


def ok(done: subprocess.CompletedProcess[str]) -> str:
    """The output of a command that must succeed."""
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@check
def refused(done: subprocess.CompletedProcess[str], code: int = 1) -> str:
    """The one sentence of a command that must not succeed."""
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr + done.stdout
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr
