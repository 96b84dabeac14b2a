"""How long a command waits for the lock on a run or on workflows while other processes take their turns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.run import run_store
from lifecycle.storage import store
from lifecycle.workflow.store import workflow_store

Taken = Callable[[Path], AbstractContextManager[object]]


def of_run(root: Path) -> AbstractContextManager[object]:
    """The lock on a run's files, as a command takes it."""
    return run_store.RunStore(root, {}, Deadline.after(SystemClock(), 59)).locked()


def of_workflows(root: Path) -> AbstractContextManager[object]:
    """The lock on the workflows' files, as a command takes it."""
    return workflow_store.WorkflowStore(root, {}, Deadline.after(SystemClock(), 59)).changing()


class Slowly:
    """The time of a machine on which each pause takes a second; after twenty of them the lock is free."""

    def __init__(self, held: ExitStack) -> None:
        self.held, self.passed = held, 0

    def monotonic(self) -> float:
        """The seconds that passed."""
        return float(self.passed)

    def sleep(self, _: float) -> None:
        """One pause."""
        self.passed += 1
        if self.passed == 20:
            self.held.close()


@pytest.mark.parametrize("taken", [of_run, of_workflows])
def test_a_lock_that_many_want_is_waited_for_while_there_is_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: Taken
) -> None:
    """On a busy machine the last of many had waited five seconds, and was refused with time left."""
    held = ExitStack()
    held.enter_context(taken(tmp_path))
    machine = Slowly(held)
    monkeypatch.setattr(store, "time", machine)
    with taken(tmp_path):
        assert machine.passed == 20
