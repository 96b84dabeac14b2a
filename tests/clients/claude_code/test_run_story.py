"""A run with real work in the real client: killed in the middle, then ended by its pull request."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys

import pytest

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.run.run_store import RunStore
from lifecycle.run.table import RunStatus
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model, bash, on, writes
from tests.clients.claude_code.wiring import init
from tests.conftest import Place

pytestmark = pytest.mark.timeout(TIMEOUT)

TEST = "from add import add\n\n\ndef test_add():\n    assert add() == 1\n"


def chain(*commands: str) -> str:
    """One line of the agent's: these `lifecycle` commands, each if the one before succeeded."""
    return " && ".join(f"lifecycle {command}" for command in commands)


BEGIN = chain(
    "run init 'Add one' --autonomous",
    "run update-phase analysis",
    "run add-story 'Add' --size S",
    "run update-phase planning",
    "run story-plan S1 --criterion 'add gives 1' --design 'One function' --file add.py",
    "run update-phase development",
    "run update-story S1 in_progress",
    "run tdd-phase S1 red",
)
END = chain(
    "check test",
    "run tdd-phase S1 verify",
    "run gate G4 S1",
    "run gate G5 S1",
    "run criterion S1 1 met",
    "run review S1 --by reviewer --verdict APPROVED",
    "run commit S1",
    "run update-story S1 completed",
)


def project(client: Client, place: Place) -> None:
    """A branch of its own, whose tests pytest runs, as its user has allowed."""
    place.git("switch", "-qc", "add")
    place.git("rm", "-q", "-r", ".")  # a module there has the name of one of Python's own
    command = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
    settings = f"[checks.commands]\ntest = {json.dumps(command)}\n"
    (place.root / ".lifecycle.toml").write_text(settings)
    (place.root / ".gitignore").write_text("__pycache__/\n")
    place.git("add", "-A")
    place.git("commit", "-qm", "Say how it is tested")
    client.lifecycle("trust", "--yes")


def test_a_run_outlives_its_client_and_ends_with_its_pull_request(
    client: Client, place: Place, model: Model
) -> None:
    """What was shown before the kill counts after it; the hook lets go when all is shown."""
    project(client, place)
    init(client, "--run")
    code, test = place.root / "add.py", place.root / "test_add.py"
    model.follows(
        on("Add one.").say(bash(BEGIN)),
        on("TDD phase: red").say(
            writes(code, "def add():\n    return 0\n"),
            writes(test, TEST),
            bash("lifecycle check test"),
        ),
        on("test FAILED").say(bash("lifecycle run tdd-phase S1 green")),
        on("TDD phase: green").say("It is late."),
    )
    with client.session() as terminal:
        terminal.types("Add one.")
        model.hears("TDD phase: green")
        model.hears("go on: development")
        os.killpg(terminal.process.pid, signal.SIGKILL)
    assert client.is_gone(), client.left()
    model.follows(
        on("Go on.").say(writes(code, "def add():\n    return 1\n"), bash(END)),
        on("Updated story S1: completed").say("All is done."),
        on("run the last gate").say(bash("lifecycle run gate G7")),
        on("All verification checks passed").say(bash("lifecycle run finish")),
        on("## WORKFLOW_COMPLETE").say("## WORKFLOW_COMPLETE\n\nAll stories verified."),
    )
    with client.session() as terminal:
        terminal.types("Go on.")
        model.hears("## WORKFLOW_COMPLETE")
        terminal.rests()
        assert terminal.leaves() == 0
    assert client.is_gone(), client.left()
    store = RunStore(place.root, place.environment, Deadline.after(SystemClock(), 30))
    run = store.demanded()
    assert run.status is RunStatus.COMPLETED
    pull = place.pulls()[place.pull()]
    assert run.pull_request.endswith(f"/pull/{place.pull()}")
    for line in ("- [x] All tests pass", "- **Sessions:** 2"):
        assert line in pull["body"]
    assert not (place.root / ".lifecycle/run").exists()
