"""A workflow in the real client: worked on to its third phase, compacted, killed, known to the next."""

from __future__ import annotations

import os
import signal

import pytest

from lifecycle.app.guidance.guidance_text import READ, whole_guidance
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.store.workflow_store import WorkflowStore
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model, bash, on
from tests.clients.claude_code.wiring import init
from tests.conftest import Place

pytestmark = pytest.mark.timeout(TIMEOUT)

BEGIN = (
    "lifecycle workflow start 'User auth' --type custom --phase Design --phase 'Build components' "
    "--phase Testing --phase Deploy --reading @docs/guide.md --reading @docs/auth.md "
    "--context plan_number=1 --reminder 'Follow existing auth patterns'"
)
ADVANCE = "lifecycle workflow advance --context-for-next"
SECRET = "The word of the guide is heliotrope."
KEEP = "Keep in the summary, word for word:"


def the_workflow(place: Place) -> Workflow:
    """The workflow as it lies there."""
    deadline = Deadline.after(SystemClock(), 30)
    (found,) = WorkflowStore(place.root, place.environment, deadline).read().unfinished
    return found.workflow


@pytest.mark.soak(
    "clients/claude_code/test_story.py::test_from_claim_to_close",
    "e2e/test_workflow_hooks.py::test_a_compacted_session_is_told_all_of_its_workflow",
)
def test_a_workflow_survives_compaction_and_a_kill(
    client: Client, place: Place, model: Model
) -> None:
    """Phase 3, /compact, SIGKILL: a new session states workflow, phase, reading and next step by the word.

    It goes on only because all of the guidance stands in its own request. The client does not read the @
    paths of a hook's text: what stands in those files reaches the model only once the agent reads them.
    """
    (place.root / "docs").mkdir(exist_ok=True)
    (place.root / "docs/guide.md").write_text(f"# Guide\n\n{SECRET}\n")
    (place.root / "docs/auth.md").write_text("# Auth\n")
    init(client, "--workflow")
    model.follows(
        on("Begin it.").say(bash(BEGIN)),
        on("User auth").say(bash(f"{ADVANCE} 'the API is in api.md'")),
        on("Build components").say(bash(f"{ADVANCE} 'its tests are missing'")),
        on("Testing").say("Phase 3 is under way."),
        on(KEEP).say("<summary>Some work was done.</summary>"),
    )
    with client.session() as terminal:
        terminal.types("Begin it.")
        terminal.rests()
        assert the_workflow(place).current == 2
        terminal.types("/compact")
        model.hears(KEEP)
        terminal.rests()
        (asked,) = [request for request in model.turns if KEEP in request.new]
        assert 'Workflow "User auth", phase 3/4: "Testing"' in asked.new
        os.killpg(terminal.process.pid, signal.SIGKILL)
    assert client.is_gone(), client.left()
    guidance = whole_guidance(the_workflow(place))
    for line in (
        'Workflow "User auth", phase 3/4: "Testing", in progress.',
        READ,
        "@docs/guide.md",
        "@docs/auth.md",
        'Handed on to this phase: "its tests are missing"',
    ):
        assert line in guidance
    assert "✅ Workflow restored: User auth, Phase 3/4" in guidance[-1]
    model.follows(on("What is next?", *guidance).say("I know where it stands."))
    with client.session() as terminal:
        terminal.types("What is next?")
        terminal.sees("I know where it stands.", since=terminal.sent)
        told = [request for request in model.turns if "What is next?" in request.new][-1]
        whole = "\n".join(told.messages)
        assert "\n".join(guidance) in whole
        assert SECRET not in whole
