"""What trackers have in common: values that none keeps, the errors of a claim, what a list has.

Their sentences are in `refusals.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from itertools import takewhile
from os import urandom
from typing import Any, Final, TypeVar, Unpack

from lifecycle.core import errors, hidden_marker
from lifecycle.core.light_dataclass import replace
from lifecycle.core.tracker import Capability, LabelEdit, NewTask, Task, TaskEdit, TaskStatus
from lifecycle.settings import resources

sentence: Final = resources.Sentences("trackers/refusals.toml")

Claimed = TypeVar("Claimed")


def lacking(capability: Capability, name: str, /, **values: object) -> errors.Lacking:
    """The error, with that sentence, of a tracker that cannot do something."""
    return errors.Lacking(sentence(name, **values), capability=capability)


def circle(task: str, blocker: str) -> errors.Invalid:
    """The error for a task that would wait for itself, at once or over others."""
    name = "circle-of-one" if task == blocker else "circle"
    return errors.Invalid(sentence(name, task=task, blocker=blocker))


MOST_TITLE = 256
"""Characters of a title. Source: GitHub's own limit, https://docs.github.com/rest/issues/issues"""


def demand_new(key: str, **new: Unpack[NewTask]) -> Task:
    """The task that is to be made, which has no id so far; Invalid unless one can be made of these."""
    demand_key(key)
    task = Task("", **new)
    demand_edit(title=task.title, priority=task.priority)
    demand_labels(task.labels)
    return replace(task, title=task.title.strip())


def demand_edit(**texts: Unpack[TaskEdit]) -> dict[str, Any]:
    """What is to be set, the title without outer spaces; Invalid for what no title or priority can be."""
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
    """What is to be added and removed; Invalid for what can be no label, and for one that is in both."""
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
    """The labels that the task lacks, and its own that have to go; one is the same in capitals."""
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
    """BlockedBy if open tasks stand before a task.

    Args:
        task: the task, as people write it.
        blockers: the ids of the open tasks.
        what: what was not done, as `claimed`.
        mark: what people write before an id that is a number.
    """
    if blockers:
        names = ", ".join(f"{mark}{name}" if name.isdecimal() else name for name in blockers)
        raise errors.BlockedBy(sentence("waits", task=task, names=names, what=what), ids=blockers)


PASSED_OVER = (errors.HeldByAnother, errors.NotClaimable, errors.BlockedBy, errors.NotFound)
"""What a claim says of a task that is not free any more: the next one may be."""


def first_claimed(
    claim: Callable[[Task], Claimed],
    tasks: Iterable[Task],
    held: Callable[[], Container[str]] = frozenset,
) -> Claimed | None:
    """What `claim` gives for the first of the tasks that is still free; None if none is.

    Who was too late was so with others, and all of them would try the same next one. Therefore it is
    then any of those that are as urgent as that one, without those that are `held` by now.
    """
    left = [*tasks]
    which = 0  # of those that are left
    while left:
        try:
            return claim(left.pop(which))
        except PASSED_OVER:
            gone = held() if left else ()
        left = [task for task in left if task.id not in gone]
        if left:
            which = int.from_bytes(urandom(4), "big") % _as_urgent_as_first(left)
    return None


def _as_urgent_as_first(tasks: list[Task]) -> int:
    """How many tasks, from the first on, have its priority."""
    first = tasks[0].priority
    return len([*takewhile(lambda task: task.priority == first, tasks)])


def held(task: str, by: str, since: str = "") -> errors.AlreadyClaimed:
    """The error for a task that is another's; `by` is "" where nobody knows whose."""
    who = by or "somebody else"
    return errors.AlreadyClaimed(sentence("held", task=task, by=who, since=since), by=by)


def with_holders(task: Task, own: Container[str]) -> Task:
    """The task with its assignee as the one who has it, unless that is one of the own names."""
    is_another = task.is_open and task.assignee and task.assignee not in own
    return replace(task, held_by=(task.assignee,) if is_another else ())


def not_claimable(task: str, status: str) -> errors.NotClaimable:
    """The error for a task that is not to be begun; `status` is the tracker's own word."""
    return errors.NotClaimable(sentence("not-claimable", task=task, status=status), status=status)


def is_held(task: Task, actor: str) -> bool:
    """True if the actor has it."""
    return task.status is TaskStatus.IN_PROGRESS and task.assignee == actor


def demand_mine(task: Task, actor: str) -> None:
    """AlreadyClaimed if it is another's."""
    if task.is_open and task.assignee not in ("", actor):
        raise held(task.id, task.assignee)


def demand_claimable(task: Task, actor: str) -> None:
    """AlreadyClaimed, NotClaimable, BlockedBy unless the actor may have it, who does not have it so far."""
    demand_mine(task, actor)
    if task.status not in (TaskStatus.OPEN, TaskStatus.IN_PROGRESS):
        raise not_claimable(task.id, task.raw_status)
    demand_free(task.id, task.blocked_by, "claimed")


def demand_renewable(task: Task, actor: str) -> None:
    """AlreadyClaimed if it is another's, NotClaimable if the actor has no claim on it any more."""
    demand_mine(task, actor)
    if not is_held(task, actor):
        status = task.raw_status
        words = sentence("not-renewed", task=task.id, status=status)
        raise errors.NotClaimable(words, status=status)


def is_listed(task: Task, label: str, status: TaskStatus | None) -> bool:
    """True if a list of this label and status has the task; without a status, one that is not closed."""
    is_of = task.is_open if status is None else task.status is status
    return is_of and has_any(task.labels, (label,) if label else ())


def has_any(labels: Iterable[str], wanted: Iterable[str]) -> bool:
    """True if one of the labels is wanted: by name, or by a beginning that ends with `*`; no case.

    Nothing wanted means that every task will do.
    """
    words = [word.casefold() for word in wanted]
    names = [name.casefold() for name in labels]
    return not words or any(_fits(name, word) for name in names for word in words)


def _fits(name: str, word: str) -> bool:
    return name.startswith(word[:-1]) if word.endswith("*") else name == word
