"""A worktree whose tasks are kept in memory, and one of them is linked to issue 42: what tests do there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lifecycle.api import Wake
from lifecycle.core.errors import Busy
from lifecycle.core.tracker import Task
from lifecycle.trackers.memory import MemoryTracker
from tests.conftest import Place

WRITES = ("claim", "close", "release")
NOTHING = "nothing"
INSIDE = tuple((MemoryTracker, name) for name in WRITES)


def tracker_of(place: Place, actor: str = "somebody") -> MemoryTracker:
    """The inner tracker, spoken to as somebody."""
    found = place.tree().world.inner_as(actor)
    assert isinstance(found, MemoryTracker)
    return found


def writes(place: Place) -> int:
    """How often anything was changed inside."""
    return tracker_of(place)._tasks.writes


def inside(place: Place) -> Task:
    """The linked task as it is."""
    return tracker_of(place).get("mem-1")


@contextmanager
def failing(
    verb: str, error: Callable[[], Exception], *, after: bool = False
) -> Iterator[list[str]]:
    """While it lasts a verb of the inner tracker fails, before or after it has done its work."""
    seen = list[str]()
    if verb == NOTHING:
        yield seen
        return
    real = getattr(MemoryTracker, verb)

    def staged(self: MemoryTracker, *args: Any, **kwargs: Any) -> Any:
        seen.append(verb)
        if after:
            real(self, *args, **kwargs)
        raise error()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryTracker, verb, staged)
        yield seen


def linked_as(place: Place) -> str:
    """What the claim last knew of the linked task."""
    record = place.tree().status()
    assert record is not None
    assert record.linked.link is not None
    return record.linked.link.synced


def busy() -> Busy:
    """The tracker's database is in use."""
    return Busy("The database is locked.")


def leases(place: Place) -> list[str]:
    """The leases on the remote."""
    return [ref for ref in place.control.world()["refs"] if ref.startswith("refs/agent-claims/")]


def merged(place: Place) -> int:
    """The claim of 42 was handed off, its PR merged, and the user says yes; the PR's number."""
    tree = place.tree()
    branch = tree.claim(42).record.claim.branch
    place.work(branch)
    tree.hand_off("Fix the race")
    tree.tick(Wake.STOP)
    number = place.pull()
    place.control.merge_pull(number)
    place.write(phase="done")
    return number


def claim(place: Place) -> None:
    """Somebody claims the issue."""
    place.tree().claim(42)


def give_back(place: Place) -> None:
    """Somebody gives it back."""
    place.tree().release("enough")


def look(place: Place) -> None:
    """A hook looks, some minutes later."""
    place.clock.sleep(130)
    place.tree().tick(Wake.STOP)
