"""`core.tracker`: what a task of any tracker says of itself."""

from __future__ import annotations

import pytest

from lifecycle.core.tracker import (
    GITHUB,
    Abilities,
    Atomicity,
    Capability,
    ClaimFacts,
    Task,
    TaskStatus,
)


@pytest.mark.parametrize(
    ("task", "is_open", "is_ready"),
    [
        (Task("1", "free"), True, True),
        (Task("2", "held", assignee="ada"), True, False),
        (Task("3", "waits", blocked_by=("1",)), True, False),
        (Task("4", "begun", status=TaskStatus.IN_PROGRESS), True, False),
        (Task("5", "done", status=TaskStatus.CLOSED), False, False),
        (Task("6", "later", status=TaskStatus.DEFERRED), True, False),
    ],
    ids=lambda value: value.title if isinstance(value, Task) else None,
)
def test_a_task_is_ready_that_somebody_could_begin_with(
    task: Task, *, is_open: bool, is_ready: bool
) -> None:
    """Open, nobody's, and blocked by nothing; all but a closed one is still open."""
    assert (task.is_open, task.is_ready) == (is_open, is_ready)


def test_tasks_are_sorted_by_priority_then_age_then_id() -> None:
    """One without a priority comes last; one of unknown age is the oldest."""
    tasks = [
        Task("f", "", created_at=1.0),
        Task("e", "", priority=4, created_at=3.0),
        Task("d", "", priority=1, created_at=7.0),
        Task("a", "", priority=1, created_at=7.0),
        Task("c", "", priority=1, created_at=0.5),
        Task("b", "", priority=1),
    ]
    assert "".join(task.id for task in sorted(tasks, key=lambda task: task.urgency)) == "bcadef"
    assert Task("g", "").urgency == (1_000, 0.0, "g")
    assert Task("h", "", priority=0).urgency == (0, 0.0, "h")


def test_a_tracker_has_what_it_says_that_it_has() -> None:
    """Whatever is not named is lacking."""
    abilities = Abilities(Atomicity.NONE, frozenset({Capability.LEASES}))
    assert abilities.has(Capability.LEASES) is True
    assert abilities.has(Capability.PUBLISH) is False


def test_a_claims_task_has_a_name_in_each_tracker_that_has_it() -> None:
    """And none, as an empty word, in one that does not know it; `github` is GitHub's."""
    facts = ClaimFacts({GITHUB: "42"})
    assert (facts.task_in("github"), facts.task_in("beads")) == ("42", "")
