"""Claim to close in the real client, with the hooks installed in each way."""

from __future__ import annotations

import pytest

from lifecycle.sandbox.checks.state import PlannedCheck
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model, bash, on, writes
from tests.clients.claude_code.wiring import WAYS
from tests.conftest import Place
from tests.repeated import soaked

pytestmark = pytest.mark.timeout(TIMEOUT)

COMMIT = "git add work.py && git commit --quiet -m Work && git log -1 --format=%s"


@pytest.mark.parametrize("way", ["plugin", soaked("init"), soaked("both")])
def test_from_claim_to_close(way: str, client: Client, place: Place, model: Model) -> None:
    """Each piece of news reaches the model once, in a turn of its own; the person is asked once."""
    arguments = WAYS[way](client)
    (place.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.2\n")
    work = place.root / "work.py"
    place.control.plan_checks(PlannedCheck(name="test", conclusion="failure", after_reads=3))
    model.follows(
        on("Take task 42").say("I take it.", bash("lifecycle claim 42")),
        on("Claimed #42").say(writes(work, "one = 1\n"), bash(COMMIT)),
        on("Work").say(bash("lifecycle handoff --summary 'Fix the race'")),
        on("Pushed").say("It is handed off."),
        on("1 FAILED").say(writes(work, "two = 2\n"), bash(f"{COMMIT} && git push --quiet")),
        on("merged! Should I close").say("Shall I close it?"),
        on("Yes, close it").say(bash("lifecycle close")),
    )
    with client.session(*arguments) as terminal:
        terminal.types("Take task 42.")
        model.hears("PR #46 created")
        place.control.plan_checks(PlannedCheck(name="test", after_reads=1))
        model.hears("1 FAILED — test on PR #46")
        model.hears("CI passed!")
        place.control.merge_pull(46)
        model.hears("PR #46 merged! Should I close issue #42?")
        terminal.sees("Shall I close it?")
        terminal.rests()
        terminal.types("Yes, close it.")
        terminal.allows("lifecycle close")
        model.hears("Issue #42 closed.")
        assert terminal.leaves() == 0
    assert client.is_gone(), client.left()
    assert (model.rules, model.strange) == ([], [])
    assert len(model.turns) == 11  # nothing else made a turn
    for news in (
        "PR #46 created",
        "1 FAILED — test on PR #46",
        "CI passed!",
        "PR #46 merged! Should I close issue #42?",
        "Issue #42 closed.",
    ):
        assert model.heard(news) == 1, news
    assert not place.has_claim()
    assert place.issue()["state"] == "closed"
    assert place.card()["Status"] == "Done"
    (comment,) = place.issue()["comments"]
    assert comment["body"].startswith("Completed in #46")
