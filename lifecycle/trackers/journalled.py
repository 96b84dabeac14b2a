"""The one place from which a tracker's writes come into the journal, whoever asked for them.

The claim's own writes of a linked task are the claim's, and noted there (`claim/record/journalling.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from lifecycle.core.ports import Clock
from lifecycle.core.tracker import Note, Task, Tracker
from lifecycle.storage import journal, journal_entry
from lifecycle.trackers.registry import GITHUB

WRITES = {
    "create": "task",
    "claim": "claim",
    "claim_next": "claim",
    "release": "given back",
    "close": "closed",
    "reopen": "reopened",
    "edit": "text",
    "edit_labels": "labels",
    "comment": "comment",
    "add_dependency": "dependency",
    "publish": "published",
}
"""The verbs that change something that people see, and what the journal calls that. Renewing a claim is
no news."""


def noting(tracker: Tracker, root: Path, clock: Clock, session: str = "") -> Tracker:
    """The same tracker; from now on each of its writes that came about is a line in the journal.

    A write that found everything as it was wanted has the key of the one that made it so, and is none.

    Args:
        tracker: is changed, and keeps its type: whoever asks what it is gets the same answer as before.
        root: of the worktree whose clone keeps the journal.
        clock: time.
        session: the client's session, or "".
    """

    def noted(name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(verb)
        def run(*args: Any, **kwargs: Any) -> Any:
            made = verb(*args, **kwargs)
            if made is not None or name == "publish":
                task = made if isinstance(made, Task) else None
                named = task.id if task is not None else str(args[0]) if args else ""
                journal.note(
                    root,
                    journal_entry.JournalEntry(
                        clock.now(),
                        journal.TRACKER,
                        journal.WRITE,
                        task=f"#{named}" if named and tracker.name == GITHUB else named,
                        actor=tracker.actor,
                        session=session,
                        target=WRITES[name],
                        key=_key(tracker.name, name, named, made),
                        detail={"tracker": tracker.name},
                    ),
                )
            return made

        return run

    for name in WRITES:
        setattr(tracker, name, noted(name, getattr(tracker, name)))
    return tracker


def _key(tracker: str, verb: str, task: str, made: object) -> str:
    """What the same write has again, or "" where nothing tells it from the next one."""
    start = f"{tracker}:{task}/{WRITES[verb]}"  # taking the next one is made of taking one
    if verb == "create":
        return start
    if isinstance(made, Note):
        return f"{start}/{made.id}"
    if isinstance(made, Task) and made.updated_at is not None:
        return f"{start}/{made.updated_at}"
    return ""
