"""`claude -p` with an open pull request, in front of which nobody sits: it prints, and returns."""

from __future__ import annotations

import json

import pytest

from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import OTHERWISE, Model
from tests.conftest import Place

SOAKED = pytest.mark.soak(
    "clients/claude_code/test_story.py::test_from_claim_to_close",
    "e2e/test_clients.py::test_where_nobody_attends_no_waiter_is_started",
)

pytestmark = pytest.mark.timeout(TIMEOUT)

CLAIM = "Claim: issue #42 on branch claude/fix-42"


@SOAKED
def test_it_returns_in_each_output_format(client: Client, open_pull: Place, model: Model) -> None:
    """Each run hears the claim once, answers in one turn, and leaves nothing that waits for news."""
    for runs, options in enumerate((["text"], ["json"], ["stream-json", "--verbose"]), start=1):
        done = client.run("-p", "Where are we?", "--output-format", *options)
        assert done.returncode == 0, done.stderr
        last = done.stdout.strip().splitlines()[-1]
        answer = last if options == ["text"] else json.loads(last)["result"]
        assert answer == OTHERWISE
        assert client.is_gone(), client.left()
        assert (model.heard(CLAIM), len(model.turns)) == (runs, runs)
    assert model.strange == []
    assert open_pull.claim()["pr_number"] == 46


@SOAKED
def test_a_program_that_keeps_stdin_open_is_answered(
    client: Client, open_pull: Place, model: Model
) -> None:
    """Two prompts of one session, each answered at once; when stdin is closed the client ends."""
    with client.piped() as piped:
        for count in (1, 2):
            piped.says(f"Where are we, {count}?")
            assert piped.results(count)
        assert piped.leaves() == 0
    assert client.is_gone(), client.left()
    assert [model.heard(words) for words in (CLAIM, "Where are we")] == [1, 2]
    assert (len(model.turns), model.strange) == (2, [])
    assert open_pull.claim()["pr_number"] == 46
