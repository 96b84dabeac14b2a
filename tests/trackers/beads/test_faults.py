"""What a verb comes to when bd hangs, dies, says nothing, or says nonsense: read back, then told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.core.errors import Busy, NotFound, ProtocolError, Transient
from lifecycle.core.tracker import TaskStatus
from lifecycle.trackers.beads import bd_process
from lifecycle.trackers.beads.bd_tracker import BeadsTracker
from tests.trackers.beads import simulated
from tests.trackers.beads.grounds import BeadsGround

Verb = Callable[[BeadsTracker, str], Any]

WRITES: dict[str, tuple[str, Verb]] = {
    "claim": ("update demo", lambda tracker, name: tracker.claim(name)),
    "claim_next": ("--claim", lambda tracker, _name: tracker.claim_next()),
    "close": ("close", lambda tracker, name: tracker.close(name, reason="Done")),
    "create": (
        "create",
        lambda tracker, _name: tracker.create("a/1", title="Another", labels=("x", "y")),
    ),
    "comment": ("comments add", lambda tracker, name: tracker.comment(name, "a/2", "A word")),
    "edit": ("update demo", lambda tracker, name: tracker.edit(name, title="New")),
    "edit_labels": ("label add", lambda tracker, name: tracker.edit_labels(name, add=("z",))),
    "add_dependency": ("dep add", lambda tracker, name: tracker.add_dependency(name, "demo-two")),
}
"""Each verb, and words by which its write is known."""

DONE = [("claim", fault) for fault in ("hang-after", "garbage", "empty")]
DONE += [(verb, "die-after") for verb in WRITES]
"""The write was made, and its answer is lost. What is made of each fault is decided in one place
(`Runner.write`), how it is looked for by each verb."""

NOT_DONE = [("claim", "hang-before"), *((verb, "die-before") for verb in WRITES)]
"""The write was not made, and nobody is told."""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for what hangs."""
    monkeypatch.setattr(bd_process, "WRITE_SECONDS", 0.7)


def _filled(ground: BeadsGround) -> tuple[BeadsTracker, str]:
    simulated.workspace(ground.root, ground.folder, ids=("demo-one", "demo-two"))
    name = simulated.create(ground.folder, ground.root, "A task", "x", priority=0)
    simulated.create(ground.folder, ground.root, "The other", "x")
    tracker = ground.tracker("agent-1")
    tracker.abilities()
    return tracker, name


def _state(ground: BeadsGround) -> Any:
    """What can be seen of all issues, without times and the comments' ids."""
    rows = simulated.run(ground.folder, ground.root, "list", "--all")
    kept = ("title", "status", "assignee", "labels", "dependency_count", "comment_count")
    return sorted([[row.get(key) for key in kept] for row in rows], key=str)


@pytest.mark.parametrize(("verb", "fault"), DONE)
def test_what_was_done_is_seen(verb: str, fault: str, ground: BeadsGround) -> None:
    """The answer is lost and the write is there: success, and nothing is done a second time."""
    tracker, name = _filled(ground)
    words, call = WRITES[verb]
    simulated.fault(ground.folder, words, fault)
    call(tracker, name)
    once = _state(ground)
    call(ground.tracker("agent-1"), name) if verb != "claim_next" else None
    assert _state(ground) == once


@pytest.mark.parametrize(("verb", "fault"), NOT_DONE)
def test_what_no_look_shows_is_told(verb: str, fault: str, ground: BeadsGround) -> None:
    """Transient and ambiguous; nothing was changed, and the next call does it."""
    tracker, name = _filled(ground)
    before = _state(ground)
    words, call = WRITES[verb]
    simulated.fault(ground.folder, words, fault)
    with pytest.raises(Transient) as unclear:
        call(tracker, name)
    assert unclear.value.is_ambiguous
    assert "\n" not in str(unclear.value)
    assert _state(ground) == before
    call(tracker, name)
    assert _state(ground) != before


