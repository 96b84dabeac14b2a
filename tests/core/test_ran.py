"""How a program is run: what becomes of one that does not end, and of what it leaves behind."""

from __future__ import annotations

import os
import signal
from subprocess import TimeoutExpired

import pytest

from lifecycle.core.timing import ran


@pytest.mark.timeout(20)
def test_a_late_program_that_does_not_end_when_it_is_asked_to_is_killed() -> None:
    """Nobody waits for it any longer, nor for what it started."""
    with pytest.raises(TimeoutExpired):
        ran(["sh", "-c", "trap '' TERM; sleep 60; :"], 0.2, {**os.environ})


@pytest.mark.timeout(20)
def test_a_process_that_a_program_leaves_behind_is_not_waited_for() -> None:
    """It holds the output open; what the program said is there, and its exit code."""
    code, out, err = ran(["sh", "-c", "sleep 60 & echo $!; exit 3"], 30, {**os.environ})
    os.kill(int(out), signal.SIGKILL)
    assert (code, err) == (3, "")
