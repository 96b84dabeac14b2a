"""Tasks in memory: the reference for the meaning of each verb, and a tracker for tests and trials.

All actors share one `MemoryTasks`. Every verb holds its lock from the first read to the last change, so
each verb is one step for all others. A claim ends after `lease_seconds` unless it is renewed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

from lifecycle.core import tracker
from lifecycle.core.errors import NotFound
from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.tracker import Abilities, Atomicity, Capability, Note, Task, TaskStatus, Wording
from lifecycle.trackers import refusals
from lifecycle.trackers.registry import OWN_COMMANDS, TrackerPlace

LEASE_SECONDS = 3600.0
_FREE: dict[str, Any] = {"status": TaskStatus.OPEN, "raw_status": "open", "assignee": ""}
_HELD: dict[str, Any] = {"status": TaskStatus.IN_PROGRESS, "raw_status": "in_progress"}
_CLOSED: dict[str, Any] = {"status": TaskStatus.CLOSED, "raw_status": "closed"}


@dataclass
class MemoryTasks:
    """The tasks that trackers of several actors share.

    Attributes:
        now: returns the time, in seconds since the epoch.
        lease_seconds: how long a claim lasts unless it is renewed.
        writes: the number of changes; setting a value that is there already does not count.
    """

    now: Callable[[], float]
    lease_seconds: float = LEASE_SECONDS
    writes: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    tasks: dict[str, Task] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    blockers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: dict[str, dict[str, Note]] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)

    def find(self, name: str) -> Task:
        """The present task; if its claim expired, it is unassigned. NotFound."""
        task = self.tasks.get(name)
        if task is None:
            raise NotFound(refusals.sentence("memory-has-none", name=name))
        if task.status is TaskStatus.IN_PROGRESS and self.ends[name] <= self.now():
            task = self.tasks[name] = replace(task, **_FREE)
        blockers = self.blockers.get(name, ())
        still_open = tuple(blocker for blocker in blockers if self.tasks[blocker].is_open)
        return replace(task, blocked_by=still_open)

    def change(self, task: Task, **changes: Any) -> Task:
        """Set these attributes, also of a new task; if nothing changes, that is not a write."""
        changed = replace(task, **changes)
        if changed != task:
            self.writes += 1
            self.tasks[changed.id] = replace(changed, updated_at=self.now())
        return self.find(changed.id)

    def all(self) -> list[Task]:
        """Every task, by urgency."""
        with self.lock:
            return sorted(map(self.find, self.tasks), key=lambda task: task.urgency)

    def is_behind(self, name: str, other: str) -> bool:
        """True if `name` is `other`, or is blocked by it, directly or through other tasks."""
        blockers = self.blockers.get(name, ())
        return name == other or any(self.is_behind(blocker, other) for blocker in blockers)


_PROCESS: dict[Path, MemoryTasks] = {}
"""The tasks of each worktree, for as long as this process lives."""


def open_tracker(place: TrackerPlace) -> MemoryTracker:
    """The tasks of this worktree, shared by all trackers that are opened in this process."""
    tasks = _PROCESS.setdefault(place.hub.root.resolve(), MemoryTasks(place.hub.clock.now))
    return MemoryTracker(tasks, place.actor())


class MemoryTracker:
    """Fits `tracker.Tracker`.

    Args:
        tasks: the tasks that all actors share.
        actor: the acting name.
    """

    name = "memory"

    def __init__(self, tasks: MemoryTasks, actor: str) -> None:
        self._tasks = tasks
        self.actor = actor

    def abilities(self) -> Abilities:
        """Everything but publishing, among the actors that share the object."""
        return Abilities(Atomicity.LOCAL_CAS, frozenset(Capability) - {Capability.PUBLISH})

    def wording(self) -> Wording:
        """The product's own commands."""
        return OWN_COMMANDS

    def get(self, id: str, *, holders: bool = False) -> Task:  # noqa: A002 -- the Protocol's word
        """One task; NotFound."""
        with self._found(id) as task:
            return refusals.with_holders(task, (self.actor,)) if holders else task

    def list(self, *, label: str = "", status: TaskStatus | None = None) -> tuple[Task, ...]:
        """Every task with this label and status; without a status, all that are not closed."""
        return tuple(task for task in self._tasks.all() if refusals.is_listed(task, label, status))

    def ready(self, *, labels: tuple[str, ...] = ()) -> tuple[Task, ...]:
        """The tasks that could be begun now, by urgency."""
        ready = (task for task in self._tasks.all() if task.is_ready)
        return tuple(task for task in ready if refusals.has_any(task.labels, labels))

    def create(self, key: str, **new: Unpack[tracker.NewTask]) -> Task:
        """Create the task of this key, or return the existing one; Invalid."""
        task = refusals.demand_new(key, **new)
        tasks = self._tasks
        with tasks.lock:
            if key in tasks.keys:
                return tasks.find(tasks.keys[key])
            name, now = f"mem-{len(tasks.tasks) + 1}", tasks.now()
            tasks.keys[key] = name
            labels = tuple(dict.fromkeys(task.labels))
            return tasks.change(task, id=name, labels=labels, created_at=now)

    def claim(self, id: str) -> Task:  # noqa: A002
        """Make the task the actor's; AlreadyClaimed, NotClaimable, BlockedBy, NotFound."""
        with self._found(id) as task:
            if refusals.is_held(task, self.actor):
                return task
            refusals.demand_claimable(task, self.actor)
            self._tasks.ends[id] = self._tasks.now() + self._tasks.lease_seconds
            return self._tasks.change(task, **_HELD, assignee=self.actor)

    def claim_next(self, *, labels: tuple[str, ...] = ()) -> Task | None:
        """Claim the first task of `ready`, in one step; None if there is none."""
        with self._tasks.lock:
            ready = self.ready(labels=labels)
            return self.claim(ready[0].id) if ready else None

    def renew(self, id: str) -> Task:  # noqa: A002
        """Extend the actor's claim by another `lease_seconds`; AlreadyClaimed, NotClaimable."""
        with self._found(id) as task:
            refusals.demand_renewable(task, self.actor)
            self._tasks.ends[id] = self._tasks.now() + self._tasks.lease_seconds
            return self._tasks.change(task)

    def release(self, id: str) -> Task:  # noqa: A002
        """Unassign and open the task; a closed one stays closed. AlreadyClaimed."""
        with self._found(id) as task:
            refusals.demand_mine(task, self.actor)
            return self._tasks.change(task, **_FREE) if task.is_open else task

    def close(self, id: str, *, reason: str = "") -> Task:  # noqa: A002
        """Close the task; a closed one keeps its reason. BlockedBy."""
        with self._found(id) as task:
            if not task.is_open:
                return task
            refusals.demand_free(task.id, task.blocked_by, "closed")
            now = self._tasks.now()
            return self._tasks.change(task, **_CLOSED, close_reason=reason, closed_at=now)

    def reopen(self, id: str) -> Task:  # noqa: A002
        """Open the task, unassigned; one that is not closed stays as it is."""
        with self._found(id) as task:
            if task.is_open:
                return task
            return self._tasks.change(task, **_FREE, close_reason="", closed_at=None)

    def edit(self, id: str, **texts: Unpack[tracker.TaskEdit]) -> Task:  # noqa: A002
        """Set the task's texts and its priority; Invalid."""
        changes = refusals.demand_edit(**texts)
        with self._found(id) as task:
            return self._tasks.change(task, **changes)

    def edit_labels(self, id: str, **labels: Unpack[tracker.LabelEdit]) -> Task:  # noqa: A002
        """Add and remove labels; Invalid."""
        edit = refusals.demand_label_edit(**labels)
        with self._found(id) as task:
            new, gone = refusals.label_changes(task, *edit)
            kept = [name for name in task.labels if name not in gone]
            return self._tasks.change(task, labels=(*kept, *new))

    def comment(self, id: str, key: str, text: str) -> Note:  # noqa: A002
        """Post the comment of this key once; an existing one keeps its text."""
        refusals.demand_key(key)
        with self._found(id):
            notes = self._tasks.notes.setdefault(id, {})
            if key not in notes:
                self._tasks.writes += 1
                notes[key] = Note(f"{id}.{len(notes) + 1}", self.actor, text, self._tasks.now())
            return notes[key]

    def list_comments(self, id: str) -> tuple[Note, ...]:  # noqa: A002
        """All comments, the oldest first."""
        with self._found(id):
            return tuple(self._tasks.notes.get(id, {}).values())

    def add_dependency(self, id: str, blocker: str) -> Task:  # noqa: A002
        """Make the task blocked by another task; Invalid for a circle."""
        with self._found(id) as task:
            self._tasks.find(blocker)
            if self._tasks.is_behind(blocker, id):
                raise refusals.circle(id, blocker)
            before = self._tasks.blockers.get(id, ())
            if blocker not in before:
                self._tasks.writes += 1
                self._tasks.blockers[id] = (*before, blocker)
            return self._tasks.find(task.id)

    def publish(self) -> None:
        """Raise Lacking: nobody else reads this memory."""
        raise refusals.lacking(Capability.PUBLISH, "memory-is-nowhere-else")

    @contextmanager
    def _found(self, name: str) -> Iterator[Task]:
        """The present task, while nobody else can change any; NotFound."""
        with self._tasks.lock:
            yield self._tasks.find(name)
