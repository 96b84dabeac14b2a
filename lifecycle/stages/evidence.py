"""Test runs that were seen in this worktree, each with its outcome and the tree that it ran on.

They are kept in `.lifecycle/stages/runs.json`, the newest last. Whoever ran the tests, what counts is
the tree: a run says as much for every session that works on the same files.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from lifecycle.redact import redact, short
from lifecycle.stages.shelf import Shelf

RUNS = "runs.json"
KEPT = 40
"""How many runs are remembered."""

_SHOWN = 200


class Ended(StrEnum):
    """How a test run ended, in the journal's words."""

    GREEN = "green"
    RED = "red"
    UNKNOWN = "unknown"


class Standing(StrEnum):
    """What the runs that were seen say of the tree as it is."""

    GREEN = "green"
    """The last one on this very tree was green."""
    RED = "red"
    """The last one was not green, and no green one on this tree came after it."""
    CHANGED = "changed"
    """The last green one was on another tree: files were changed since."""
    NONE = "none"
    """No test run was seen."""


@dataclass(frozen=True, slots=True)
class Run:
    """One test run.

    Attributes:
        at: when it ended, in seconds since the epoch.
        command: what was run, shortened, without secrets.
        outcome: how it ended.
        tree: the name of the tree right after it; "" if that is not known.
        id: the client's id of the tool call; a second copy of one event is no second run.
    """

    at: float
    command: str
    outcome: Ended
    tree: str
    id: str = ""


def standing(runs: tuple[Run, ...], tree: str) -> Standing:
    """What the runs, oldest first, say of this tree; one of an unknown outcome says nothing."""
    told = [run for run in runs if run.outcome is not Ended.UNKNOWN]
    here = [run for run in told if run.tree == tree and tree]
    if here and here[-1].outcome is Ended.GREEN:
        return Standing.GREEN
    if not told:
        return Standing.NONE
    return Standing.CHANGED if told[-1].outcome is Ended.GREEN else Standing.RED


def load(shelf: Shelf) -> tuple[Run, ...]:
    """The runs that are remembered; none where the file is not there or is not ours to understand."""
    listed = shelf.load(RUNS)
    try:
        return tuple(_run(entry) for entry in listed or [])
    except (ValueError, TypeError, KeyError, AttributeError):
        return ()  # it is learned again with the next run


def add(shelf: Shelf, run: Run) -> bool:
    """Remember a run; False if it is remembered already. The caller holds the lock."""
    runs = load(shelf)
    if run.id and any(run.id == known.id for known in runs):
        return False
    shelf.save(RUNS, [asdict(one) for one in [*runs, _short(run)][-KEPT:]])
    return True


def _short(run: Run) -> Run:
    command = short(redact(" ".join(run.command.split())), _SHOWN)
    return Run(run.at, command, run.outcome, run.tree, run.id)


def _run(entry: dict[str, Any]) -> Run:
    outcome = Ended(entry["outcome"])
    command, tree, call = (str(entry[name]) for name in ("command", "tree", "id"))
    return Run(float(entry["at"]), command, outcome, tree, call)
