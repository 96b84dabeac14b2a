"""What the agent runs unasked after `lifecycle init`, and what the person is asked about."""

from __future__ import annotations

import json

import pytest

from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model, bash, on
from tests.clients.claude_code.wiring import init
from tests.conftest import Place

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
