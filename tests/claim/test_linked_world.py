"""A task in both trackers: claimed inside, then outside; closed and given back together, whatever fails."""

from __future__ import annotations

import json

import pytest

from lifecycle.api import HeldByAnother, Refused, Wake
from lifecycle.core.errors import NotFound, NotInstalled, ProtocolError
from lifecycle.core.plan import SetLinked
from lifecycle.core.tracker import Link, Task, TaskStatus
from lifecycle.git import lease
from lifecycle.storage import journal
from tests.claim.linked_ground import (
    busy,
    failing,
    inside,
    leases,
    linked_as,
    merged,
    tracker_of,
    writes,
)
from tests.conftest import Place
from tests.factories import texts
from tests.repeated import DEATHS, soaked

SOAKED = pytest.mark.soak(
    "claim/test_linked_world.py::test_closing_closes_both",
    "claim/test_linked_world.py::test_a_busy_tracker_does_not_hide_a_link_from_the_closing",
    "claim/test_linked.py::test_what_is_left_is_said_once_and_not_touched",
    "claim/test_linked.py::test_a_claim_in_step_writes_nothing_inside",
    "claim/test_linked.py::test_an_end_that_could_not_ask_for_its_linked_task_asks_again_and_then_ends_without",
)


@pytest.mark.parametrize("query", ["mem-1", *map(soaked, ("42", "race condition"))])
def test_claiming_takes_both(both: Place, query: str) -> None:
    """By number, by the inner id or by title: the issue's claim and the task have the same agent."""
    taken = both.tree().claim(query)
    agent = taken.record.claim.agent_id
    assert taken.record.claim.issue_number == 42
    assert taken.record.linked.link == Link("memory", "mem-1", "claimed")
    assert inside(both).assignee == agent
    assert inside(both).status is TaskStatus.IN_PROGRESS
    assert leases(both) == ["refs/agent-claims/42"]
    before = writes(both)
    assert not both.tree().claim("mem-1").is_new
    both.tree().tick()
    assert writes(both) == before


def test_an_id_that_is_linked_to_nothing_claims_nothing(both: Place) -> None:
    """Such a task is taken by itself, and the sentence says how."""
    tracker_of(both).create("other", title="Alone")
    with pytest.raises(
        Refused, match=r"mem-2 is linked to no issue.*lifecycle tracker claim mem-2"
    ):
        both.tree().claim("mem-2")
    assert not both.has_claim()
    assert not tracker_of(both).get("mem-2").assignee


def test_an_id_whose_tracker_cannot_be_asked_says_so(both: Place) -> None:
    """It is no part of a title either: the tracker's own sentence has what to correct."""
    with (
        failing("get", lambda: NotInstalled("It is not on PATH; install it.")),
        pytest.raises(NotFound, match=r'"mem-1" in its title\. memory was skipped: .*; install it'),
    ):
        both.tree().claim("mem-1")
    assert not both.has_claim()


def test_a_task_that_somebody_has_inside_is_held(both: Place) -> None:
    """Held by another inside is held: exit 4's error, and GitHub is not touched."""
    tracker_of(both, "maria").claim("mem-1")
    with pytest.raises(HeldByAnother, match="linked to mem-1, which is held by maria"):
        both.tree().claim(42)
    assert leases(both) == []
    assert both.card()["Status"] == "Todo"
    assert inside(both).assignee == "maria"


def test_a_blocked_task_is_not_begun(both: Place) -> None:
    """What waits for another task inside is not taken outside either, unless by force."""
    tracker_of(both).create("first", title="First")
    tracker_of(both).add_dependency("mem-1", "mem-2")
    with pytest.raises(Refused, match="mem-1, which may not be begun"):
        both.tree().claim(42)
    assert leases(both) == []
    both.tree().claim(42, force=True)
    assert not inside(both).assignee


def test_force_takes_over_both_and_ends_both(both: Place) -> None:
    """The agent that had both is gone: by force both are this claim's, and both close with it."""
    tracker_of(both, "dead-1").claim("mem-1")
    lease.take(both.tree().world.git, "origin", 42, "dead-1")
    taken = both.tree().claim(42, force=True)
    assert any("mem-1 was held by dead-1, and was taken over" in note for note in taken.notes)
    assert inside(both).assignee == taken.record.claim.agent_id
    merged(both)
    both.tree().tick(Wake.STOP)
    assert both.issue()["state"] == "closed"
    assert not inside(both).is_open


@SOAKED
def test_what_was_blocked_when_it_was_forced_is_closed_if_it_can_be(both: Place) -> None:
    """Left as it was at the taking, the task is looked at once more at the end: it is free by then."""
    tracker_of(both).create("first", title="First")
    tracker_of(both).add_dependency("mem-1", "mem-2")
    both.tree().claim(42, force=True)
    tracker_of(both).close("mem-2")
    merged(both)
    both.tree().tick(Wake.STOP)
    assert both.issue()["state"] == "closed"
    assert not inside(both).is_open


