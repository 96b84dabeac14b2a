"""Which of a worktree's sessions a task is held by, and whether that one is over.

An agent without a name of its own is called by its session (`actor_digits.seat_of`), so a session that
begins anew is another agent, and what the earlier one held would be held for ever. It may be taken over
once that session is known to be over: its client's process is gone, or its client leads this session
by now, as after `/clear`. What nobody knows to be over is left to a person's word (`--force`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lifecycle.core.tracker import Task
from lifecycle.stages.session import session_record as sessions
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.storage import signs_of_life
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.trackers import own_commands

_SEAT = re.compile(r"-(\d{12})$")


@dataclass(frozen=True, slots=True)
class Seat:
    """An earlier session of this worktree.

    Attributes:
        session: the client's id of it.
        is_over: it is known that nobody goes on with it.
    """

    session: str
    is_over: bool


def of(root: Path, holder: str, session: str, client: int = 0) -> Seat | None:
    """The other session of this worktree in whose name a task is held; None if none is known to be it.

    Args:
        root: the worktree's root folder.
        holder: who has the task, as the tracker writes it.
        session: who asks.
        client: the process id of that one's client; 0 leaves it to what is kept of it.
    """
    match = _SEAT.search(holder)
    if match is None:
        return None
    known = sessions.all_of(WorkflowFiles(root))
    own = client or next((kept.client for kept in known if session and kept.session == session), 0)
    others = (kept for kept in known if kept.session not in ("", session))
    mine = (kept for kept in others if own_commands.seat_in(root, kept.session) == match[1])
    found = next(mine, None)
    return Seat(found.session, _is_over(found, own)) if found is not None else None


def left(root: Path, tasks: Iterable[Task], session: str, client: int = 0) -> tuple[Task, ...]:
    """Of these tasks, the open ones that a session of this worktree held which is over by now."""
    held = (task for task in tasks if task.is_open and task.assignee)
    return tuple(task for task in held if _is_left(of(root, task.assignee, session, client)))


def _is_left(seat: Seat | None) -> bool:
    return seat is not None and seat.is_over


def _is_over(kept: SessionRecord, own: int) -> bool:
    """Without a known client nobody knows."""
    return kept.client > 0 and (kept.client == own or not signs_of_life.is_there(str(kept.client)))
