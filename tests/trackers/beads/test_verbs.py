"""What is bd's own about the verbs, beyond what the suite asks of every tracker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.core.errors import AlreadyClaimed, NotClaimable, NotFound
from lifecycle.core.tracker import Task, TaskStatus
from lifecycle.trackers.beads.bd_process import Runner
from lifecycle.trackers.beads.bd_tracker import BeadsTracker
from tests.trackers.beads import simulated
from tests.trackers.beads.grounds import BeadsGround


def _by_hand(ground: BeadsGround, *words: str, actor: str = "a-person") -> None:
    simulated.run(ground.folder, ground.root, *words, actor=actor)


def test_the_part_behind_the_prefix_is_an_id(each: BeadsGround) -> None:
    """As people type it; everything afterwards speaks of the whole id."""
    name = simulated.create(each.folder, each.root, "A task")
    tracker = each.tracker("agent-1")
    assert tracker.get(name.partition("-")[2]).id == name
    assert tracker.claim(name.partition("-")[2]).id == name


@pytest.mark.parametrize("name", ["", "--help", "-x", "a b", "demo-1;id", "../x", "demo-1\n"])
def test_what_can_be_no_id_is_not_asked_for(name: str, ground: BeadsGround) -> None:
    """No flag, no path, no second word reaches bd."""
    simulated.forget(ground.folder)
    tracker = ground.tracker("agent-1")
    with pytest.raises(NotFound):
        tracker.get(name)
    with pytest.raises(NotFound):
        tracker.list_comments(name)
    assert [call["argv"] for call in simulated.calls(ground.folder)] == []


ABOUT_ONE: dict[str, Callable[[BeadsTracker, str], object]] = {
    "get": lambda tracker, name: tracker.get(name),
    "claim": lambda tracker, name: tracker.claim(name),
    "release": lambda tracker, name: tracker.release(name),
    "close": lambda tracker, name: tracker.close(name),
    "reopen": lambda tracker, name: tracker.reopen(name),
    "edit": lambda tracker, name: tracker.edit(name, title="T"),
    "edit_labels": lambda tracker, name: tracker.edit_labels(name, add=("x",)),
    "comment": lambda tracker, name: tracker.comment(name, "a/1", "A word"),
    "list_comments": lambda tracker, name: tracker.list_comments(name),
    "add_dependency": lambda tracker, name: tracker.add_dependency(name, name),
}
"""Each verb that takes an id, but `renew`, which none of these builds has."""


def test_an_unknown_id_is_named_by_every_verb(each: BeadsGround) -> None:
    """The sentence says which task is not there, as it was typed, whatever the build says."""
    tracker = each.tracker("agent-1")
    for call in ABOUT_ONE.values():
        with pytest.raises(NotFound, match="bd knows no task 'NOPE', so"):
            call(tracker, "NOPE")
    name = simulated.create(each.folder, each.root, "A task")
    with pytest.raises(NotFound, match="'NOPE'"):
        tracker.add_dependency(name, "NOPE")


def test_begun_by_nobody_is_claimed(each: BeadsGround) -> None:
    """In progress without an assignee, as a person left it: builds differ, the verb does not."""
    name = simulated.create(each.folder, each.root, "A task")
    _by_hand(each, "update", name, "--status=in_progress")
    task = each.tracker("agent-1").claim(name)
    assert (task.status, task.assignee) == (TaskStatus.IN_PROGRESS, "agent-1")


def test_begun_by_nobody_and_taken_meanwhile_is_theirs(
    ground: BeadsGround, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody may take it between the look and the claim, which then says who that is."""
    name = simulated.create(ground.folder, ground.root, "A task")
    _by_hand(ground, "update", name, "--status=in_progress")
    change = Runner.change

    def late(asking: Runner, before: Task, verb: str, *words: str, **more: Any) -> Task:
        if "--status=open" in words:
            _by_hand(ground, "update", name, "--assignee=agent-2")
        return change(asking, before, verb, *words, **more)

    monkeypatch.setattr(Runner, "change", late)
    with pytest.raises(AlreadyClaimed) as refused:
        ground.tracker("agent-1").claim(name)
    assert refused.value.by == "agent-2"