@pytest.mark.parametrize("fault", ["die-after", "empty"])
def test_a_claim_is_seen_on_every_build(fault: str, each: BeadsGround) -> None:
    """Success if the actor has it and it is in progress."""
    tracker, name = _filled(each)
    simulated.fault(each.folder, "update demo", fault)
    task = tracker.claim(name)
    assert (task.status, task.assignee) == (TaskStatus.IN_PROGRESS, "agent-1")


def test_noise_changes_nothing(each: BeadsGround) -> None:
    """Warnings on stderr beside a good answer, at every step."""
    tracker, name = _filled(each)
    simulated.fault(each.folder, "", "noise", times=99)
    tracker.claim(name)
    tracker.comment(name, "a/1", "A word")
    assert tracker.close(name).status is TaskStatus.CLOSED
    assert [task.id for task in tracker.ready()] == ["demo-two"]


def test_a_create_that_died_before_its_labels_gets_them(each: BeadsGround) -> None:
    """Older builds put labels there in steps of their own: the task is found, and completed."""
    tracker, _ = _filled(each)
    simulated.fault(each.folder, "create", "die-half")
    made = tracker.create("a/9", title="T", labels=("x", "y"))
    assert set(made.labels) == {"x", "y"}
    assert len(simulated.run(each.folder, each.root, "list", "--all")) == 3


@pytest.mark.parametrize("fault", ["garbage", "empty"])
def test_a_read_that_says_nonsense_is_told(fault: str, ground: BeadsGround) -> None:
    """ProtocolError; nothing is made of it."""
    tracker, name = _filled(ground)
    simulated.fault(ground.folder, "ready", fault)
    with pytest.raises(ProtocolError):
        tracker.ready()
    simulated.fault(ground.folder, "show", fault)
    with pytest.raises(ProtocolError):
        tracker.get(name)


@pytest.mark.parametrize("verb", [verb for verb in WRITES if verb not in ("claim_next", "create")])
def test_a_task_that_is_gone_is_told(verb: str, ground: BeadsGround) -> None:
    """Deleted between the look and the write: NotFound, also where bd does not name the task."""
    tracker, name = _filled(ground)
    words, call = WRITES[verb]
    simulated.fault(ground.folder, words, "gone")
    with pytest.raises(NotFound, match=f"bd knows no (such task|task '{name}')"):
        call(tracker, name)


def test_a_busy_database_is_not_waited_for_here(ground: BeadsGround) -> None:
    """Busy, at once, and nothing was done: whoever asked decides when to ask again."""
    tracker, name = _filled(ground)
    before = _state(ground)
    simulated.fault(ground.folder, "update demo", "busy")
    with pytest.raises(Busy):
        tracker.claim(name)
    assert _state(ground) == before


def test_a_look_that_fails_too_leaves_it_unclear(ground: BeadsGround) -> None:
    """The write died, and so does the look after it: ambiguous, not an error of the look."""
    tracker, name = _filled(ground)
    simulated.fault(ground.folder, "close demo-one", "die-after")
    simulated.fault(ground.folder, "show demo-one", "none")
    simulated.fault(ground.folder, "show demo-one", "garbage")
    with pytest.raises(Transient) as unclear:
        tracker.close(name)
    assert unclear.value.is_ambiguous
    assert tracker.get(name).status is TaskStatus.CLOSED


def test_a_hook_never_forces_and_never_publishes(each: BeadsGround) -> None:
    """After every verb: no --force, no sync, no push, no github."""
    tracker, name = _filled(each)
    tracker.claim(name)
    tracker.edit(name, description="Text", priority=1)
    tracker.edit_labels(name, add=("z",), remove=("x",))
    tracker.comment(name, "a/1", "A word")
    tracker.close(name, reason="Done")
    tracker.reopen(name)
    tracker.claim_next(labels=("x:*",))
    tracker.wording()
    said = [call["argv"] for call in simulated.calls(each.folder)]
    words = {word for argv in said for word in argv}
    assert not words & {"--force", "-f", "push", "github"}
    assert ["sync"] not in [argv[:1] for argv in said]