def test_of_several_linked_tasks_one_is_the_claims_and_the_others_are_named(both: Place) -> None:
    """Only one of them can end with the issue: the remark says which, and which are left."""
    tracker_of(both).create("second", title="Also", external="gh-42")
    taken = both.tree().claim(42)
    (note,) = [note for note in taken.notes if "as well" in note]
    assert "linked to mem-2 as well" in note
    assert "only mem-1 is claimed and closed" in note
    assert not tracker_of(both).get("mem-2").assignee


def test_held_by_another_on_github_gives_the_inner_one_back(both: Place) -> None:
    """The lease is somebody else's: what was claimed inside is free again."""
    lease.take(both.tree().world.git, "origin", 42, "maria-1")
    with pytest.raises(HeldByAnother, match="held by maria-1"):
        both.tree().claim(42)
    assert inside(both).status is TaskStatus.OPEN
    assert not inside(both).assignee
    assert not both.has_claim()


def test_what_cannot_be_given_back_at_once_is_given_back_later(both: Place) -> None:
    """The tracker is busy while GitHub refuses: a later stop gives the task back, without a claim."""
    lease.take(both.tree().world.git, "origin", 42, "maria-1")
    with (
        failing("release", busy),
        pytest.raises(HeldByAnother, match="released by a later look"),
    ):
        both.tree().claim(42)
    assert inside(both).assignee
    both.clock.sleep(61)
    with failing("release", busy) as asked:
        both.tree().tick(Wake.STOP)
    assert asked == ["release"]
    assert both.tree().claim_store.folder.has("due"), "it is due again"
    both.clock.sleep(62)
    both.tree().tick(Wake.STOP)
    assert not inside(both).assignee
    assert not both.tree().claim_store.folder.has("due")


