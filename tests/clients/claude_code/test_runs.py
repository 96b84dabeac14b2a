"""An autonomous run in the real client: held at its stops, kept through a compaction, let go at its end."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.run.run_store import RunStore
from lifecycle.run.table import RunPhase, RunStatus
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model, bash, on
from tests.clients.claude_code.wiring import init
from tests.conftest import Place

pytestmark = pytest.mark.timeout(TIMEOUT)

MARKER = "## WORKFLOW_COMPLETE\n\nAll stories verified."


def change(place: Place, **more: Any) -> None:
    """The run is another, as commands would make it, while the session rests."""
    store = RunStore(place.root, place.environment, Deadline.after(SystemClock(), 30))
    with store.changing() as changing:
        changing.run = replace(changing.run, **more)


def test_a_run_from_its_beginning_to_its_end(client: Client, place: Place, model: Model) -> None:
    """Each stop goes on with other words; a claim is answered, a blocker and the end let the session go."""
    init(client, "--run")
    model.follows(
        on("Take payments.").say(bash("lifecycle run init 'Take payments' --autonomous")),
        on("Initialized workflow").say("I am done for today."),
        on("go on: setup").say("I am done for today."),
        on("Stuck: 2 turns").say(MARKER),
        on("You said WORKFLOW_COMPLETE").say(bash("lifecycle run add-blocker 'No key'")),
        on("B1").say(bash("lifecycle run await-user-fix B1 'Add the Stripe key'")),
        on("awaiting_user").say("I wait for the key."),
    )
    with client.session() as terminal:
        terminal.types("Take payments.")
        terminal.sees("Add the Stripe key", "lifecycle run user-fix-complete")
        terminal.rests()
        terminal.types("/compact")
        terminal.rests()
        asked = [text for request in model.requests for text in request.messages]
        assert any('- Goal: "Take payments"' in text for text in asked)
        client.lifecycle("run", "user-fix-complete")
        model.follows(
            on("It is there.").say("On I go."),
            on("go on: setup").say(bash("lifecycle run add-blocker 'No other key'")),
            on("B2").say(bash("lifecycle run await-user-fix B2 'Add the other key'")),
            on("awaiting_user").say("I wait again."),
        )
        terminal.types("It is there.")
        terminal.sees("Add the other key", since=terminal.sent)
        terminal.rests()
        change(place, status=RunStatus.COMPLETED, phase=RunPhase.COMPLETION)
        model.follows(on("And now?").say("All is done."), on("closing block").say(MARKER))
        terminal.types("And now?")
        model.hears("closing block")
        terminal.rests()
        assert terminal.leaves() == 0
    assert client.is_gone(), client.left()
    assert (model.rules, model.strange) == ([], [])
    assert model.heard("Autonomous run ") == 1  # after the compaction, beside the next prompt
    assert not (place.root / ".lifecycle/run").exists()
