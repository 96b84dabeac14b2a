"""Trackers that break one rule each: every check of the suite has to notice one of them."""
# ruff: noqa: A002, ARG002, D102 -- the methods are the Protocol's, and each class says how it lies

from __future__ import annotations

from typing import Any

from lifecycle.core.errors import Invalid, NotFound
from lifecycle.core.tracker import Note, Task, TaskStatus
from lifecycle.trackers import refusals
from lifecycle.trackers.memory import MemoryTasks, MemoryTracker

OPEN, CLOSED = TaskStatus.OPEN, TaskStatus.CLOSED


class Liar(MemoryTracker):
    """A tracker that keeps every rule; those below break one."""

    @property
    def tasks(self) -> MemoryTasks:
        """The tasks, for lies that reach deeper."""
        return self._tasks

    def set(self, name: str, **changes: Any) -> Task:
        """Change a task past all rules."""
        return self.tasks.change(self.tasks.find(name), **changes)


class Forgetful(Liar):
    """Drops the description of a new task."""

    def create(self, key: str, **more: Any) -> Task:
        return super().create(key, **{**more, "description": ""})


class Silent(Liar):
    """Gives no comments for a task that is not there."""

    def list_comments(self, id: str) -> tuple[Note, ...]:
        return super().list_comments(id) if id in self.tasks.tasks else ()


class Raw(Liar):
    """Raises what its own insides raise."""

    def get(self, id: str, *, holders: bool = False) -> Task:
        return self.tasks.tasks[id]


class Paged(Liar):
    """Gives the first page."""

    def list(self, **asked: Any) -> tuple[Task, ...]:
        return super().list(**asked)[:100]


class Archivist(Liar):
    """Lists closed tasks as well."""

    def list(self, *, label: str = "", status: TaskStatus | None = None) -> tuple[Task, ...]:
        more = super().list(label=label, status=CLOSED) if status is None else ()
        return (*super().list(label=label, status=status), *more)


class Deaf(Liar):
    """Does not hear the status."""

    def list(self, *, label: str = "", status: TaskStatus | None = None) -> tuple[Task, ...]:
        return super().list(label=label)


class Vague(Liar):
    """Takes a label for the beginning of one."""

    def list(self, *, label: str = "", status: TaskStatus | None = None) -> tuple[Task, ...]:
        return super().list(label=f"{label}*" if label else "", status=status)


class Queue(Liar):
    """Gives the oldest first, however urgent others are."""

    def ready(self, *, labels: tuple[str, ...] = ()) -> tuple[Task, ...]:
        return tuple(sorted(super().ready(labels=labels), key=lambda task: int(task.id[4:])))


class Generous(Liar):
    """Calls claimed tasks ready."""

    def ready(self, *, labels: tuple[str, ...] = ()) -> tuple[Task, ...]:
        held = self.list(status=TaskStatus.IN_PROGRESS)
        mine = [task for task in held if set(task.labels) & set(labels)]
        return (*super().ready(labels=labels), *mine)


class Literal(Liar):
    """Knows no families of labels."""

    def ready(self, *, labels: tuple[str, ...] = ()) -> tuple[Task, ...]:
        names = tuple(name for name in labels if not name.endswith("*"))
        return super().ready(labels=names) if names else ()


class Strict(Liar):
    """Wants all labels at once."""

    def ready(self, *, labels: tuple[str, ...] = ()) -> tuple[Task, ...]:
        found = super().ready(labels=labels)
        return tuple(task for task in found if set(labels) <= set(task.labels))


class Picky(Liar):
    """Leaves out what has no label when none was asked for."""

    def ready(self, *, labels: tuple[str, ...] = ()) -> tuple[Task, ...]:
        return tuple(task for task in super().ready(labels=labels) if task.labels)


class Squeezing(Liar):
    """Keeps texts as one line."""

    def edit(self, id: str, **more: Any) -> Task:
        if more.get("description"):
            more["description"] = " ".join(more["description"].split())
        return super().edit(id, **more)


class Parser(Liar):
    """Takes a title for an option."""

    def create(self, key: str, **more: Any) -> Task:
        return super().create(key, **{**more, "title": more["title"].lstrip("-") or "?"})


class Untitled(Liar):
    """Makes a task of any title."""

    def create(self, key: str, **more: Any) -> Task:
        return super().create(key, **{**more, "title": more["title"].strip() or "Untitled"})


class Keyless(Liar):
    """Takes any key."""

    def create(self, key: str, **more: Any) -> Task:
        return super().create(key.replace(" ", "_") or "none", **more)


class Hasty(Liar):
    """Makes a task, and looks at its key then."""

    def create(self, key: str, **more: Any) -> Task:
        made = super().create(
            "".join(key.split()).replace("--", "").replace(">", "") or "x", **more
        )
        refusals.demand_key(key)
        return made


class Upserting(Liar):
    """Writes the second call's title over the first one's."""

    def create(self, key: str, **more: Any) -> Task:
        made = super().create(key, **more)
        return self.set(made.id, title=more["title"])


class Reviving(Liar):
    """Makes a new task where the old one is closed."""

    def create(self, key: str, **more: Any) -> Task:
        made = super().create(key, **more)
        return made if made.is_open else super().create(f"{key}/again", **more)


class Overwriting(Liar):
    """Closes again, with another reason."""

    def close(self, id: str, *, reason: str = "") -> Task:
        closed = super().close(id, reason=reason)
        return self.set(closed.id, close_reason=reason)


class Loyal(Liar):
    """Reopens a task for whoever had it."""

    def reopen(self, id: str) -> Task:
        before = self.get(id)
        super().reopen(id)
        return self.set(id, assignee=before.assignee)


class Resetting(Liar):
    """Reopens what is open."""

    def reopen(self, id: str) -> Task:
        return self.set(id, status=OPEN, raw_status="open", assignee="", close_reason="")


class Sweeping(Liar):
    """Clears the description with the title."""

    def edit(self, id: str, **more: Any) -> Task:
        if "title" in more:
            more.setdefault("description", "")
        return super().edit(id, **more)


class Restless(Liar):
    """Counts an edit without a change."""

    def edit(self, id: str, **more: Any) -> Task:
        self.tasks.writes += 1
        return super().edit(id, **more)


class Truthy(Liar):
    """Takes an empty description for none at all."""

    def edit(self, id: str, **more: Any) -> Task:
        return super().edit(id, **{**more, "description": more.get("description") or None})


class Adding(Liar):
    """Never takes a label off."""

    def edit_labels(self, id: str, **more: Any) -> Task:
        return super().edit_labels(id, add=more.get("add", ()))


class Undecided(Liar):
    """Adds, then removes."""

    def edit_labels(self, id: str, **more: Any) -> Task:
        super().edit_labels(id, add=more.get("add", ()))
        return super().edit_labels(id, remove=more.get("remove", ()))


class Anything(Liar):
    """Takes anything for a label."""

    def edit_labels(self, id: str, **more: Any) -> Task:
        try:
            return super().edit_labels(id, **more)
        except Invalid:
            return self.get(id)


class Shortening(Liar):
    """Takes a label for an option."""

    def edit_labels(self, id: str, **more: Any) -> Task:
        names = tuple(name.lstrip("-") for name in more.get("add", ()))
        return super().edit_labels(id, **{**more, "add": names})


class Chatty(Liar):
    """Posts a comment at each call."""

    def comment(self, id: str, key: str, text: str) -> Note:
        return super().comment(id, f"{key}/{self.tasks.writes}", text)


class Lost(Liar):
    """Loses what it was asked to find."""

    def get(self, id: str, *, holders: bool = False) -> Task:
        raise NotFound("")
