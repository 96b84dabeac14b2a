"""A claim in company: other agents, people at terminals, hands on the board."""

from __future__ import annotations

import json

import pytest

from lifecycle.api import Wake
from lifecycle.claim.engine import look
from lifecycle.claim.record.claim_store import Listener
from tests.cli.outcome import ok, refused
from tests.conftest import Place
from tests.factories import texts

STOP = {"hook_event_name": "Stop"}


def test_a_claim_that_was_taken_over_writes_nothing_any_more(place: Place) -> None:
    """The card shows another agent: said once, no write, no close, and the work is kept."""
    place.ready()
    place.tree().tick(Wake.STOP)
    number = place.pull()
    place.control.set_field(42, "Agent", "maria-2")
    place.control.set_field(42, "Status", "In Progress")
    assert "taken over by maria-2" in texts(place.tree().tick(Wake.IDLE))
    place.control.merge_pull(number)
    place.write(phase="done")
    place.clear()
    for _ in range(3):
        place.tree().tick(Wake.STOP)
        place.clock.sleep(130)
    assert place.writes() == []
    assert place.issue()["state"] == "open"
    assert place.card() | {"Agent": "maria-2", "Status": "In Progress"} == place.card()
    place.control.set_field(42, "Agent", "octocat-1")
    place.control.set_field(42, "Status", "In Review")
    place.tree().tick(Wake.STOP)
    assert place.issue()["state"] == "open", "that yes was given while it was another's"
    place.write(phase="done")
    place.tree().tick(Wake.STOP)
    assert place.issue()["state"] == "closed"


def test_a_hand_off_without_a_summary_hears_that_the_task_is_anothers(place: Place) -> None:
    """A tick tells the takeover, and asks for no summary of a pull request that is not opened any more."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.write(phase="ready_for_pr", summary="")
    place.control.set_field(42, "Agent", "maria-2")
    told = place.cli("tick")
    assert told.returncode == 4
    assert "taken over by maria-2" in told.stdout
    assert "Fill it in" not in told.stdout


def test_a_person_who_looks_does_not_use_up_the_agents_news(place: Place) -> None:
    """A tick in a terminal shows the failure; the agent is woken with it all the same, once."""
    place.ready()
    place.hook("on-stop", STOP)
    place.control.set_check(place.pull(), "test", conclusion="failure")
    assert "1 FAILED" in place.cli("tick").stdout
    assert "1 FAILED" in place.hook("on-idle", {}).stderr
    assert place.hook("on-idle", {}).stderr == ""


def test_what_the_agent_has_heard_is_shown_to_a_person_and_wakes_it_no_more(place: Place) -> None:
    """A question that is open and a loss that lasts: each look of a person repeats it, to the person."""
    place.ready()
    place.hook("on-stop", STOP)
    place.control.merge_pull(place.pull())
    question = "merged! Should I close issue #42?"
    assert question in place.hook("on-idle", {}).stderr
    for command in (("tick",), ("nudge", "ready_for_pr", "--reason", "more to come")):
        assert question in ok(place.cli(*command))
        assert place.hook("on-idle", {}).stderr == ""
        assert place.hook("user-prompt-submit", {"prompt": "go on"}).stdout == ""
    place.control.set_field(42, "Agent", "maria-2")
    loss = "taken over by maria-2"
    assert loss in place.cli("tick").stdout
    assert loss in place.hook("on-idle", {}).stderr
    assert loss in place.cli("close", "--override", "given up").stdout
    assert place.hook("on-idle", {}).stderr == ""


def test_an_agent_that_looks_has_heard(place: Place) -> None:
    """The same command in the agent's own session takes the sentence off the queue."""
    place.ready()
    place.hook("on-stop", STOP)
    place.control.set_check(place.pull(), "test", conclusion="failure")
    assert "1 FAILED" in place.cli("tick", CLAUDE_CODE_SESSION_ID="s").stdout
    assert place.hook("on-idle", {}).stderr == ""


def test_a_pull_request_that_closes_twice_is_told_twice(place: Place) -> None:
    """Closed, reopened, closed again: each close is news."""
    place.ready()
    place.tree().tick(Wake.STOP)
    number = place.pull()
    heard = []
    for _ in range(2):
        place.control.close_pull(number)
        place.clock.sleep(130)
        heard.append(texts(place.tree().tick(Wake.IDLE)))
        heard.append(texts(place.tree().tick(Wake.IDLE)))
        place.control.reopen_pull(number)
        place.clock.sleep(130)
        place.tree().tick(Wake.IDLE)
    assert ["closed without" in text for text in heard] == [True, False, True, False]


@pytest.mark.soak(
    "cli/test_claim_again.py::test_a_claim_whose_file_was_deleted_goes_on_where_it_was",
    "claim/test_lease.py::test_whose_a_lease_is_is_known_by_its_commit_else_by_its_agent",
)
def test_a_claim_whose_file_was_deleted_can_be_taken_up_again(place: Place) -> None:
    """It is this worktree's own lease: claiming again is not being held by oneself."""
    assert place.cli("claim", "42").returncode == 0
    before = place.claim()
    (place.root / ".agent-claim.json").unlink()
    done = place.cli("claim", "42")
    assert done.returncode == 0, done.stderr
    assert place.claim()["agent_id"] == before["agent_id"]
    assert place.claim()["branch"] == before["branch"]


