"""What waiting costs: requests, points and CPU of quiet worktrees in two minutes, one and fifty of them.

And what the process of one takes that waits for an hour: its memory then, and its CPU in all.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from lifecycle.api import Worktree
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox
from lifecycle.settings.resources import hook_script
from tests.bench.paths import environment
from tests.bench.waiter import ENDS, PASSED
from tests.feedback.waiting_machine import EVERY, Machine, many_pulls
from tests.github.hub import PatientClock

COUNTS = (1, 10, 50)
ROUNDS = 4
MOST_REQUESTS = 2
"""In two minutes, of however many worktrees of one machine."""


HOUR = 3_600
MOST_RESIDENT = 1.3
"""Of what Python holds that has imported json, http.client and ssl."""

MOST_SECONDS = 3.0
"""Of CPU in an hour, its start and its polls with it."""

WHOLE = "lifecycle.hooks.wake"
"""What a waiter imports that does not rest."""

_IMPORTS = """
import json, http.client, ssl
print(next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmRSS")))
"""


@dataclass(frozen=True, slots=True)
class WaitCost:
    """What so many quiet worktrees cost in two minutes: requests, points and CPU seconds of all of them."""

    count: int
    requests: float
    points: float
    seconds: float


@dataclass(frozen=True, slots=True)
class WaiterHour:
    """What the process of one waiter takes in an hour.

    Attributes:
        resident: bytes that it holds at the hour's end.
        imports: what Python holds with json, http.client and ssl.
        seconds: CPU time, its start and every poll with it.
        requests: how many it made.
        poll: seconds for each of them with its part of all that the waiter does.
        modules: what it has imported at the end.
    """

    resident: int
    imports: int
    seconds: float
    requests: int
    poll: float
    modules: frozenset[str]

    @property
    def rests(self) -> bool:
        """True if it was the small process by then."""
        return WHOLE not in self.modules


def waiter_hour(folder: Path, latency: float = 0.0) -> WaiterHour:
    """Let a real waiter wait for an hour that passes at once, for a pull request whose checks run.

    GitHub is so many seconds away.
    """
    root, code = folder / "waiter", Path(__file__).parents[2]
    with Sandbox() as sandbox:
        info = sandbox.info
        seen = environment(
            root,
            GITHUB_API_URL=info.api_url,
            GITHUB_GRAPHQL_URL=info.graphql_url,
            GH_TOKEN=info.token,
            LIFECYCLE_PROJECT_NUMBER=str(info.project_number),
            PYTHONPATH=str(code),
        )
        control = Control(info.control_url)
        subprocess.run(["git", "clone", "--quiet", info.git_url, root], check=True)
        tree = Worktree(root, environment=seen)
        tree.claim(42)
        control.plan_checks(PlannedCheck(name="test", status="in_progress"))
        (root / "work.txt").write_text("work\n")
        git = ["git", "-c", "user.name=Bench", "-c", "user.email=bench@example.com"]
        for words in (["add", "work.txt"], ["commit", "--quiet", "-m", "Work"]):
            subprocess.run([*git, *words], cwd=root, env=seen, check=True)
        tree.hand_off("Fix race condition")
        _printed((str(hook_script("on-stop")),), root, seen)
        control.clear_requests()
        command = (sys.executable, "-P", "-m", "tests.bench.waiter", "hook", "ci-waiter")
        control.set_latency(latency)
        begun = time.perf_counter()
        waited = _printed(command, root, {**seen, PASSED: "0", ENDS: str(HOUR)}).split()
        seconds = time.perf_counter() - begun
        control.set_latency(0)
        requests = len([one for one in control.requests() if one.kind != "git"])
        imports = _printed((sys.executable, "-c", _IMPORTS), root, seen)
    modules = frozenset(waited[3:])
    poll = seconds / requests
    return WaiterHour(int(waited[2]), int(imports), float(waited[1]), requests, poll, modules)


def _printed(command: tuple[str, ...], root: Path, seen: dict[str, str]) -> str:
    ran = subprocess.run(
        command, cwd=root, env=seen, check=True, stdin=subprocess.DEVNULL, capture_output=True
    )
    return ran.stdout.decode()


def wait_rows(folder: Path, counts: Sequence[int] = COUNTS) -> list[WaitCost]:
    """Each number of worktrees against a GitHub of its own."""
    return [_waited(folder / f"waits-{count}", count) for count in counts]


def _waited(home: Path, count: int) -> WaitCost:
    home.mkdir()
    with Sandbox(many_pulls()) as running:
        machine = Machine(running.info, home, PatientClock())
        del machine.worktrees[count:]
        machine.join()
        machine.spend(3 * EVERY)
        points, begun = machine.graph.points, time.thread_time()
        spent = [sum(machine.spend(EVERY)) for _ in range(ROUNDS)]
        seconds = (time.thread_time() - begun) / ROUNDS
        return WaitCost(
            count, sum(spent) / ROUNDS, (machine.graph.points - points) / ROUNDS, seconds
        )


def wait_table(rows: Sequence[WaitCost]) -> Table:
    """Requests, points and CPU time of two quiet minutes."""
    title = "quiet worktrees that wait, in two minutes"
    table = Table(title=title, title_justify="left")
    for name in ("worktrees", "requests", "points", "CPU ms of all"):
        table.add_column(name, justify="right")
    for row in rows:
        numbers = (f"{row.requests:.1f}", f"{row.points:.1f}", f"{row.seconds * 1e3:.0f}")
        table.add_row(str(row.count), *numbers)
    return table


def hour_table(hour: WaiterHour) -> Table:
    """Memory and CPU of a waiter's process."""
    title = "a waiter's process, after an hour that passes at once; GitHub 100 ms away"
    table = Table(title=title, title_justify="left")
    names = (
        "MB",
        "json, http.client, ssl: MB",
        "÷ those",
        "CPU s",
        "requests",
        "ms each",
        "at rest",
    )
    numbers = (f"{hour.resident / 1e6:.1f}", f"{hour.imports / 1e6:.1f}")
    ratio = f"{hour.resident / hour.imports:.2f}"
    for name in names:
        table.add_column(name, justify="right")
    poll, rests = f"{hour.poll * 1e3:.0f}", "yes" if hour.rests else "no"
    table.add_row(*numbers, ratio, f"{hour.seconds:.2f}", str(hour.requests), poll, rests)
    return table


def judge_hour(hour: WaiterHour, gh: float | None = None) -> list[str]:
    """What of a waiter's process is too much, in words; empty if all is well.

    Args:
        hour: what the process took, with GitHub as far away as for `gh`.
        gh: seconds in which `gh` asks for the same; None where it is not there.
    """
    ratio, faults = hour.resident / hour.imports, []
    if ratio > MOST_RESIDENT:
        faults.append(f"a waiter holds {ratio:.2f} of what json, http.client and ssl do")
    if hour.seconds > MOST_SECONDS:
        faults.append(f"a waiter computes {hour.seconds:.1f} s an hour")
    if gh is not None and hour.poll > gh:
        faults.append(f"a poll takes a waiter {hour.poll * 1e3:.0f} ms, and gh {gh * 1e3:.0f}")
    return faults


def judge_waits(rows: Sequence[WaitCost]) -> list[str]:
    """Who takes more requests than waiting may, in words; empty if all is well."""
    return [
        f"{row.count} waiting worktrees take {row.requests:.1f} requests in two minutes"
        for row in rows
        if row.requests > MOST_REQUESTS
    ]
