"""Test runs that were seen in this worktree, each with its outcome and the tree that it ran on.

They are kept in `.lifecycle/stages/runs.json`, the newest last. A run counts for the tree that it ran
on, whoever started it: sessions that work on the same files share it.

A run in the background is written down in `.lifecycle/stages/awaited.json` until the client tells of its
end; the mark `.lifecycle/stage-awaited` has the moment until which that is waited for.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from lifecycle.core.redact import redact, short
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.test_runs import Evidence
from lifecycle.storage import workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles, built

RUNS = "runs.json"
AWAITED = "awaited.json"
KEPT = 40
"""How many runs are remembered."""

PATIENCE = 6 * 3600.0
"""Seconds that the end of a run in the background is waited for."""

_WAITING = 20
"""How many runs are waited for at a time."""

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class SeenRun:
    """One test run.

    Attributes:
        at: when it ended, in seconds since the epoch.
        command: what was run, shortened, without secrets.
        outcome: how it ended.
        tree: the name of the tree right after it; "" if that is not known, or changed while it ran.
        id: the client's id of the tool call; a second copy of one event is no second run.
    """

    at: float
    command: str
    outcome: Outcome
    tree: str
    id: str = ""


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


def standing(runs: tuple[SeenRun, ...], tree: str) -> Evidence:
    """What the runs, oldest first, say of this tree; one of an unknown outcome proves nothing."""
    silent = (Outcome.UNKNOWN, Outcome.NOTHING_RAN)
    ended = [run for run in runs if run.outcome not in silent]
    here = [run for run in ended if run.tree == tree and tree]
    if here and here[-1].outcome is Outcome.PASSED:
        return Evidence.GREEN
    if not runs:
        return Evidence.MISSING
    if runs[-1].outcome in silent:
        return Evidence.NOTHING if runs[-1].outcome is Outcome.NOTHING_RAN else Evidence.UNKNOWN
    return Evidence.CHANGED if ended[-1].outcome is Outcome.PASSED else Evidence.RED


def load(files: WorkflowFiles) -> tuple[SeenRun, ...]:
    """The runs that are remembered; none where the file is not there or is not ours to understand."""
    listed = files.load(RUNS)
    try:
        return tuple(built(SeenRun, entry, outcome=Outcome) for entry in listed or [])
    except (ValueError, TypeError, KeyError, AttributeError):
        return ()  # it is learned again with the next run


def add(files: WorkflowFiles, run: SeenRun) -> bool:
    """Remember a run; False if it is remembered already. The caller holds the lock."""
    runs = load(files)
    if run.id and any(run.id == known.id for known in runs):
        return False
    added = replace(run, command=shown(run.command))
    files.save(RUNS, [asdict(known) for known in (*runs, added)[-KEPT:]])
    return True


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


def shown(command: str) -> str:
    """A command line as it is kept and shown: one line, shortened, without secrets."""
    return short(redact(" ".join(command.split())), _SHOWN)
