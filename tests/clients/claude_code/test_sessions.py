"""What goes from one session to the next: compaction, /clear, resumption, and the death of a client."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.clients.claude_code.client import TIMEOUT, Client, until
from tests.clients.claude_code.model import OTHERWISE, Model
from tests.conftest import Place

SOAKED = pytest.mark.soak(
    "clients/claude_code/test_story.py::test_from_claim_to_close",
    "e2e/test_sessions.py::test_a_session_whose_client_is_gone_holds_nothing",
)

pytestmark = pytest.mark.timeout(TIMEOUT)

CLAIM = "Claim: issue #42 on branch claude/fix-42"
WATCHED = "CI, reviews and the merge are watched"
QUESTION = "PR #46 merged! Should I close issue #42?"


@SOAKED
def test_one_task_through_compaction_clear_and_resumption(
    client: Client, open_pull: Place, model: Model
) -> None:
    """Each beginning brings the claim once, beside the next prompt; the merge wakes one session, once."""
    with client.session() as terminal:
        for index, command in enumerate(("", "/compact", "/clear"), start=1):
            if command:
                terminal.types(command)
            terminal.types(f"Where are we, {index}?")
            model.hears(f"Where are we, {index}?")
            assert model.heard(CLAIM) == index
            terminal.rests()
        assert terminal.leaves() == 0
        (cleared,) = re.findall(r"claude --resume ([0-9a-f-]{36})", terminal.text())
    assert client.is_gone(), client.left()
    open_pull.control.merge_pull(46)
    with client.session("--continue") as terminal:
        terminal.types("Where are we, 4?")
        model.hears(QUESTION)
        assert model.heard(CLAIM) == 4
        assert terminal.leaves() == 0
    assert client.is_gone(), client.left()
    done = client.run("-p", "--resume", cleared, "Where are we, 5?")
    assert (done.returncode, done.stdout.strip()) == (0, OTHERWISE)
    # At a start it is rendered: in the words of the start before, which the client does not repeat.
    assert (model.heard(CLAIM), model.heard(QUESTION)) == (4, 1)
    assert QUESTION in "\n".join(model.turns[-1].messages)
    assert client.is_gone(), client.left()
    assert (model.heard("Where are we"), model.strange) == (5, [])
    assert open_pull.issue()["state"] == "open"


@SOAKED
def test_a_second_client_goes_on_when_the_first_is_killed(
    client: Client, open_pull: Place, model: Model
) -> None:
    """While the first lives the news is its own; a killed one leaves nothing, and the second goes on."""
    with Model() as second_model, client.session() as first:
        first.types("Where are we?")
        model.hears(CLAIM)
        first.rests()
        second_client = replace(client, model=second_model)
        with second_client.session() as second:
            second.types("And I?")
            second_model.hears("And I?")
            assert second_model.heard(WATCHED) == 0  # what is next is the first one's
            open_pull.control.set_check(46, "test", conclusion="failure")
            model.hears("1 FAILED — test on PR #46")
            first.process.kill()
            first.process.wait()
            second.types("The other one is dead; go on.")
            second_model.hears("go on")
            open_pull.control.merge_pull(46)
            second_model.hears(QUESTION)
            assert second.leaves() == 0
    assert client.is_gone(), client.left()
    assert (model.heard("1 FAILED"), second_model.heard("1 FAILED")) == (1, 0)
    assert (model.heard(QUESTION), second_model.heard(QUESTION)) == (0, 1)
    assert second_model.heard("The claim on #42 is yours now") == 1


@SOAKED
def test_a_session_that_nobody_spoke_to_is_woken(
    client: Client, open_pull: Place, model: Model
) -> None:
    """A start and a /clear bring a waiter, though no stop comes: what happens then begins a turn."""
    with client.session() as terminal:
        open_pull.control.set_check(46, "test", conclusion="failure")
        model.hears("1 FAILED — test on PR #46")
        terminal.rests()
        owner = open_pull.root / ".lifecycle/owner"
        before = owner.read_text()
        terminal.types("/clear")
        assert until(
            lambda: owner.read_text() != before
        )  # the first session's waiter may look until then
        open_pull.control.merge_pull(46)
        model.hears(QUESTION)
        terminal.rests()
        assert terminal.leaves() == 0
    assert client.is_gone(), client.left()
    assert (model.heard("1 FAILED"), model.heard(QUESTION)) == (1, 1)
