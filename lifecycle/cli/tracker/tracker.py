"""`lifecycle tracker`: the group, and the commands that only read: `ready`, `list`, `show`, `comments`."""

from __future__ import annotations

import sys

import click

from lifecycle.cli.command_session import Session, option
from lifecycle.cli.terminal import is_terminal
from lifecycle.cli.tracker import tracker_hold, tracker_write
from lifecycle.cli.tracker import tracker_values as values
from lifecycle.core.tracker import Task, TaskStatus, Tracker
from lifecycle.trackers.refusals import has_any

_STATUSES = [values.ALL, *(status.value for status in TaskStatus)]


@click.command("ready", short_help="What could be begun now.")
@values.labels_option
@values.limit_option
@values.for_tasks()
def ready(session: Session, labels: tuple[str, ...], limit: int | None) -> None:
    """List the tasks that could be begun now, the most urgent first.

    Those are open, nobody's, and not blocked by an open task.
    """
    tracker = session.world.tracker
    _show_listing(session, tracker, tracker.ready(labels=labels), limit, values.READY)


@click.command("list", short_help="All tasks, by label and status.")
@values.labels_option
@option(
    "--status STATUS",
    f"Only tasks that stand so: {', '.join(_STATUSES[1:])}; all: closed ones as well.  "
    "[default: all that are not closed]",
    type=click.Choice(_STATUSES),
)
@values.limit_option
@values.for_tasks()
def listed(
    session: Session, labels: tuple[str, ...], status: str | None, limit: int | None
) -> None:
    """List the tasks, the most urgent first: all that are not closed, unless you ask for others."""
    tracker = session.world.tracker
    tasks = _listed(tracker, labels, status)
    _show_listing(session, tracker, tasks, limit, status or values.NOT_CLOSED)


def _listed(tracker: Tracker, labels: tuple[str, ...], status: str | None) -> tuple[Task, ...]:
    label = labels[0] if len(labels) == 1 and not labels[0].endswith("*") else ""
    wanted = TaskStatus(status) if status not in (None, values.ALL) else None
    tasks = tracker.list(label=label, status=wanted)
    if status == values.ALL:
        closed = tracker.list(label=label, status=TaskStatus.CLOSED)
        by_id = {task.id: task for task in (*tasks, *closed)}
        tasks = tuple(sorted(by_id.values(), key=lambda task: task.urgency))
    return tuple(task for task in tasks if has_any(task.labels, labels))


def _show_listing(
    session: Session, tracker: Tracker, tasks: tuple[Task, ...], limit: int | None, what: str
) -> None:
    shown = tasks if limit is None else tasks[:limit]
    listing = values.Listing(tracker.name, what, shown, len(tasks))
    if is_terminal(sys.stdout) and not session.as_json:
        from lifecycle.cli.tracker.tracker_screen import draw

        draw(listing)
        return
    data = [*map(values.task_data, shown)]
    values.show(
        session,
        {"tracker": tracker.name, "total": len(tasks), "tasks": data},
        values.listing_lines(listing),
    )


@click.command("show", short_help="One task, with its text.")
@click.argument("task")
@values.for_tasks()
def show(session: Session, task: str) -> None:
    """Show the task with the id TASK."""
    tracker = session.world.tracker
    shown = tracker.get(task)
    data = {"tracker": tracker.name, "task": values.task_data(shown)}
    values.show(session, data, values.task_lines(shown))


@click.command("comments", short_help="What was said on a task.")
@click.argument("task")
@values.for_tasks()
def comments(session: Session, task: str) -> None:
    """Show the comments on the task with the id TASK, the oldest first."""
    tracker = session.world.tracker
    notes = tracker.list_comments(task)
    data = {"tracker": tracker.name, "task": task, "comments": [*map(values.note_data, notes)]}
    values.show(session, data, values.comment_lines(task, notes))


COMMANDS = (
    ready,
    listed,
    show,
    tracker_write.create,
    tracker_hold.claim,
    tracker_hold.takeover,
    tracker_hold.claim_next,
    tracker_hold.renew,
    tracker_hold.release,
    tracker_hold.close,
    tracker_write.reopen,
    tracker_write.edit,
    tracker_write.label,
    tracker_write.comment,
    comments,
    tracker_write.dep,
    tracker_write.publish,
)
"""In the order of a task's life."""


class Ordered(click.Group):
    """A group that lists its commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """The commands' names."""
        return list(self.commands)


@click.group(
    "tracker",
    cls=Ordered,
    commands=COMMANDS,
    short_help="Tasks: list, show, take, change, close them.",
)
def command() -> None:
    """Work with the tasks of this worktree, wherever they are kept.

    That is GitHub's issues, or the tracker that is found here; tracker.use in .lifecycle.toml names
    one. The commands are the same on each. A task that is, or is linked to, an issue of GitHub's is
    taken, given back and closed by the claim's rules, as with lifecycle claim, release and close.

    Nobody else's task is taken, given back or closed: exit code 4.
    """
