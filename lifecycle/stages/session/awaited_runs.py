"""Test runs in the background whose end the client has not told yet.

They are written down in `.lifecycle/stages/awaited.json`; the mark `.lifecycle/stage-awaited` has the
moment until which an end is waited for.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from lifecycle.storage import workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles, built

AWAITED = "awaited.json"
PATIENCE = 6 * 3600.0
"""Seconds that the end of a run in the background is waited for."""

_WAITING = 20
"""How many runs are waited for at a time."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """A test run in the background whose end the client has not told yet.

    Attributes:
        at: when it was last seen running, in seconds since the epoch.
        task: the client's id of it.
        command: the whole command line.
        tree: the name of the tree then; "" if that is not known.
        is_here: it runs in this worktree, and nothing but it.
    """

    at: float
    task: str
    command: str
    tree: str
    is_here: bool


def awaited(files: WorkflowFiles) -> tuple[Awaited, ...]:
    """The runs whose end is waited for; none where the file is not there or cannot be understood."""
    listed = files.load(AWAITED)
    try:
        return tuple(built(Awaited, entry) for entry in listed or [])
    except (ValueError, TypeError, KeyError, AttributeError):
        return ()  # their ends are not seen, and the suite is run once more


def wait_for(files: WorkflowFiles, run: Awaited) -> None:
    """Wait for the end of a run. The caller holds the lock."""
    others = [known for known in _live(files, run.at) if known.task != run.task]
    _keep(files, [*others, run][-_WAITING:])


def take(files: WorkflowFiles, task: str, now: float) -> Awaited | None:
    """A run that was waited for and is over; None if it was not, or another took it. Under the lock."""
    live = _live(files, now)
    _keep(files, [waiting for waiting in live if waiting.task != task])
    return next((waiting for waiting in live if waiting.task == task), None)


def _live(files: WorkflowFiles, now: float) -> list[Awaited]:
    return [run for run in awaited(files) if abs(now - run.at) < PATIENCE]


def _keep(files: WorkflowFiles, waiting: list[Awaited]) -> None:
    if not waiting:
        files.sessions.remove(AWAITED)
        files.folder.remove(workflow_marks.AWAITED)
        return
    files.save(AWAITED, [asdict(run) for run in waiting])
    until = int((max(run.at for run in waiting) + PATIENCE) * 1e9)
    files.folder.mark(workflow_marks.AWAITED, until)
