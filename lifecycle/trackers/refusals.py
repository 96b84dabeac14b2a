"""Shared by trackers: values that none accepts, the errors of a claim, the filter of a list.

Their sentences are in `refusals.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from os import urandom
from typing import Any, Final, TypeVar, Unpack

from lifecycle.core import errors, hidden_marker
from lifecycle.core.light_dataclass import replace
from lifecycle.core.tracker import Capability, LabelEdit, NewTask, Task, TaskEdit, TaskStatus
from lifecycle.settings import resources

sentence: Final = resources.Sentences("trackers/refusals.toml")

Claimed = TypeVar("Claimed")


def lacking(capability: Capability, name: str, /, **values: object) -> errors.Lacking:
    """The error, with that sentence, of a tracker that lacks a capability."""
    return errors.Lacking(sentence(name, **values), capability=capability)


def circle(task: str, blocker: str) -> errors.Invalid:
    """The error for a task that would wait for itself, directly or through others."""
    name = "circle-of-one" if task == blocker else "circle"
    return errors.Invalid(sentence(name, task=task, blocker=blocker))


MOST_TITLE = 256
"""Characters of a title. Source: GitHub's own limit, https://docs.github.com/rest/issues/issues"""


def demand_new(key: str, **new: Unpack[NewTask]) -> Task:
    """The task to be made, which has no id yet; Invalid if one cannot be made of these values."""
    demand_key(key)
    task = Task("", **new)
    demand_edit(title=task.title, priority=task.priority)
    demand_labels(task.labels)
    return replace(task, title=task.title.strip())


def demand_edit(**texts: Unpack[TaskEdit]) -> dict[str, Any]:
    """The values to set, the title without outer spaces; Invalid for an impossible title or priority."""
    title, priority = texts.get("title"), texts.get("priority")
    if title is not None and not title.strip():
        raise errors.Invalid(sentence("no-title"))
    if title is not None and (len(title.splitlines()) > 1 or len(title) > MOST_TITLE):
        raise errors.Invalid(sentence("title-form", most=MOST_TITLE))
    if priority is not None and (isinstance(priority, bool) or not 0 <= priority <= 4):
        raise errors.Invalid(sentence("priority-range", priority=priority))
    changes = {name: value for name, value in texts.items() if value is not None}
    return changes if title is None else {**changes, "title": title.strip()}


