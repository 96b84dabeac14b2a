"""The staged workflow in the real client: six stages of a claimed issue, and /clear to the next one."""

from __future__ import annotations

import pytest

from lifecycle.core.stage_names import MARKERS, Detected
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model, Rule, bash, on, writes
from tests.clients.claude_code.wiring import init
from tests.conftest import Place
from tests.e2e.staged import LABEL, marker

pytestmark = pytest.mark.timeout(TIMEOUT)

COMMIT = "git add code.py && git commit --quiet -m Work && git log -1 --format=%s"


def at(stage: str) -> str:
    """The line of an instruction that names its stage."""
    return f"CURRENT STAGE: {stage}"


def script(place: Place) -> list[Rule]:
    """An agent that takes issue 42 through all stages, and begins with the next one."""
    return [
        on("Do issue 42").say(bash("lifecycle claim 42")),
        on("Claimed #42").say(writes(place.root / "code.py", "one = 1\n"), bash(COMMIT)),
        on("Work").say(marker(Detected.CODING_COMPLETE)),
        on(at("REQUIREMENTS_REVIEW")).say(marker(Detected.REQUIREMENTS_REVIEWED)),
        on(at("TESTING")).say(marker(Detected.TESTS_PASSING)),
        on(at("ORACLE_REVIEW")).say(marker(Detected.ORACLE_APPROVED)),
        on(at("COMMIT_CLOSE")).say(bash("lifecycle handoff --summary 'Fix the race'")),
        on("Pushed").say("It is handed off; I wait for the merge."),
        on("merged! Should I close").say("Shall I close it?"),
        on("Yes, close it").say(bash("lifecycle close")),
        on("Issue #42 closed").say(marker(Detected.ISSUE_CLOSED)),
        on(at("NEXT_TASK")).say("The session may be cleared."),
        on(at("CODING")).say(bash("lifecycle tracker claim 45")),
    ]


@pytest.mark.soak(
    "clients/claude_code/test_story.py::test_from_claim_to_close",
    "e2e/test_stages_story.py::test_two_tasks_from_coding_to_the_end",
)
def test_six_stages_and_the_next_task(client: Client, place: Place, model: Model) -> None:
    """Each stage is asked for once, with one turn of the person's: the yes; /clear begins the next task."""
    init(client, "--stages")
    with (place.root / ".lifecycle.toml").open("a") as file:
        file.write("\n[checks]\npoll_seconds = 0.2\n")
    with place.tree() as tree:
        for number in ("42", "45"):
            tree.world.tracker.edit_labels(number, add=(LABEL,))
    model.follows(*script(place))
    with client.session() as terminal:
        terminal.types("Do issue 42.")
        model.hears("PR #46 created")
        place.control.merge_pull(46)
        terminal.sees("Shall I close it?")
        terminal.rests()
        terminal.types("Yes, close it.")
        terminal.allows("lifecycle close")
        model.hears(at("NEXT_TASK"))
        terminal.rests()
        terminal.types("/clear")
        model.hears(at("CODING"))
        terminal.sees("Understood")
        terminal.rests()
        assert terminal.leaves() == 0
    assert client.is_gone(), client.left()
    assert (model.rules, model.strange) == ([], [])
    for stage in MARKERS:
        assert model.heard(at(stage)) == 1, stage
    assert [place.issue(number)["state"] for number in (42, 45)] == ["closed", "open"]
    assert place.claim()["issue_number"] == 45
