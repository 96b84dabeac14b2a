"""One check with its own tasks, and the words in which it says what is wrong."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from typing import Any, Protocol, TypeVar

from lifecycle.core.errors import Lacking, LifecycleError
from lifecycle.core.tracker import Atomicity, Capability, Task, TaskStatus, Tracker

Refusal = TypeVar("Refusal", bound=LifecycleError)
Verb = Callable[..., object]


class Ground(Protocol):
    """A place with its own database, on which trackers are opened for several actors.

    The checks make their own tasks and labels and leave them there. They also work in threads, so `tracker`
    is called from several at once.
    """

    def tracker(self, actor: str) -> Tracker:
        """A new tracker on the same tasks, in the name of this actor: `agent-1`, `agent-2`, ….

        The tracker may use other names, if each actor always has the same one, and no two share one.
        """

    def holder(self, actor: str) -> str:
        """The value of `Task.assignee` while this actor holds a task."""

    def writes(self) -> int | None:
        """The number of writes so far, or any other number that a write changes.

        None if it cannot be seen: then the suite compares only the tasks.
        """

    def later(self, seconds: float) -> bool:
        """Let this time pass for the tracker; False if that is not possible."""


Factory = Callable[[], AbstractContextManager[Ground]]
"""The type of the function that is named on the command line."""


class Broken(Exception):
    """The tracker breaks a rule; the text says which and how."""


class NotHere(Exception):
    """The check does not apply: the tracker, or the ground, lacks something."""


def demand(is_kept: bool, words: str) -> None:
    """Raise Broken unless the rule is kept."""
    if not is_kept:
        raise Broken(words)


def same(shown: object, wanted: object, what: str) -> None:
    """Raise Broken unless both are equal."""
    demand(shown == wanted, f"{what} is {shown!r} and should be {wanted!r}")


def refused(kind: type[Refusal], what: str, verb: Verb, *given: Any, **more: Any) -> Refusal:
    """The error of this kind that the call raises; Broken unless it does, with one sentence for people."""
    try:
        verb(*given, **more)
    except kind as error:
        name = type(error).__name__
        demand(bool(error.sentence.strip()), f"{what} raises {name} without a sentence")
        return error
    except LifecycleError as error:
        raised = f"raises {type(error).__name__} instead of {kind.__name__}"
        raise Broken(f"{what} {raised}: {error.sentence}") from error
    raise Broken(f"{what} raises nothing; {kind.__name__} was due")


class CheckCase:
    """One run of one check.

    Attributes:
        ground: the given one.
        nonce: makes this run's labels, keys and titles unique.
        label: a label that only tasks of this check have.
        one, two: trackers of two actors.
    """

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.nonce = secrets.token_hex(5)
        self.label = f"suite-{self.nonce}"
        self.one, self.two = self.tracker(1), self.tracker(2)
        self._numbers = count(1)

    def tracker(self, number: int) -> Tracker:
        """A new tracker in the name of this actor."""
        return self.ground.tracker(f"agent-{number}")

    def holder(self, number: int) -> str:
        """The assignee that a task shows if this actor holds it."""
        return self.ground.holder(f"agent-{number}")

    def key(self) -> str:
        """A key that was never used."""
        return f"{self.nonce}/{next(self._numbers)}"

    def make(self, title: str = "A task", **more: Any) -> Task:
        """A new task with the check's label."""
        labels = (self.label, *more.pop("labels", ()))
        return self.one.create(self.key(), title=title, labels=labels, **more)

    def claimed(self) -> Task:
        """A new task in its state before the first actor claimed it."""
        made = self.make()
        self.one.claim(made.id)
        return made

    def listed(self) -> list[str]:
        """The ids in another actor's `list` for the check's label, in its order."""
        return [task.id for task in self.two.list(label=self.label)]

    def ready(self, *labels: str) -> list[str]:
        """The ids in another actor's `ready`, for the check's label unless others are given."""
        tasks = self.two.ready(labels=labels or (self.label,))
        is_said = all(task.is_ready for task in tasks)
        demand(is_said, "a task that is given as ready does not say so")
        return [task.id for task in tasks]

    def stands(self, task: Task, status: TaskStatus, assignee: str) -> None:
        """Raise Broken unless the task has this status and assignee."""
        same(task.status, status, "the status")
        same(task.assignee, assignee, "the assignee")

    def blocked(self) -> tuple[Task, Task]:
        """A new task, and a new one that it waits for; raises NotHere without dependencies."""
        self.need(Capability.DEPENDENCIES)
        made, blocker = self.make(), self.make()
        self.one.add_dependency(made.id, blocker.id)
        return made, blocker

    def need(self, capability: Capability) -> None:
        """Raise NotHere unless the tracker has the capability."""
        if not self.one.abilities().has(capability):
            raise NotHere(f"it lacks {capability}")

    def need_cas(self) -> None:
        """Raise NotHere if the tracker does not promise that one of two claims wins."""
        atomicity = self.one.abilities().claim_atomicity
        if atomicity in (Atomicity.NONE, Atomicity.ADVISORY):
            raise NotHere(f"its claims are {atomicity}")

    def writes_nothing(self, what: str, verb: Verb, *given: Any, **more: Any) -> None:
        """Raise Broken if the call visibly changes any of this check's tasks."""
        before = self._seen()
        verb(*given, **more)
        demand(self._seen() == before, f"{what} wrote something")

    def lacks(self, capability: Capability, verb: Verb, *given: Any) -> None:
        """Raise Broken unless the call raises Lacking, with the capability's name; NotHere with it."""
        if self.one.abilities().has(capability):
            raise NotHere(f"it has {capability}")
        error = refused(Lacking, f"a call without {capability}", verb, *given)
        same(error.capability, capability, "the capability")

    def _seen(self) -> object:
        listed = self.one.list(label=self.label)
        closed = self.one.list(label=self.label, status=TaskStatus.CLOSED)
        tasks = [(self.one.get(t.id), self.one.list_comments(t.id)) for t in (*listed, *closed)]
        return self.ground.writes(), listed, closed, tasks


def plain(text: str) -> str:
    """A text without the parts that trackers may change: line ends and outer spaces."""
    return "\n".join(line.rstrip() for line in text.strip().replace("\r\n", "\n").split("\n"))


Check = Callable[[CheckCase], None]
"""A rule: the function's name states it, its docstring explains it."""