@pytest.mark.soak(
    "test_company.py::test_a_claim_that_was_taken_over_writes_nothing_any_more",
    "claim/test_closing_steps.py::test_the_card_becomes_done_and_loses_our_agent",
)
def test_a_card_that_was_moved_before_the_closing_follows_it(place: Place) -> None:
    """Closing is something that happens to the task: the card goes to Done from wherever it stood."""
    place.ready()
    place.tree().tick(Wake.STOP)
    place.control.set_field(42, "Status", "Todo")
    place.tree().tick(Wake.IDLE)
    place.control.advance(5)
    place.control.merge_pull(place.pull())
    place.write(phase="done")
    assert "Board → Done." in texts(place.tree().tick(Wake.STOP))
    assert place.card()["Status"] == "Done"


@pytest.mark.soak(
    "test_company.py::test_a_claim_that_was_taken_over_writes_nothing_any_more",
    "claim/test_closing_steps.py::test_the_last_sentence_says_what_became_of_the_card",
)
def test_a_card_that_somebody_moved_after_the_closing_stays_there(place: Place) -> None:
    """Agent is cleared, the issue closed, and the column left as the person chose it since."""
    place.ready()
    place.tree().tick(Wake.STOP)
    place.tree().tick(Wake.IDLE)
    place.control.merge_pull(place.pull())
    place.control.close_issue(42)
    place.control.set_field(42, "Status", "Todo")
    place.write(phase="done")
    said = texts(place.tree().tick(Wake.STOP))
    assert 'The card stays in "Todo"' in said
    assert place.card()["Status"] == "Todo"
    assert not place.card().get("Agent")
    assert place.issue()["state"] == "closed"


def test_an_issue_that_was_closed_elsewhere_is_noticed(place: Place) -> None:
    """A tick looks whatever the phase; the person hears that the issue is closed, once."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.control.close_issue(42)
    place.clear()
    assert "was closed on GitHub in the meantime" in texts(place.tree().tick())
    assert [r.operation for r in place.requests()] == ["ObserveClaim"]
    place.control.reopen_issue(42)
    assert "closed" not in texts(place.tree().tick())


def test_nothing_is_opened_for_an_issue_that_was_closed(place: Place) -> None:
    """The stop after a hand-off says so, and a later hand-off is refused; reopened, it goes on."""
    place.ready()
    place.control.close_issue(42)
    place.clear()
    said = place.hook("on-stop", STOP)
    assert (
        "was closed on GitHub in the meantime; no PR is opened for it" in said.stdout + said.stderr
    )
    assert place.writes() == []
    assert "no PR is opened for it" in ok(place.cli("status"))
    sentence = refused(place.cli("handoff", "--summary", "Fix"))
    assert "nothing was pushed, and the claim and the work are kept" in sentence
    place.control.reopen_issue(42)
    assert "created" in ok(place.cli("tick"))
    place.control.close_issue(42)
    place.control.close_pull(place.pull())
    ok(place.cli("tick"))
    assert "nothing was pushed" in refused(place.cli("handoff", "--summary", "Fix"))


def test_that_an_issue_was_closed_waits_until_it_is_told_whoever_looks_meanwhile(
    place: Place,
) -> None:
    """An idle look queues it; a stop does not read the issue, so it delivers what waits."""
    place.ready()
    place.hook("on-stop", STOP)
    place.control.close_issue(42)
    place.clock.offset += 121
    tree = place.tree()
    look.tick(tree.world, tree.claim_store, Wake.IDLE, to=Listener(audiences=()))
    assert "was closed on GitHub in the meantime" in place.hook("on-stop", STOP).stdout
    assert "was closed" not in place.hook("on-stop", STOP).stdout + place.hook("on-idle", {}).stdout
    assert "was closed on GitHub in the meantime" in place.cli("status").stdout


def test_somebody_elses_task_is_not_entered_by_an_edit(place: Place) -> None:
    """issue_number edited to a task that another agent holds: refused, and their card untouched."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.write(issue_number=39)
    report = place.tree().tick(Wake.STOP)
    assert "stays on #42" in texts(report)
    assert place.claim()["issue_number"] == 42
    assert str(place.card(39)["Agent"]).startswith("sam-")


def test_a_mended_setting_is_not_complained_about_any_longer(place: Place) -> None:
    """The typo is gone before anybody heard of it: nothing is said; of one that stays it is."""
    place.ready(phase="coding", status="In Progress")
    config = place.root / ".lifecycle.toml"
    config.write_text("projct = 1\n")
    tree = place.tree()
    tree.claim_store.folder.make()
    place.hook("on-idle", {})
    config.unlink()
    assert "projct" not in place.hook("on-stop", STOP).stdout
    start = place.hook("session-start", {})
    assert "projct" not in json.loads(start.stdout)["hookSpecificOutput"]["additionalContext"]
    config.write_text("projct = 1\n")
    place.write(summary="Another look")
    assert "projct" in place.hook("on-stop", STOP).stdout


def test_a_phase_that_does_not_exist_can_be_nudged_right(place: Place) -> None:
    """The agent misspelt it; a command mends it."""
    place.ready(phase="codng")
    assert place.cli("nudge", "coding", "--reason", "misspelt").returncode == 0
    assert place.claim()["phase"] == "coding"
