"""Two who want the same task at the same moment, as real processes that share nothing but bd."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle.core.tracker import Atomicity
from tests.trackers.beads import simulated
from tests.trackers.beads.grounds import BeadsGround

_AGENT = """
import json, sys
from pathlib import Path
from lifecycle.core.timing import SystemClock
from lifecycle.core.timing import Deadline
from lifecycle.core.errors import LifecycleError
from lifecycle.trackers.beads.bd_tracker import BeadsTracker
root, folder, actor = sys.argv[1:4]
tracker = BeadsTracker(Path(root), {}, actor, Deadline.after(SystemClock(), 60), folder)
tracker.abilities()
sys.stdout.write("ready\\n")
sys.stdout.flush()
for name in sys.stdin.readline().split():
    try:
        told = tracker.claim(name).assignee
    except LifecycleError as error:
        told = f"{type(error).__name__} {getattr(error, 'by', '')}"
    sys.stdout.write(json.dumps(told) + "\\n")
"""


@pytest.mark.once("how each build says no to a claim, test_rows and test_faults have")
@pytest.mark.parametrize("profile", simulated.PROFILES[:0:-1])
def test_one_of_two_processes_wins(profile: str, tmp_path: Path) -> None:
    """Each in a clone of its own, so that no lock of ours is between them: bd alone decides."""
    folder, shared = tmp_path / "bin", tmp_path / "shared"
    simulated.install(folder, profile)
    database = simulated.workspace(shared, folder)
    names = [simulated.create(folder, shared, f"Task {number}") for number in range(6)]
    around = simulated.environment(folder, PYTHONPATH=str(Path(__file__).parents[3]))
    agents = []
    for number in (1, 2):
        root = tmp_path / f"clone-{number}"
        root.mkdir()
        command = [sys.executable, "-c", _AGENT, str(root), str(database), f"agent-{number}"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        agents.append(subprocess.Popen(command, env=around, text=True, **pipes))  # type: ignore[call-overload]
    for agent in agents:
        assert agent.stdout.readline() == "ready\n"
    answers = []
    for agent in agents:
        agent.stdin.write(" ".join(names) + "\n")
        agent.stdin.flush()
    for agent in agents:
        out, _ = agent.communicate(timeout=90)
        answers.append([json.loads(line) for line in out.splitlines()])
    for name, told in zip(names, zip(*answers, strict=True), strict=True):
        (row,) = simulated.run(folder, shared, "show", name)
        number = 1 if row["assignee"] == "agent-1" else 2
        wanted = [f"agent-{number}", f"AlreadyClaimed agent-{number}"]
        assert list(told) == (wanted if number == 1 else wanted[::-1])


def test_the_oldest_build_says_what_its_claims_are_worth(ground: BeadsGround) -> None:
    """Without `--claim` a claim is read back, and nobody is promised more."""
    simulated.install(ground.folder, "0.30.7")
    tracker = ground.tracker("agent-1")
    assert tracker.abilities().claim_atomicity is Atomicity.ADVISORY
    name = simulated.create(ground.folder, ground.root, "A task")
    tracker.claim(name)
    lines = [" ".join(call["argv"][:1]) for call in simulated.calls(ground.folder)]
    assert lines[-3:] == ["show", "update", "show"]
