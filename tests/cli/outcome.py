"""How a command ended, in tests."""

from __future__ import annotations

import subprocess

from tests.asserted import check


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
