"""A review by a subagent in the background, in the real client: its verdict comes with a notification."""

from __future__ import annotations

import pytest

from lifecycle.core.stage_names import Detected
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Call, Model, bash, on, writes
from tests.clients.claude_code.test_stages import COMMIT, at
from tests.clients.claude_code.wiring import init
from tests.conftest import Place
from tests.e2e.staged import LABEL, marker

pytestmark = pytest.mark.timeout(TIMEOUT)

REVIEW = Call(
    "Agent",
    {
        "description": "Review the branch",
        "prompt": "Review this branch's diff, and end with your verdict.",
        "subagent_type": "general-purpose",
        "run_in_background": True,
    },
)


@pytest.mark.soak(
    "stages/test_transcript.py::test_a_review_in_the_background_ends_with_its_notification",
    "stages/test_transcript.py::test_the_same_words_at_the_end_of_an_earlier_turn_are_not_this_stops",
    "e2e/test_stages_story.py::test_two_tasks_from_coding_to_the_end",
)
def test_the_verdict_of_a_review_in_the_background_ends_the_stage(
    client: Client, place: Place, model: Model
) -> None:
    """The session waits without being asked, and the verdict in the client's notification leads on.

    The model says the same words at both stops: what the client wrote of the first one is not taken for
    the second.
    """
    init(client, "--stages")
    with place.tree() as tree:
        tree.world.tracker.edit_labels("42", add=(LABEL,))
    model.follows(
        on("Do issue 42").say(bash("lifecycle claim 42")),
        on("Claimed #42").say(writes(place.root / "code.py", "one = 1\n"), bash(COMMIT)),
        on("Work").say(marker(Detected.CODING_COMPLETE)),
        on(at("REQUIREMENTS_REVIEW")).say(marker(Detected.REQUIREMENTS_REVIEWED)),
        on(at("TESTING")).say(marker(Detected.TESTS_PASSING)),
        on(at("ORACLE_REVIEW")).say(REVIEW),
        on("Review this branch's diff").say("No findings.\n\nVERDICT: APPROVED"),
    )
    with client.session() as terminal:
        terminal.types("Do issue 42.")
        model.hears(at("COMMIT_CLOSE"))
        terminal.rests()
        assert terminal.leaves() == 0
    assert model.rules == []
    assert model.heard(at("ORACLE_REVIEW")) == 1
