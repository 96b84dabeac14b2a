"""Fifty processes that wait on one machine, for eight minutes of real time: the nightly soak's alone."""

from __future__ import annotations

import signal
import subprocess
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.control.client import ControlError
from lifecycle.sandbox.server import Sandbox
from tests.conftest import STARTED, environment_of
from tests.e2e.client import ended
from tests.feedback.waiting_machine import many_pulls, pulls

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.soak(
        "feedback/test_shared_looks.py::test_fifty_waiting_worktrees_cost_two_requests_in_two_minutes",
        "app/test_claim_wait.py::test_a_pull_request_without_a_claim_is_waited_for_by_the_same_rules",
    ),
    pytest.mark.timeout(900),
]

EVERY = 30
SETTLED = 6 * EVERY
"""Seconds after which all have looked whole once more than their news needs to settle."""


def test_fifty_processes_share_their_looks_for_minutes(
    tmp_path: Path,
) -> None:
    """Two requests a poll at the most, once nothing is new; a close ends the one wait that it is for.

    Whoever asks may be killed at any moment: the others go on.
    """
    root = tmp_path / "clone"
    root.mkdir()
    with Sandbox(many_pulls()) as running, ExitStack() as all_of_them:
        environment = environment_of(running.info, root)
        control = Control(running.info.control_url)
        git = ["git", "-C", str(root)]
        subprocess.run([*git, "init", "--quiet"], check=True, env=environment)
        origin = [*git, "remote", "add", "origin", running.info.git_url]
        subprocess.run(origin, check=True, env=environment)
        (root / ".lifecycle.toml").write_text(f"[checks]\npoll_seconds = {EVERY}\n")
        waiting = {}
        for one in pulls(running.info):
            number = int(one["number"])
            command = [str(STARTED), "wait", str(number), "--for", "merge", "--timeout", "1h"]
            process = subprocess.Popen(
                command,
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            all_of_them.enter_context(ended(process))
            waiting[number] = process
        assert len(waiting) == 50
        assert _asked(control, SETTLED) > len(waiting)
        assert _asked(control, 2 * EVERY) <= 3 * 2
        for number in list(waiting)[:5]:
            waiting.pop(number).send_signal(signal.SIGKILL)
        closed, process = waiting.popitem()
        control.close_pull(closed)
        assert process.wait(timeout=3 * EVERY) == 13
        _asked(control, SETTLED)
        assert _asked(control, 2 * EVERY) <= 3 * 2
        assert {process.poll() for process in waiting.values()} == {None}
        for process in waiting.values():
            process.send_signal(signal.SIGTERM)
        assert {process.wait(timeout=60) for process in waiting.values()} == {143}


def _asked(control: Control, seconds: float) -> int:
    """How many requests came in so many seconds."""
    control.clear_requests()
    with pytest.raises(ControlError, match="requests came within"):
        control.wait_for_requests(100_000, seconds=seconds)
    return len(control.requests())