def demand_label_edit(**labels: Unpack[LabelEdit]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels to add and to remove; Invalid for an impossible label, and for one that is in both."""
    add, remove = labels.get("add", ()), labels.get("remove", ())
    demand_labels((*add, *remove))
    gone = {name.casefold() for name in remove}
    twice = [name for name in add if name.casefold() in gone]
    if twice:
        raise errors.Invalid(sentence("label-twice", label=twice[0]))
    return add, remove


def label_changes(
    task: Task, add: tuple[str, ...], remove: tuple[str, ...]
) -> tuple[list[str], list[str]]:
    """The labels that the task lacks, and those to be removed; compared without regard to case."""
    names, gone = ({name.casefold() for name in labels} for labels in (task.labels, remove))
    new = [name for name in dict.fromkeys(add) if name.casefold() not in names]
    return new, [name for name in task.labels if name.casefold() in gone]


def demand_key(key: str) -> None:
    """Invalid unless the key is letters, digits and single . : / # = - _."""
    try:
        hidden_marker.keyed(key)
    except errors.Refused:
        raise errors.Invalid(sentence("key-form", key=key)) from None


def demand_labels(names: Iterable[str]) -> None:
    """Invalid for a label that is empty, or has a comma, a line break or outer spaces."""
    for name in names:
        if not name.isprintable() or name != name.strip() or not name or "," in name:
            raise errors.Invalid(sentence("label-form", label=name))


def demand_free(task: str, blockers: tuple[str, ...], what: str, *, mark: str = "") -> None:
    """BlockedBy if open tasks block a task.

    Args:
        task: the task, as people write it.
        blockers: the ids of the open tasks.
        what: what was not done, as `claimed`.
        mark: the prefix with which people write an id that is a number.
    """
    if blockers:
        names = ", ".join(f"{mark}{name}" if name.isdecimal() else name for name in blockers)
        raise errors.BlockedBy(sentence("waits", task=task, names=names, what=what), ids=blockers)


PASSED_OVER = (errors.HeldByAnother, errors.NotClaimable, errors.BlockedBy, errors.NotFound)
"""A claim's errors for a task that is not free any more: the next one may be."""


def first_claimed(
    claim: Callable[[Task], Claimed],
    tasks: Iterable[Task],
    held: Callable[[], Container[str]] = frozenset,
) -> Claimed | None:
    """The result of `claim` for the first task, by urgency, that is still free; None if none is.

    An actor who is too late is so together with others, and all of them would try the same next task. So
    the next one is any of those as urgent as it, without those that are `held` by now.
    """
    left = [*tasks]
    which = 0  # the index among those that are left
    while left:
        try:
            return claim(left.pop(which))
        except PASSED_OVER:
            gone = held() if left else ()
        left = [task for task in left if task.id not in gone]
        if left:
            as_urgent = [task.priority for task in left].count(left[0].priority)
            which = int.from_bytes(urandom(4), "big") % as_urgent
    return None


def held(task: str, by: str, since: str = "") -> errors.AlreadyClaimed:
    """The error for a task that somebody else holds; `by` is "" if that is unknown."""
    who = by or "somebody else"
    return errors.AlreadyClaimed(sentence("held", task=task, by=who, since=since), by=by)


def with_holders(task: Task, own: Container[str]) -> Task:
    """The task with its assignee as its holder, unless that is one of the own names."""
    is_another = task.is_open and task.assignee and task.assignee not in own
    return replace(task, held_by=(task.assignee,) if is_another else ())


def not_claimable(task: str, status: str) -> errors.NotClaimable:
    """The error for a task that may not be begun; `status` is the tracker's own word."""
    return errors.NotClaimable(sentence("not-claimable", task=task, status=status), status=status)


def is_held(task: Task, actor: str) -> bool:
    """True if the actor holds it."""
    return task.status is TaskStatus.IN_PROGRESS and task.assignee == actor


def demand_mine(task: Task, actor: str) -> None:
    """AlreadyClaimed if somebody else holds it."""
    if task.is_open and task.assignee not in ("", actor):
        raise held(task.id, task.assignee)


def demand_claimable(task: Task, actor: str) -> None:
    """AlreadyClaimed, NotClaimable, BlockedBy unless the actor, who does not hold it yet, may claim it."""
    demand_mine(task, actor)
    if task.status not in (TaskStatus.OPEN, TaskStatus.IN_PROGRESS):
        raise not_claimable(task.id, task.raw_status)
    demand_free(task.id, task.blocked_by, "claimed")


def demand_renewable(task: Task, actor: str) -> None:
    """AlreadyClaimed if somebody else holds it, NotClaimable if the actor has no claim on it any more."""
    demand_mine(task, actor)
    if not is_held(task, actor):
        words = sentence("not-renewed", task=task.id, status=task.raw_status)
        raise errors.NotClaimable(words, status=task.raw_status)


def is_listed(task: Task, label: str, status: TaskStatus | None) -> bool:
    """True if a list of this label and status includes the task; without a status: if it is not closed."""
    is_of = task.is_open if status is None else task.status is status
    return is_of and has_any(task.labels, (label,) if label else ())


def has_any(labels: Iterable[str], wanted: Iterable[str]) -> bool:
    """True if one of the labels is wanted: by name, or by a prefix that ends with `*`; without case.

    Nothing wanted means that every task will do.
    """
    words = [word.casefold() for word in wanted]
    names = [name.casefold() for name in labels]
    return not words or any(_fits(name, word) for name in names for word in words)


def _fits(name: str, word: str) -> bool:
    return name.startswith(word[:-1]) if word.endswith("*") else name == word
