"""The tasks in memory: what the suite cannot see from outside."""

from __future__ import annotations

import pytest

from lifecycle.core.errors import AlreadyClaimed, Invalid, NotClaimable
from lifecycle.core.tracker import Abilities, Atomicity, Capability, TaskStatus, Tracker
from lifecycle.trackers.memory import LEASE_SECONDS, MemoryTasks, MemoryTracker


class Time:
    """A clock that the test moves."""

    moment = 100.0

    def now(self) -> float:
        """The moment."""
        return self.moment


@pytest.fixture
def time() -> Time:
    """The tasks' clock."""
    return Time()


@pytest.fixture
def tasks(time: Time) -> MemoryTasks:
    """Tasks that two agents share."""
    return MemoryTasks(time.now)


def test_it_fits_the_protocol_and_says_what_it_can(tasks: MemoryTasks) -> None:
    """Everything but publishing."""
    tracker: Tracker = MemoryTracker(tasks, "a")
    flags = set(Capability) - {Capability.PUBLISH}
    assert tracker.abilities() == Abilities(Atomicity.LOCAL_CAS, frozenset(flags))


def test_a_claim_ends_at_the_second(tasks: MemoryTasks, time: Time) -> None:
    """Until then it is the holder's; from then on it is nobody's, for whoever looks."""
    one, two = MemoryTracker(tasks, "a"), MemoryTracker(tasks, "b")
    made = one.create("k", title="T")
    one.claim(made.id)
    time.moment += LEASE_SECONDS - 1
    with pytest.raises(AlreadyClaimed) as refused:
        two.claim(made.id)
    assert refused.value.by == "a"
    time.moment += 1
    assert two.get(made.id).status is TaskStatus.OPEN
    assert [task.id for task in two.ready()] == [made.id]


def test_a_renewed_claim_lives_on(tasks: MemoryTasks, time: Time) -> None:
    """From the renewal on, the whole time again."""
    one, two = MemoryTracker(tasks, "a"), MemoryTracker(tasks, "b")
    made = one.create("k", title="T")
    one.claim(made.id)
    time.moment += LEASE_SECONDS - 1
    one.renew(made.id)
    time.moment += LEASE_SECONDS - 1
    with pytest.raises(AlreadyClaimed):
        two.claim(made.id)


def test_what_has_no_claim_to_renew_is_not_said_to_be_unclaimed(tasks: MemoryTasks) -> None:
    """A renewal's refusal speaks of the renewal, of a task that is closed as of one that is free."""
    one = MemoryTracker(tasks, "a")
    made = one.create(key="k", title="A").id
    with pytest.raises(NotClaimable, match="is open and you have no claim on it, so nothing was"):
        one.renew(made)
    one.close(made)
    with pytest.raises(NotClaimable, match="is closed and you have no claim on it, so nothing was"):
        one.renew(made)


def test_times_are_the_clocks(tasks: MemoryTasks, time: Time) -> None:
    """Made, changed and closed, each at its own moment; a reopened task was never closed."""
    tracker = MemoryTracker(tasks, "a")
    made = tracker.create("k", title="T")
    time.moment = 200.0
    tracker.edit(made.id, title="U")
    time.moment = 300.0
    closed = tracker.close(made.id)
    assert (closed.created_at, closed.updated_at, closed.closed_at) == (100.0, 300.0, 300.0)
    assert tracker.reopen(made.id).closed_at is None


def test_labels_that_differ_in_case_are_one(tasks: MemoryTasks) -> None:
    """As on GitHub: the first spelling stays."""
    tracker = MemoryTracker(tasks, "a")
    made = tracker.create("k", title="T", labels=("Bug",))
    assert tracker.edit_labels(made.id, add=("bug", "new")).labels == ("Bug", "new")
    assert tracker.edit_labels(made.id, remove=("BUG",)).labels == ("new",)


@pytest.mark.parametrize("priority", [-1, 5, True])
def test_a_priority_is_0_to_4(tasks: MemoryTasks, priority: int) -> None:
    """Anything else is Invalid, made or edited."""
    tracker = MemoryTracker(tasks, "a")
    made = tracker.create("k", title="T", priority=0)
    with pytest.raises(Invalid, match=r"0 \(the most urgent\) to 4"):
        tracker.create("l", title="T", priority=priority)
    with pytest.raises(Invalid):
        tracker.edit(made.id, priority=priority)
    assert tracker.get(made.id).priority == 0


def test_a_title_has_no_outer_spaces_and_a_label_is_the_same_in_capitals(
    tasks: MemoryTasks,
) -> None:
    """However it is made or edited; what is so already is no write."""
    tracker = MemoryTracker(tasks, "a")
    made = tracker.create("k", title=" One ", labels=("Bug", "docs"))
    assert (made.title, tracker.edit(made.id, title=" Two ").title) == ("One", "Two")
    writes = tasks.writes
    tracker.edit(made.id, title="Two ", description=None)
    tracker.edit_labels(made.id, add=("bug", "DOCS"))
    assert tasks.writes == writes
    edited = tracker.edit_labels(made.id, add=("new", "New"), remove=("BUG",))
    assert edited.labels == ("docs", "new", "New")
