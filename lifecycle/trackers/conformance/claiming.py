"""Rules on claiming: claim, release, and several actors who claim at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from threading import Barrier
from typing import TypeVar

from lifecycle.core.errors import AlreadyClaimed, BlockedBy, NotClaimable
from lifecycle.core.tracker import Capability, Task, TaskStatus, Tracker
from lifecycle.trackers.conformance.case import CheckCase, NotHere, demand, refused, same

T = TypeVar("T")
RIVALS = 4
LONG = 10 * 24 * 3600.0
"""Seconds, longer than any lease lives."""


def a_claimed_task_is_the_actors(case: CheckCase) -> None:
    """It is in progress, and shows every actor who has it."""
    made = case.make()
    for task in (case.one.claim(made.id), case.one.get(made.id), case.two.get(made.id)):
        case.stands(task, TaskStatus.IN_PROGRESS, case.holder(1))
        demand(not task.is_ready, "a claimed task is ready")


def claiming_again_is_no_error(case: CheckCase) -> None:
    """For the actor who has it, also from a new object, nothing is written."""
    made = case.claimed()
    again = case.tracker(1)
    case.writes_nothing("the second claim", again.claim, made.id)
    same(again.claim(made.id).status, TaskStatus.IN_PROGRESS, "the status")


def anothers_task_is_refused(case: CheckCase) -> None:
    """The second actor is refused with the first one's name, and changes nothing; nor by releasing it."""
    made = case.claimed()

    def claim() -> None:
        error = refused(AlreadyClaimed, "claiming another's task", case.two.claim, made.id)
        known = ("", case.holder(1), case.one.actor)
        demand(error.by in known, f"`by` is {error.by!r}, not who has it")

    case.writes_nothing("a refused claim", claim)
    refused(AlreadyClaimed, "releasing another's task", case.two.release, made.id)
    case.stands(case.two.get(made.id), TaskStatus.IN_PROGRESS, case.holder(1))


def whoever_else_has_it_is_named(case: CheckCase) -> None:
    """Another actor who asks gets the name; the holder does not, and after a release nobody does."""
    made = case.claimed()
    others = case.two.get(made.id, holders=True).held_by
    is_named = others[:1] in ((case.holder(1),), (case.one.actor,))
    demand(is_named, f"`held_by` of another's task is {others!r}")
    same(case.one.get(made.id, holders=True).held_by, (), "`held_by` of one's own task")
    case.one.release(made.id)
    same(case.two.get(made.id, holders=True).held_by, (), "`held_by` of a free task")


def a_closed_task_is_not_claimable(case: CheckCase) -> None:
    """The error has the tracker's own word for the task's status."""
    made = case.make()
    case.one.close(made.id)
    error = refused(NotClaimable, "claiming a closed task", case.two.claim, made.id)
    demand(bool(error.status), "`status` of NotClaimable is empty")
    same(case.one.get(made.id).status, TaskStatus.CLOSED, "the status")


def a_blocked_task_is_not_begun_or_ended(case: CheckCase) -> None:
    """A task that waits for an open one is neither claimed nor closed; once that one is, it can be."""
    made, blocker = case.blocked()
    refused(BlockedBy, "closing a blocked task", case.one.close, made.id, reason="x")
    error = refused(BlockedBy, "claiming a blocked task", case.two.claim, made.id)
    demand(error.ids in ((), (blocker.id,)), f"`ids` is {error.ids!r}")
    case.stands(case.one.get(made.id), TaskStatus.OPEN, "")
    case.one.close(blocker.id)
    same(case.two.claim(made.id).status, TaskStatus.IN_PROGRESS, "the status")


def a_released_task_is_anybodys(case: CheckCase) -> None:
    """It is open, unassigned and ready, and another actor can claim it."""
    made = case.claimed()
    for task in (case.one.release(made.id), case.two.get(made.id)):
        case.stands(task, TaskStatus.OPEN, "")
    same(case.two.claim(made.id).assignee, case.holder(2), "the next assignee")
    refused(AlreadyClaimed, "claiming what one released and another took", case.one.claim, made.id)