def test_two_agents_of_one_second_have_two_names(
    both: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tracker knows an agent by its name alone: one that two share would be given both their tasks."""
    second = int(both.clock.now())
    monkeypatch.setattr(both.clock, "now", lambda: float(second))
    names = set()
    for _ in range(2):
        names.add(both.tree().claim(42).record.claim.agent_id)
        both.tree().release()
    assert len(names) == 2
    assert all(name.startswith(f"octocat-{second}") for name in names)


def test_a_taking_that_fails_gives_back_only_what_it_claimed(
    both: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the agent had inside before is no work of this taking: it is left when GitHub refuses."""
    both.ready(phase="coding", status="In Progress")
    tracker_of(both, "octocat-1").claim("mem-1")
    monkeypatch.setattr("lifecycle.claim.commands.taking.admission.is_lost", lambda *_: True)
    lease.take(both.tree().world.git, "origin", 42, "maria-1")
    with pytest.raises(HeldByAnother):
        both.tree().claim(42)
    assert inside(both).assignee == "octocat-1"


@DEATHS
def test_a_busy_tracker_is_claimed_by_the_next_look(both: Place, *, after: bool) -> None:
    """The issue is taken, and the linked task as soon as the tracker answers: also by a hook."""
    with failing("claim", busy, after=after):
        taken = both.tree().claim(42)
        assert any("at a later look" in note for note in taken.notes)
        both.tree().tick(Wake.STOP)
    assert linked_as(both) == ""
    both.clock.sleep(61)
    both.tree().tick(Wake.STOP)
    assert inside(both).assignee == both.claim()["agent_id"]
    assert linked_as(both) == "claimed"


def test_a_tracker_that_cannot_be_asked_keeps_nobody_from_the_issue(both: Place) -> None:
    """No program: the issue is claimed, a remark says so, and the next look by command asks again."""
    with failing("list", lambda: NotInstalled("It is not installed.")):
        taken = both.tree().claim(42)
        assert any("could not be read" in note for note in taken.notes)
        report = both.tree().tick()
        assert "Whether a task of memory is linked to #42 could not be read" in texts(report)
    both.tree().tick()
    assert inside(both).assignee == both.claim()["agent_id"]


def test_a_claim_that_was_written_by_hand_learns_its_link(both: Place) -> None:
    """Not by a hook, which is silent and cheap; by the first look that somebody asks for."""
    both.ready(phase="coding", status="In Progress")
    with failing("list", busy) as asked:
        both.tree().tick(Wake.STOP)
    assert asked == []
    both.tree().tick()
    assert inside(both).assignee == "octocat-1"


def test_a_task_that_is_linked_later_is_found_by_the_next_look_by_command(both: Place) -> None:
    """The issue was claimed when nothing was linked to it: a tick asks again, a hook does not."""
    tracker = tracker_of(both)
    tracker._tasks.tasks["mem-1"] = Task("mem-1", "Not linked yet")
    both.tree().claim(42)
    tracker._tasks.tasks["mem-1"] = Task("mem-1", "Linked now", external="gh-42")
    both.tree().tick(Wake.STOP)
    assert not inside(both).assignee
    both.tree().tick()
    assert inside(both).assignee == both.claim()["agent_id"]


def test_an_answer_that_cannot_be_understood_keeps_nobody_from_the_issue(both: Place) -> None:
    """The task may be claimed or not: the next look makes certain, and meanwhile the issue is held."""
    with failing("claim", lambda: ProtocolError("It said something odd.")):
        both.tree().claim(42)
    assert linked_as(both) == ""
    both.tree().tick()
    assert linked_as(both) == "claimed"


@SOAKED
def test_a_claim_that_ends_asks_for_its_link_first(both: Place) -> None:
    """What was never looked for is looked for before the issue closes, since nothing comes after."""
    both.merged()
    both.tree().tick(Wake.STOP)
    assert both.issue()["state"] == "closed"
    assert not inside(both).is_open


def test_a_busy_tracker_does_not_hide_a_link_from_the_closing(both: Place) -> None:
    """Whether there is a link is asked three times before the issue closes without knowing."""
    both.merged()
    with failing("list", busy):
        for _ in range(2):
            both.tree().tick(Wake.STOP)
            assert both.issue()["state"] == "open"
            both.clock.sleep(61)
    both.tree().tick(Wake.STOP)
    assert both.issue()["state"] == "closed"
    assert not inside(both).is_open


@SOAKED
def test_a_tracker_that_stays_busy_does_not_keep_the_issue_open(both: Place) -> None:
    """Three looks without an answer, and the issue closes without."""
    both.merged()
    with failing("list", busy):
        for _ in range(3):
            both.tree().tick(Wake.STOP)
            both.clock.sleep(61)
    assert both.issue()["state"] == "closed"
    assert not both.has_claim()


def test_without_another_tracker_nothing_is_asked_and_nothing_kept(place: Place) -> None:
    """GitHub alone: the record knows of no link, and state.json has no trace of one."""
    record = place.tree().claim(42).record
    place.tree().tick()
    assert record.linked.link is None
    assert not record.linked.is_known
    state = json.loads((place.root / ".lifecycle/state.json").read_text())
    assert "linked_undone" not in state
    assert state["record"]["linked"]["link"] is None


def test_closing_closes_both(both: Place) -> None:
    """The inner task says what was done and in which pull request."""
    number = merged(both)
    report = both.tree().tick(Wake.STOP)
    assert both.issue()["state"] == "closed"
    assert not inside(both).is_open
    assert inside(both).close_reason.startswith(f"Fix the race (PR #{number} http")
    assert "Issue #42 closed." in texts(report)
    assert not both.has_claim()


@SOAKED
def test_a_task_that_was_closed_by_hand_keeps_its_reason(both: Place) -> None:
    """Closed stays closed, and nothing is written."""
    merged(both)
    tracker_of(both, both.claim()["agent_id"]).close("mem-1", reason="by hand")
    before = writes(both)
    both.tree().tick(Wake.STOP)
    assert writes(both) == before
    assert inside(both).close_reason == "by hand"
    assert both.issue()["state"] == "closed"


def test_a_task_that_somebody_took_by_hand_is_left_and_told_once(both: Place) -> None:
    """It is theirs: the issue closes, the task stays as it is, and one sentence says so."""
    merged(both)
    tracker_of(both, both.claim()["agent_id"]).release("mem-1")
    tracker_of(both, "maria").claim("mem-1")
    said = texts(both.tree().tick(Wake.STOP)) + texts(both.tree().tick(Wake.STOP))
    assert said.count("mem-1 is now held by maria") == 1
    assert inside(both).assignee == "maria"
    assert inside(both).is_open
    assert both.issue()["state"] == "closed"


@DEATHS
def test_a_busy_tracker_is_closed_by_a_later_look(both: Place, *, after: bool) -> None:
    """In a hook it is silent and due again; the issue waits for it, and closes with it."""
    merged(both)
    with failing("close", busy, after=after):
        report = both.tree().tick(Wake.STOP)
        assert texts(report) == ""
        assert both.issue()["state"] == "open"
        assert both.tree().claim_store.folder.has("due")
    both.clock.sleep(61)
    both.tree().tick(Wake.STOP)
    assert both.issue()["state"] == "closed"
    assert not inside(both).is_open


def test_releasing_gives_both_back(both: Place) -> None:
    """The issue is free, and so is the task, which somebody else can take then."""
    both.tree().claim(42)
    both.tree().release("enough")
    assert not both.has_claim()
    assert leases(both) == []
    assert inside(both).is_ready
    tracker_of(both, "maria").claim("mem-1")


def test_a_task_that_somebody_took_is_not_given_back_with_the_claim(both: Place) -> None:
    """The release of the issue leaves what is somebody else's inside."""
    agent = both.tree().claim(42).record.claim.agent_id
    tracker_of(both, agent).release("mem-1")
    tracker_of(both, "maria").claim("mem-1")
    report = both.tree().release()
    assert inside(both).assignee == "maria"
    assert not both.has_claim()
    # What was not written is not told as done, and whose it is is told.
    assert "The linked task mem-1 is now held by maria and was left as it is." in texts(report)
    assert not [action for action in report.actions if isinstance(action, SetLinked)]
    assert [e.target for e in journal.read(both.root) if e.target == "linked task"] == []


def test_a_linked_task_that_was_opened_is_claimed_again_by_a_look_by_command(both: Place) -> None:
    """Under a living claim it would be the next one's: what the claim wants of it is so again."""
    agent = both.tree().claim(42).record.claim.agent_id
    tracker_of(both, agent).release("mem-1")
    report = both.tree().tick()
    assert [type(action) for action in report.actions] == [SetLinked]
    assert inside(both).assignee == agent
    assert both.tree().tick().actions == ()


@pytest.mark.parametrize(
    ("by", "sentence"),
    [
        soaked("close", "closed in the meantime and stays closed"),
        ("claim", "mem-1 is now held by maria"),
    ],
)
def test_what_became_of_the_linked_task_is_told_once_by_a_look_by_command(
    both: Place, by: str, sentence: str
) -> None:
    """Closed, or somebody else's: nothing is written, and the claim goes on."""
    agent = both.tree().claim(42).record.claim.agent_id
    tracker_of(both, agent).release("mem-1")
    getattr(tracker_of(both, "maria"), by)("mem-1")
    before = writes(both)
    reports = [both.tree().tick() for _ in range(2)]
    assert [texts(report).count(sentence) for report in reports] == [1, 0]
    assert [report.actions for report in reports] == [(), ()]
    assert writes(both) == before
    assert both.has_claim()


def test_a_linked_task_that_was_left_is_claimed_when_it_is_free(both: Place) -> None:
    """By a look by command: nothing else would ever take it, so others could, beside the issue's claim.

    If it is left once more, that is said once more. One that was only unassigned is free, too.
    """
    agent = both.tree().claim(42).record.claim.agent_id
    tracker_of(both, agent).release("mem-1")
    tracker_of(both, "maria").claim("mem-1")
    assert "mem-1 is now held by maria" in texts(both.tree().tick())
    tracker_of(both, "maria").release("mem-1")
    both.tree().tick(Wake.STOP)
    assert inside(both).is_ready
    both.tree().tick()
    assert inside(both).assignee == agent
    assert linked_as(both) == "claimed"
    tracker_of(both, agent).release("mem-1")
    tracker_of(both, "maria").claim("mem-1")
    assert "mem-1 is now held by maria" in texts(both.tree().tick())
    assert "mem-1" not in texts(both.tree().tick())
    somebody = tracker_of(both)
    somebody._tasks.change(inside(both), assignee="")
    assert inside(both).status is TaskStatus.IN_PROGRESS
    both.tree().tick()
    assert inside(both).assignee == agent


def test_a_linked_task_that_was_left_and_is_claimed_by_hand_is_the_claims(both: Place) -> None:
    """By the claim's own agent: else its release leaves the task held, by an agent that has nothing."""
    agent = both.tree().claim(42).record.claim.agent_id
    tracker_of(both, agent).release("mem-1")
    tracker_of(both, "maria").claim("mem-1")
    assert "mem-1 is now held by maria" in texts(both.tree().tick())
    tracker_of(both, "maria").release("mem-1")
    tracker_of(both, agent).claim("mem-1")
    both.tree().tick()
    assert linked_as(both) == "claimed"
    both.tree().release()
    assert inside(both).is_ready


@pytest.mark.parametrize("is_taken", [True, soaked(False)])
def test_a_linked_task_that_was_closed_and_is_open_again_is_read_by_a_look_by_command(
    both: Place, is_taken: bool
) -> None:
    """It is claimed as any that was opened; whose it is is told, if somebody has it."""
    agent = both.tree().claim(42).record.claim.agent_id
    maria = tracker_of(both, "maria")
    tracker_of(both, agent).close("mem-1")
    assert "closed in the meantime" in texts(both.tree().tick())
    maria.reopen("mem-1")
    if is_taken:
        maria.claim("mem-1")
    reports = [both.tree().tick() for _ in range(2)]
    held = "mem-1 is now held by maria"
    assert [texts(report).count(held) for report in reports] == [int(is_taken), 0]
    assert inside(both).assignee == ("maria" if is_taken else agent)
