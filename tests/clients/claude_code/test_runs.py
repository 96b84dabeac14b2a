"""A run in the real client where the client itself ends a turn that the hook would go on with."""

from __future__ import annotations

import json

import pytest

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run
from lifecycle.run.table import RunStatus
from lifecycle.setup.init.hook_table import CAP
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model, bash, on
from tests.clients.claude_code.wiring import init
from tests.conftest import Place

pytestmark = pytest.mark.timeout(TIMEOUT)

MOST = 2
"""How often the client lets a hook continue a turn, in this test."""


def run_of(place: Place) -> Run:
    """The run as its file holds it."""
    deadline = Deadline.after(SystemClock(), 30)
    return RunStore(place.root, place.environment, deadline).demanded()


@pytest.mark.soak(
    "clients/claude_code/test_story.py::test_from_claim_to_close",
    "e2e/test_run_hooks.py::test_a_session_that_leads_a_run_goes_on_until_it_is_complete",
)
def test_where_the_clients_own_cap_cuts_in_the_next_session_finds_the_run_again(
    client: Client, place: Place, model: Model
) -> None:
    """The turn ends though the run is not complete; nothing of it is lost, and it goes on where it was."""
    init(client, "--run")
    settings = place.root / ".claude/settings.local.json"
    loaded = json.loads(settings.read_text())
    assert int(loaded["env"][CAP]) > MOST
    del loaded["env"][CAP]
    settings.write_text(json.dumps(loaded))
    client.more[CAP] = str(MOST)
    model.follows(
        on("Take payments.").say(bash("lifecycle run init 'Take payments' --autonomous")),
        on("Initialized workflow").say("I am done for today."),
    )
    with client.session() as terminal:
        terminal.types("Take payments.")
        model.hears("go on: setup", MOST)
        terminal.rests()
        cut = run_of(place)
        assert terminal.leaves() == 0
    assert model.heard("go on: setup") == MOST
    assert (cut.status, cut.phase.value) == (RunStatus.ACTIVE, "setup")
    with client.session() as terminal:
        model.follows(on("Go on.").say(bash("lifecycle run update-phase analysis")))
        terminal.types("Go on.")
        model.hears("go on: analysis")
        terminal.rests()
        assert terminal.leaves() == 0
    assert client.is_gone(), client.left()
    assert (model.rules, model.strange) == ([], [])
    [told] = [turn.new for turn in model.turns if "Autonomous run " in turn.new]
    for words in (run_of(place).id, "Take payments", "Go on."):
        assert words in told
    assert len(run_of(place).led) == 2
