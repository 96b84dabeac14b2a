"""What the suite needs of whoever brings a tracker."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from lifecycle.core.tracker import Tracker


class Ground(Protocol):
    """A place with a database of its own, on which trackers are opened for several actors.

    The checks make their own tasks and labels and leave them there. They work in threads as well, so
    `tracker` is called from several at once.
    """

    def tracker(self, actor: str) -> Tracker:
        """A new tracker on the same tasks, in the name of this actor: `agent-1`, `agent-2`, ….

        The tracker may call the actor otherwise, if it is always the same, and another for each.
        """
        ...

    def holder(self, actor: str) -> str:
        """What `Task.assignee` says while this actor holds a task."""
        ...

    def writes(self) -> int | None:
        """How many writes there were so far, or anything else that a write changes.

        None if it cannot be seen: then the suite compares the tasks alone.
        """
        ...

    def later(self, seconds: float) -> bool:
        """Let this time pass for the tracker; False if that cannot be done."""
        ...


Factory = Callable[[], AbstractContextManager[Ground]]
"""What is named on the command line."""
