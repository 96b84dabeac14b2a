"""A whole run in the real client: three stories, a crash, a kill, a person, a compaction, the end."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run
from lifecycle.run.table import RunStatus
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Call, Model, bash, on, writes
from tests.clients.claude_code.wiring import init
from tests.conftest import FORKED, Place
from tests.e2e.killer import KILL_AT, KILL_NOTE

pytestmark = pytest.mark.timeout(TIMEOUT)

MARKER = "## WORKFLOW_COMPLETE\n\nAll stories verified."
TEST = "from {name} import {name}\n\n\ndef test_{name}():\n    assert {name}() == 1\n"


def chain(*commands: str) -> Call:
    """The agent runs these `lifecycle` commands, each if the one before succeeded."""
    return bash(" && ".join(f"lifecycle {command}" for command in commands))


PLAN = chain(
    "run update-phase analysis",
    "run add-story 'Add numbers' --size S",
    "run add-story 'Keep what was added' --size M --security",
    "run add-story 'Take money with Stripe' --size M",
    "run update-phase planning",
    "run story-plan S1 --criterion 'add gives 1' --design 'One function' --file add.py",
    "run story-plan S2 --criterion 'keep gives 1' --design 'One function' --file keep.py",
    "run story-plan S3 --criterion 'pay gives 1' --design 'One function' --file pay.py",
    "run update-phase development",
    "run update-story S1 in_progress",
    "run tdd-phase S1 red",
)
BLOCKED = chain(
    "run tdd-phase S3 green",
    "run add-blocker 'Stripe API key not configured in .env' --severity high",
    "run await-user-fix B1 'Add the Stripe key to .env' --check-command 'ls .env'",
)
CLEARED = chain(
    "run review S2 --by security --verdict CLEARED",
    "run gate G6 S2",
    "run update-story S2 completed",
    "run update-story S3 in_progress",
    "run scan-dependencies S3",
    "run tdd-phase S3 red",
)
CRASH = """
for at in 1 2 3 4 5 6 7 8 9 10 11 12; do
    {at}=$at {note}="$0.note" {command} run update-story S2 in_progress && break
    echo killed >>"$0.note"
done
"""
"""Begins the second story, killed before each of its moments in turn, one of them the state's rename."""


def red(root: Path, name: str) -> tuple[Call, ...]:
    """The agent writes the test of a function that is wrong yet, and runs it."""
    test = writes(root / f"test_{name}.py", TEST.format(name=name))
    return code(root, name, 0), test, bash("lifecycle check test")


def code(root: Path, name: str, number: int) -> Call:
    """The agent writes the function."""
    return writes(root / f"{name}.py", f"def {name}():\n    return {number}\n")


def shows(story: str) -> Call:
    """The agent has all of a story shown, commits it, and says that it is completed."""
    return chain(
        "check test",
        f"run tdd-phase {story} verify",
        f"run gate G4 {story}",
        f"run gate G5 {story}",
        f"run criterion {story} 1 met",
        f"run review {story} --by reviewer --verdict APPROVED",
        f"run commit {story}",
        f"run update-story {story} completed",
    )


def project(client: Client, place: Place) -> None:
    """A branch of its own, whose tests pytest runs, as its user has allowed."""
    place.git("switch", "-qc", "calculator")
    place.git("rm", "-q", "-r", ".")  # a module there has the name of one of Python's own
    command = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
    settings = f"[checks.commands]\ntest = {json.dumps(command)}\n"
    (place.root / ".lifecycle.toml").write_text(settings)
    (place.root / ".gitignore").write_text("__pycache__/\n")
    place.git("add", "-A")
    place.git("commit", "-qm", "Say how it is tested")
    client.lifecycle("trust", "--yes")
    init(client, "--run")


def run_of(place: Place) -> Run:
    """The run as its file holds it."""
    deadline = Deadline.after(SystemClock(), 30)
    return RunStore(place.root, place.environment, deadline).demanded()


