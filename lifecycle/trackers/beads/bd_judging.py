"""What the verbs ask of a task before they write, and what they make of an answer. Pure."""

from __future__ import annotations

from typing import Any

from lifecycle.core import hidden_marker
from lifecycle.core.errors import BlockedBy, NotClaimable
from lifecycle.core.tracker import Task, TaskStatus
from lifecycle.trackers.beads.bd_decode import IssueRow, row_of


def task_of(raw: Any) -> Task:
    """The task that an answer shows; ProtocolError."""
    return row_of(raw).task


def is_open(task: Task) -> bool:
    """True if it is open, and not begun."""
    return task.status is TaskStatus.OPEN


def is_free(task: Task) -> bool:
    """True if it is open and nobody's."""
    return task.status is TaskStatus.OPEN and not task.assignee


def changes(row: IssueRow, wanted: Task) -> tuple[str, ...]:
    """The flags that make an issue's texts and priority so; what is so already has none."""
    task = row.task
    words = [f"--title={wanted.title}"] if wanted.title != task.title else []
    if wanted.description != task.description:
        text = wanted.description
        words.append(f"--description={hidden_marker.signed(text, row.mark) if row.mark else text}")
    if wanted.priority != task.priority:
        words.append(f"--priority={wanted.priority}")
    return tuple(words)


def is_said(task: Task, wanted: Task) -> bool:
    """True if title, description and priority are as wanted."""
    return (task.title, task.description, task.priority) == (
        wanted.title,
        wanted.description,
        wanted.priority,
    )


def not_claimable(task: Task) -> NotClaimable:
    """The error for a task that is not to be begun."""
    return NotClaimable(
        f"{task.id} is {task.raw_status}, so it was not claimed; choose another task.",
        status=task.raw_status,
    )


def demand_free(task: Task, what: str) -> None:
    """BlockedBy if open tasks stand before it; `what` is what was not done."""
    if task.blocked_by:
        raise BlockedBy(
            f"{task.id} waits for {', '.join(task.blocked_by)}, so it was not {what}; finish that first.",
            ids=task.blocked_by,
        )