def releasing_what_is_nobodys_changes_nothing(case: CheckCase) -> None:
    """A free task stays as it is, as does one that was released already."""
    free, given = case.make(), case.claimed()
    case.one.release(given.id)
    for made in (free, given):
        case.writes_nothing("releasing a free task", case.one.release, made.id)
        same(case.one.get(made.id).status, TaskStatus.OPEN, "the status")


def one_of_many_wins(case: CheckCase) -> None:
    """Several actors claim a task at the same moment: one gets it, all others are refused."""
    case.need_cas()
    for _ in range(3):
        made = case.make()
        answers = _together(case, partial(_has_claimed, made.id))
        winners = [number for number, has_won in answers.items() if has_won]
        demand(len(winners) == 1, f"{len(winners)} of {RIVALS} were told that they have it")
        same(case.one.get(made.id).assignee, case.holder(winners[0]), "the assignee")


def the_next_one_is_the_most_urgent(case: CheckCase) -> None:
    """`claim_next` claims the first of `ready`, then the next, then reports that there is none."""
    low, high = case.make(priority=3), case.make(priority=0)
    tasks = _all_of(case.label, 3, case.one)
    same([task.id for task in tasks], [high.id, low.id], "the tasks, one after the other")
    for task in tasks:
        case.stands(task, TaskStatus.IN_PROGRESS, case.holder(1))


def nobody_gets_the_same_next_task(case: CheckCase) -> None:
    """Several actors ask for the next task until there is none: each task goes to exactly one."""
    case.need_cas()
    made = {case.make(f"Number {number}").id for number in range(2 * RIVALS)}
    answers = _together(case, partial(_all_of, case.label, 2 * len(made)))
    had = [task.id for tasks in answers.values() for task in tasks]
    same(sorted(had), sorted(made), "what was claimed by all of them")


def a_claim_lives_as_long_as_it_is_renewed(case: CheckCase) -> None:
    """An actor's own claim can be renewed; another's, or one that nobody has, cannot."""
    case.need(Capability.LEASES)
    made, free = case.claimed(), case.make()
    same(case.one.renew(made.id).assignee, case.holder(1), "the assignee")
    refused(AlreadyClaimed, "renewing another's claim", case.two.renew, made.id)
    refused(NotClaimable, "renewing what nobody has claimed", case.one.renew, free.id)


def a_claim_that_ran_out_is_anybodys(case: CheckCase) -> None:
    """If it was not renewed, another actor can claim it, and the first actor's renewal is refused."""
    case.need(Capability.LEASES)
    made = case.claimed()
    if not case.ground.later(LONG):
        raise NotHere("the ground cannot let time pass")
    same(case.two.claim(made.id).assignee, case.holder(2), "the assignee")
    refused(AlreadyClaimed, "renewing a claim that ran out and was taken", case.one.renew, made.id)


def without_leases_there_is_nothing_to_renew(case: CheckCase) -> None:
    """It raises Lacking, which names the capability."""
    case.lacks(Capability.LEASES, case.one.renew, case.claimed().id)


def _has_claimed(name: str, tracker: Tracker) -> bool:
    try:
        tracker.claim(name)
    except AlreadyClaimed:
        return False
    return True


def _all_of(label: str, most: int, tracker: Tracker) -> list[Task]:
    """The tasks that the tracker returns until there is no more, or more than there can be."""
    return [*islice(iter(lambda: tracker.claim_next(labels=(label,)), None), most)]


def _together(case: CheckCase, act: Callable[[Tracker], T]) -> dict[int, T]:
    """The result of each of several actors who begin at the same moment."""
    start = Barrier(RIVALS)

    def run(number: int) -> T:
        tracker = case.tracker(number)
        start.wait(timeout=60)
        return act(tracker)

    numbers = range(1, RIVALS + 1)
    with ThreadPoolExecutor(RIVALS) as pool:
        return dict(zip(numbers, pool.map(run, numbers), strict=True))