def test_assigned_and_not_begun_is_the_assignee_s(each: BeadsGround) -> None:
    """Another is refused, the assignee begins, and giving it back frees it."""
    name = simulated.create(each.folder, each.root, "A task")
    _by_hand(each, "update", name, "--assignee=agent-1")
    with pytest.raises(AlreadyClaimed) as refused:
        each.tracker("agent-2").claim(name)
    assert refused.value.by == "agent-1"
    assert each.tracker("agent-2").ready() == ()
    assert each.tracker("agent-1").claim(name).status is TaskStatus.IN_PROGRESS
    assert each.tracker("agent-1").release(name).is_ready


@pytest.mark.parametrize("status", ["blocked", "deferred"])
def test_what_people_set_aside_is_not_claimed(status: str, ground: BeadsGround) -> None:
    """Blocked and deferred are their words for "not now"."""
    name = simulated.create(ground.folder, ground.root, "A task")
    _by_hand(ground, "update", name, f"--status={status}")
    with pytest.raises(NotClaimable) as refused:
        ground.tracker("agent-1").claim(name)
    assert refused.value.status == status


def test_a_released_task_that_a_person_took_is_theirs(each: BeadsGround) -> None:
    """Who comes back and claims again is told, whatever the actor had before."""
    name = simulated.create(each.folder, each.root, "A task")
    tracker = each.tracker("agent-1")
    tracker.claim(name)
    _by_hand(each, "update", name, "--assignee=maria")
    with pytest.raises(AlreadyClaimed):
        tracker.claim(name)
    with pytest.raises(AlreadyClaimed):
        tracker.release(name)


def test_the_key_of_a_task_outlives_an_edit(each: BeadsGround) -> None:
    """It is hidden at the end of the text, which an edit of ours keeps; people do not see it."""
    tracker = each.tracker("agent-1")
    made = tracker.create("team/1", title="T", description="First", external="gh-42")
    assert (made.description, made.external) == ("First", "gh-42")
    edited = tracker.edit(made.id, description="Second")
    assert edited.description == "Second"
    (raw,) = simulated.run(each.folder, each.root, "show", made.id)
    assert raw["description"] == "Second\n\n<!-- lifecycle:team/1 -->"
    assert tracker.create("team/1", title="Other").id == made.id


def test_a_key_is_not_found_in_what_people_say(ground: BeadsGround) -> None:
    """A text that quotes a key, and a key that is the beginning of another, are not it."""
    _by_hand(ground, "create", "--title=Q", "--description=See <!-- lifecycle:a/1 --> there")
    tracker = ground.tracker("agent-1")
    long = tracker.create("a/1-2", title="Long")
    short = tracker.create("a/1", title="Short")
    assert short.id != long.id
    assert short.title == "Short"


def test_no_task_is_closed_twice_by_bd(each: BeadsGround) -> None:
    """bd would overwrite the reason."""
    name = simulated.create(each.folder, each.root, "A task")
    tracker = each.tracker("agent-1")
    tracker.close(name, reason="First")
    simulated.forget(each.folder)
    assert tracker.close(name, reason="Second").close_reason == "First"
    assert [call["argv"][0] for call in simulated.calls(each.folder)] == ["show"]


def test_more_than_bd_shows_by_itself_is_listed(each: BeadsGround) -> None:
    """Ten, fifty or a hundred are its own limits; ours is none."""
    from tests.trackers.beads.program import database

    data = database.Database(str(each.root / ".beads"))
    name = simulated.create(each.folder, each.root, "Number 0", "many")
    with data.writing() as state:
        for number in range(1, 130):
            copy = {**state["issues"][name], "id": f"demo-n{number}", "title": f"Number {number}"}
            state["issues"][copy["id"]] = copy
    tracker = each.tracker("agent-1")
    assert len(tracker.ready(labels=("many",))) == 130
    assert len(tracker.list(label="many")) == 130


def test_a_claim_costs_two_processes(each: BeadsGround) -> None:
    """A look and the claim; the oldest build is read back as well. A look costs one."""
    name = simulated.create(each.folder, each.root, "A task")
    tracker = each.tracker("agent-1")
    is_old = tracker.abilities().claim_atomicity.value == "advisory"
    simulated.forget(each.folder)
    tracker.get(name)
    assert len(simulated.calls(each.folder)) == 1
    simulated.forget(each.folder)
    tracker.claim(name)
    assert len(simulated.calls(each.folder)) == (3 if is_old else 2)
