"""In the real client its agent is no person, whatever it hides; a prompt after the question is one."""

from __future__ import annotations

import json

import pytest

from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model, bash, on
from tests.clients.claude_code.wiring import init
from tests.conftest import Place

pytestmark = pytest.mark.timeout(TIMEOUT)

FIXED = "lifecycle run user-fix-complete"
BARE = 'env -i PATH="$PATH" HOME="$HOME"'
HIDDEN = (
    FIXED,
    f"env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID -u CLAUDE_PID {FIXED}",
    f"{BARE} {FIXED}",
    f"exec {BARE} {FIXED}",
    f"{BARE} setsid -f {FIXED} >said 2>&1; sleep 3; cat said",
    f"{BARE} {FIXED} </dev/tty",
)
"""How an agent may try to be a person."""


def status(place: Place) -> str:
    """Where the run stands."""
    found: str = json.loads((place.root / ".claude/workflow-state.json").read_text())["status"]
    return found


@pytest.mark.soak(
    "clients/claude_code/test_story.py::test_from_claim_to_close",
    "cli/run/test_run_trouble.py::test_an_agent_that_hides_its_client_is_no_person",
)
def test_the_agent_is_no_person_and_a_prompt_after_the_question_is(
    client: Client, place: Place, model: Model
) -> None:
    """Each attempt is refused or fails; the person's next prompt lets the agent say it."""
    init(client, "--run")
    model.follows(
        on("Greet in two languages").say(
            bash("lifecycle run init 'Goal: Greet' --autonomous"),
            bash("lifecycle run add-blocker 'A key is missing' --severity high"),
            bash("lifecycle run await-user-fix 0 'Add the key'"),
        ),
        on("awaiting_user").say(*(bash(command) for command in HIDDEN)),
        on("I have added the key").say(bash(FIXED)),
    )
    with client.piped("--allowedTools", "Bash") as session:
        session.says("Greet in two languages.")
        assert session.results(1)
        refusals = model.turns[-1].new
        assert refusals.count("Only a person may say this") == len(HIDDEN) - 1, refusals
        assert "Resolved" not in refusals
        assert status(place) == "awaiting_user"
        session.says("I have added the key.")
        model.hears("Resolved: B1 (by a prompt after the question)")
        session.end()
    assert status(place) == "active"
    assert model.strange == []
    assert client.is_gone(), client.left()