def begins_and_is_killed(client: Client, place: Place, model: Model, crash: Path) -> None:
    """A story is completed; the next is begun by a command that is killed as it writes, then the client."""
    root = place.root
    words = {"at": KILL_AT, "note": KILL_NOTE, "command": FORKED.command}
    crash.write_text(CRASH.format(**words))
    model.follows(
        on("Make it.").say(chain("run init 'A calculator that takes money' --autonomous")),
        on("Initialized workflow").say("I am done for today."),
        on("go on: setup").say("I am done for today."),
        on("Stuck: 2 turns").say(PLAN),
        on("TDD phase: red").say(*red(root, "add")),
        on("test FAILED").say(chain("run tdd-phase S1 green")),
        on("TDD phase: green").say(code(root, "add", 1), shows("S1")),
        on("Updated story S1: completed").say(bash(f"sh {crash}")),
        on("Updated story S2: in_progress").say("It is late."),
    )
    with client.session() as terminal:
        terminal.types("Make it.")
        terminal.allows(crash.name)
        model.hears("go on: development, 1 of 3 stories")
        os.killpg(terminal.process.pid, signal.SIGKILL)
    assert client.is_gone(), client.left()
    moments = Path(f"{crash}.note").read_text().splitlines()
    assert "rename to workflow-state.json" in moments[: moments.index("end")]
    assert moments.count("killed") > 1
    assert [story.status.value for story in run_of(place).stories] == [
        "completed",
        "in_progress",
        "pending",
    ]


@pytest.mark.soak(
    "clients/claude_code/test_story.py::test_from_claim_to_close",
    "e2e/test_run_story.py::test_a_run_from_its_goal_to_its_pull_request",
)
def test_a_run_from_its_goal_to_its_pull_request(
    client: Client, place: Place, model: Model, tmp_path: Path
) -> None:
    """Whatever ends in between, what was shown counts, and the hook lets go when all of it is."""
    project(client, place)
    root = place.root
    begins_and_is_killed(client, place, model, tmp_path / "crash.sh")
    model.follows(
        on("Go on.").say(chain("run tdd-phase S2 red")),
        on("TDD phase: red").say(*red(root, "keep")),
        on("test FAILED").say(chain("run tdd-phase S2 green")),
        on("TDD phase: green").say(code(root, "keep", 1), shows("S2")),
        on("securityCleared").say(CLEARED),
        on("[payment] payment_processing").say(*red(root, "pay")),
        on("test FAILED").say(BLOCKED),
        on("awaiting_user").say("I wait for the key."),
    )
    with client.session() as terminal:
        terminal.types("Go on.")
        terminal.sees("Add the Stripe key to .env", "lifecycle run user-fix-complete")
        terminal.rests()
        terminal.types("/compact")
        terminal.rests()
        asked = [text for request in model.requests for text in request.messages]
        assert any('- Goal: "A calculator that takes money"' in text for text in asked)
        (root / ".env").write_text("STRIPE=none\n")
        client.lifecycle("run", "user-fix-complete", "--notes", "Added a test key")
        model.follows(
            on("It is there.").say(chain("run check-user-fix")),
            on('"can_resume": true').say(code(root, "pay", 1), shows("S3")),
            on("Updated story S3: completed").say(MARKER),
            on("You said WORKFLOW_COMPLETE", "run the last gate").say(chain("run gate G7")),
            on("All verification checks passed").say(chain("run finish")),
            on("## WORKFLOW_COMPLETE").say("All is done."),
            on("closing block").say(MARKER),
        )
        terminal.types("It is there.")
        terminal.allows("lifecycle run check-user-fix")
        model.hears("closing block")
        terminal.rests()
        assert terminal.leaves() == 0
    assert client.is_gone(), client.left()
    assert (model.rules, model.strange) == ([], [])
    assert model.heard("Autonomous run ") == 2  # to the second session, and after the compaction
    run, pull = run_of(place), place.pulls()[place.pull()]
    assert run.status is RunStatus.COMPLETED
    assert run.pull_request.endswith(f"/pull/{place.pull()}")
    lines = pull["body"].splitlines()
    shown = (
        "- [x] All tests pass",
        "- [x] Security review passed",
        "- **Stories:** 3/3",
        "- **Sessions:** 2",
    )
    assert [line for line in shown if not any(one.startswith(line) for one in lines)] == [], lines
    assert ".env" not in place.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert not (root / ".lifecycle/run").exists()
