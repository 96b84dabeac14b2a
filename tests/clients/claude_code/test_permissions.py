"""What the agent runs unasked after `lifecycle init`, and what the person is asked about."""

from __future__ import annotations

import json

import pytest

from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model, bash, on
from tests.clients.claude_code.wiring import init
from tests.conftest import Place

SOAKED = pytest.mark.soak(
    "clients/claude_code/test_story.py::test_from_claim_to_close",
    "setup/init/test_settings.py::test_everything_of_ours_is_there_once",
)

pytestmark = pytest.mark.timeout(TIMEOUT)

UNASKED = (
    "lifecycle claim 42",
    "lifecycle status --json | head -c 200",
    "lifecycle tick 2>&1 | tail -n 5",
    "git commit --allow-empty --quiet -m Work",
    "lifecycle handoff --summary-file - <<'EOF'\nCall `lock` before $(read), it's \"safe\"\nEOF",
    "lifecycle tracker list | head -n 3",
    "lifecycle tracker comment 42 - <<'EOF'\nHalf of it is done, by `lock`.\nEOF",
    "lifecycle stage status",
    "lifecycle release --reason 'it can wait'",
)
ASKED = (
    "lifecycle claim 43 && lifecycle close",
    "lifecycle takeover 42",
    "lifecycle tracker takeover 42",
    "lifecycle close",
    "lifecycle nudge done --reason 'the user wants it'",
    "lifecycle trust",
    "lifecycle init --remove",
    "lifecycle tracker edit 42 --title 'Another title'",
    "lifecycle tracker close 42 --reason done",
    'lifecycle claim "$(cat title)"',
)


@SOAKED
def test_the_normal_course_is_unasked_and_a_yes_is_the_persons(
    client: Client, place: Place, model: Model
) -> None:
    """The course's commands ran; what forces, closes, trusts or overwrites was asked for and did not."""
    init(client, "--stages")
    model.follows(on("Go through all").say(*(bash(command) for command in (*UNASKED, *ASKED))))
    done = client.run("-p", "Go through all of them.", "--output-format", "json")
    assert done.returncode == 0, done.stderr
    denied = json.loads(done.stdout)["permission_denials"]
    assert [one["tool_input"]["command"] for one in denied] == list(ASKED)
    said = model.turns[-1].new
    assert "Exit code" not in said  # what ran went well
    assert said.count("Claimed #42") == said.count("Pushed claude/") == 1
    assert "Issue #42 released." in said
    assert place.issue()["title"] == "Fix race condition in task queue"
    assert place.issue()["state"] == "open"
    assert place.issue()["comments"][0]["body"].startswith("Half of it is done, by `lock`.")
    assert (len(model.turns), model.strange) == (2, [])
    assert client.is_gone(), client.left()


RUN_UNASKED = (
    "lifecycle run recover",
    "lifecycle run add-clarification 'Which greeting?' 'Any' --phase pre-analysis",
    "lifecycle run init 'Goal: Greet' --autonomous",
    'lifecycle run add-story "Greet in the caller\'s language" --size S',
    "lifecycle run story-plan S1 --criterion 'It greets' --design 'One function' --file greet.py",
    "lifecycle run gate G1 2>&1 | tail -n 5",
    "lifecycle run tdd-validate S1 red; lifecycle run tdd-status S1",
    "lifecycle run add-failure S1 'Connection refused: database not available'",
    "lifecycle run retry-recommendation S1",
    "lifecycle run scan-dependencies S1 | head -n 3",
    "lifecycle run review-context S1",
    "lifecycle platform list | head -n 3",
    "lifecycle check --list",
    "lifecycle run add-blocker 'A key is missing' --severity high",
    "lifecycle run await-user-fix 0 'Add the key' --check-command 'test -f key'",
)
RUN_ASKED = (
    "lifecycle run user-fix-complete --notes 'I did it myself'",
    "lifecycle run recover && lifecycle run resume",
    "lifecycle run stop",
    "lifecycle run check-user-fix",
    "lifecycle run rollback-to-checkpoint",
    "lifecycle trust",
    "python3 .claude/core/state.py recover",
    'lifecycle run add-story "$(cat title)"',
)


@SOAKED
def test_a_run_is_unasked_and_what_a_person_has_to_do_is_theirs(
    client: Client, place: Place, model: Model
) -> None:
    """A run goes as far as it can by itself; nobody attends, so what is asked for is not done."""
    init(client, "--run")
    model.follows(
        on("Go through all").say(*(bash(command) for command in (*RUN_UNASKED, *RUN_ASKED)))
    )
    done = client.run("-p", "Go through all of them.", "--output-format", "json")
    assert done.returncode == 0, done.stderr
    denied = json.loads(done.stdout)["permission_denials"]
    assert [one["tool_input"]["command"] for one in denied] == list(RUN_ASKED)
    said = model.turns[1].new
    assert "Exit code" not in said  # what ran went well
    assert "Added failure: F1 [infra]" in said
    state = json.loads((place.root / ".claude/workflow-state.json").read_text())
    assert state["status"] == "awaiting_user"
    assert (len(model.turns), model.strange) == (2, [])  # it waits for a person: the turn may end
    assert client.is_gone(), client.left()
