"""`lifecycle tracker ready`, `list`, `show`, `comments`: what is there."""

from __future__ import annotations

import sys

import click

from lifecycle.cli.command_session import Session
from lifecycle.cli.terminal import is_terminal
from lifecycle.cli.tracker.tracker_values import (
    ALL,
    NOT_CLOSED,
    READY,
    Listing,
    for_tasks,
    labels_option,
    limit_option,
    note_data,
    show_comments,
    show_task,
    show_tasks,
    task_data,
)
from lifecycle.core.tracker import Task, TaskStatus, Tracker
from lifecycle.trackers.refusals import has_any

_STATUSES = [ALL, *(one.value for one in TaskStatus)]


@click.command("ready", short_help="What could be begun now.")
@labels_option
@limit_option
@for_tasks()
def ready(session: Session, labels: tuple[str, ...], limit: int | None) -> None:
    """List the tasks that could be begun now, the most urgent first.

    Those are open, nobody's, and not blocked by an open task.
    """
    tracker = session.world.tracker
    _tell(session, tracker, tracker.ready(labels=labels), limit, READY)


@click.command("list", short_help="All tasks, by label and status.")
@labels_option
@click.option(
    "--status",
    metavar="STATUS",
    type=click.Choice(_STATUSES),
    default=None,
    help=f"Only tasks that stand so: {', '.join(_STATUSES[1:])}; all: closed ones as well.  "
    "[default: all that are not closed]",
)
@limit_option
@for_tasks()
def listed(
    session: Session, labels: tuple[str, ...], status: str | None, limit: int | None
) -> None:
    """List the tasks, the most urgent first: all that are not closed, unless you ask for others."""
    tracker = session.world.tracker
    tasks = _listed(tracker, labels, status)
    _tell(session, tracker, tasks, limit, status or NOT_CLOSED)


def _listed(tracker: Tracker, labels: tuple[str, ...], status: str | None) -> tuple[Task, ...]:
    label = labels[0] if len(labels) == 1 and not labels[0].endswith("*") else ""
    wanted = TaskStatus(status) if status not in (None, ALL) else None
    tasks = tracker.list(label=label, status=wanted)
    if status == ALL:
        closed = tracker.list(label=label, status=TaskStatus.CLOSED)
        known = {task.id: task for task in (*tasks, *closed)}
        tasks = tuple(sorted(known.values(), key=lambda task: task.urgency))
    return tuple(task for task in tasks if has_any(task.labels, labels))


def _tell(
    session: Session, tracker: Tracker, tasks: tuple[Task, ...], limit: int | None, what: str
) -> None:
    shown = tasks if limit is None else tasks[:limit]
    if session.as_json:
        data = {"tracker": tracker.name, "total": len(tasks), "tasks": [*map(task_data, shown)]}
        session.show([], data)
    else:
        listing = Listing(tracker.name, what, shown, len(tasks))
        if is_terminal(sys.stdout):
            from lifecycle.cli.tracker.tracker_screen import draw

            draw(listing)
        else:
            show_tasks(listing)


@click.command("show", short_help="One task, with its text.")
@click.argument("task")
@for_tasks()
def show(session: Session, task: str) -> None:
    """Show the task with the id TASK."""
    tracker = session.world.tracker
    shown = tracker.get(task)
    if session.as_json:
        session.show([], {"tracker": tracker.name, "task": task_data(shown)})
    else:
        show_task(shown)


@click.command("comments", short_help="What was said on a task.")
@click.argument("task")
@for_tasks()
def comments(session: Session, task: str) -> None:
    """Show the comments on the task with the id TASK, the oldest first."""
    tracker = session.world.tracker
    notes = tracker.list_comments(task)
    if session.as_json:
        data = {"tracker": tracker.name, "task": task, "comments": [*map(note_data, notes)]}
        session.show([], data)
    else:
        show_comments(task, notes)
