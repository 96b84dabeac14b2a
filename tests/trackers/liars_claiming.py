"""Trackers that lie about who has a task, and about what waits for what."""
# ruff: noqa: A002, D102 -- the methods are the Protocol's, and each class says how it lies

from __future__ import annotations

from dataclasses import replace

from lifecycle.core.errors import AlreadyClaimed, BlockedBy, Invalid
from lifecycle.core.tracker import Abilities, Atomicity, Task, TaskStatus, Wording
from lifecycle.trackers.memory import MemoryTasks
from tests.trackers.liars import CLOSED, OPEN, Liar


class Anonymous(Liar):
    """Does not say who has it."""

    def claim(self, id: str) -> Task:
        return replace(super().claim(id), assignee="")


class Jealous(Liar):
    """Refuses whoever has it already."""

    def claim(self, id: str) -> Task:
        if self.get(id).assignee == self.actor:
            raise AlreadyClaimed("It is taken.", by=self.actor)
        return super().claim(id)


class Stealing(Liar):
    """Gives a task to whoever comes last."""

    def claim(self, id: str) -> Task:
        super().get(id)
        if self.get(id).assignee:
            return self.set(id, assignee=self.actor)
        return super().claim(id)


class Blind(Liar):
    """Says of no task that another has it."""

    def get(self, id: str, *, holders: bool = False) -> Task:
        del holders
        return super().get(id)


class Undead(Liar):
    """Claims what is closed."""

    def claim(self, id: str) -> Task:
        if not self.get(id).is_open:
            return self.set(id, status=OPEN)
        return super().claim(id)


class Impatient(Liar):
    """Claims what is blocked."""

    def claim(self, id: str) -> Task:
        try:
            return super().claim(id)
        except BlockedBy:
            self.tasks.ends[id] = self.tasks.now() + 60
            return self.set(id, status=TaskStatus.IN_PROGRESS, assignee=self.actor)


class Clinging(Liar):
    """Leaves the name of whoever gave a task back."""

    def release(self, id: str) -> Task:
        super().release(id)
        return self.set(id, assignee=self.actor)


class Busy(Liar):
    """Writes a release that changes nothing."""

    def release(self, id: str) -> Task:
        self.tasks.writes += 1
        return super().release(id)


class Robbing(Liar):
    """Gives back what another has."""

    def release(self, id: str) -> Task:
        if self.get(id).is_open:
            return self.set(id, status=OPEN, raw_status="open", assignee="")
        return super().release(id)


class Opening(Liar):
    """Opens what it gives back."""

    def release(self, id: str) -> Task:
        super().release(id)
        return self.set(id, status=OPEN, raw_status="open", assignee="")


class Greedy(Liar):
    """Gives the next task twice."""

    def claim_next(self, *, labels: tuple[str, ...] = ()) -> Task | None:
        found = super().claim_next(labels=labels)
        if found is not None and self.tasks.writes % 2:
            self.set(found.id, status=OPEN, raw_status="open", assignee="")
        return found


class Backwards(Liar):
    """Gives the last task first."""

    def claim_next(self, *, labels: tuple[str, ...] = ()) -> Task | None:
        found = self.ready(labels=labels)
        return self.claim(found[-1].id) if found else None


class Kind(Liar):
    """Renews for anybody."""

    def renew(self, id: str) -> Task:
        try:
            return super().renew(id)
        except AlreadyClaimed:
            return self.get(id)


class Endless(Liar):
    """Says that claims end, and they do not."""

    def claim(self, id: str) -> Task:
        found = super().claim(id)
        self.tasks.ends[id] = float("inf")
        return found


class Leaseless(Liar):
    """Has no leases, and renews."""

    def abilities(self) -> Abilities:
        return Abilities(Atomicity.LOCAL_CAS, frozenset())


class Remembering(Liar):
    """Waits for what is closed."""

    def get(self, id: str, *, holders: bool = False) -> Task:
        task = super().get(id, holders=holders)
        return replace(task, blocked_by=self.tasks.blockers.get(id, ()))


class Forcing(Liar):
    """Closes what is blocked."""

    def close(self, id: str, *, reason: str = "") -> Task:
        try:
            return super().close(id, reason=reason)
        except BlockedBy:
            return self.set(id, status=CLOSED, raw_status="closed", closed_at=1.0)


class Repeating(Liar):
    """Writes a dependency again."""

    def add_dependency(self, id: str, blocker: str) -> Task:
        self.tasks.writes += 1
        return super().add_dependency(id, blocker)


class Circling(Liar):
    """Lets tasks wait for each other."""

    def add_dependency(self, id: str, blocker: str) -> Task:
        try:
            return super().add_dependency(id, blocker)
        except Invalid:
            return self.get(id)


class Publisher(Liar):
    """Publishes to nowhere."""

    def publish(self) -> None:
        """Nothing, and no word."""


class Nameless(Liar):
    """Gives all agents one name."""

    def __init__(self, tasks: MemoryTasks, actor: str) -> None:
        del actor
        super().__init__(tasks, "agent")


class Wordless(Liar):
    """Has commands that name no task."""

    def wording(self) -> Wording:
        return replace(super().wording(), close="close it")
