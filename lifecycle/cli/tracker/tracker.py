"""`lifecycle tracker`: the group, and its commands that need no rules about claims.

These are `ready`, `list`, `show`, `comments`, and
`create`, `reopen`, `edit`, `label`, `comment`, `dep`, `publish`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from lifecycle.cli.command_session import Session
from lifecycle.cli.main import RowGroup
from lifecycle.cli.tracker import tracker_values as values
from lifecycle.cli.tracker.tracker_rules import Stand
from lifecycle.core.errors import UnknownOption
from lifecycle.core.redact import quoted
from lifecycle.core.tracker import Task, TaskStatus
from lifecycle.settings.resources import drawn
from lifecycle.trackers.refusals import has_any

_STATUSES = [values.ALL, *(status.value for status in TaskStatus)]

KINDS = {"priority": click.IntRange(0, 4), "status": click.Choice(_STATUSES)}
"""Click's types for words on the command line, beside those of `main.py`."""


def ready(session: Session, labels: tuple[str, ...], limit: int | None) -> None:
    """List the tasks that are ready to be begun, the most urgent first.

    They are open, unassigned, and not blocked by an open task. A GitHub issue that somebody's open pull
    request closes is not listed.
    """
    _show_listing(session, session.tracker.ready(labels=labels), limit, values.READY, labels)


def listed(
    session: Session, labels: tuple[str, ...], status: str | None, limit: int | None
) -> None:
    """List the tasks, the most urgent first: all that are not closed, unless you ask for others."""
    tracker = session.tracker
    label = labels[0] if len(labels) == 1 and not labels[0].endswith("*") else ""
    wanted = TaskStatus(status) if status not in (None, values.ALL) else None
    tasks = tracker.list(label=label, status=wanted)
    if status == values.ALL:
        closed = tracker.list(label=label, status=TaskStatus.CLOSED)
        by_id = {task.id: task for task in (*tasks, *closed)}
        tasks = tuple(sorted(by_id.values(), key=lambda task: task.urgency))
    tasks = tuple(task for task in tasks if has_any(task.labels, labels))
    _show_listing(session, tasks, limit, status or values.NOT_CLOSED, labels)


def _show_listing(
    session: Session, tasks: tuple[Task, ...], limit: int | None, what: str, labels: tuple[str, ...]
) -> None:
    name, shown = session.tracker.name, tasks[:limit]
    lines = [*map(values.task_line, shown), *values.more_than(tasks, limit)]
    data = _data(session, total=len(tasks), tasks=[*map(values.task_data, shown)])
    draw = partial(values.draw, name, what, tasks, limit)
    session.show(lines or values.nothing_is(what, name, labels), data, draw)


def show(session: Session, task: str) -> None:
    """Show the task with the id TASK."""
    shown = session.tracker.get(task)
    lines = drawn("cli/tracker/templates/task.txt", task=shown, values=values)
    session.show_whole(lines, _data(session, task=values.task_data(shown)))


def comments(session: Session, task: str) -> None:
    """Show the comments on the task with the id TASK, the oldest first."""
    notes = session.tracker.list_comments(task)
    data = _data(session, task=task, comments=[*map(values.task_data, notes)])
    lines = drawn("cli/tracker/templates/comments.txt", task=task, notes=notes)
    session.show_whole(lines, data)


def create(
    session: Session,
    title: tuple[str, ...],
    description: str | None,
    file: str | None,
    labels: tuple[str, ...],
    priority: int | None,
    external: str,
    key: str,
) -> None:
    """Create a task called TITLE.

    It is created once: the same title and text return the same task again, in its present state. So an
    interrupted command can be repeated. For a second task with the same texts, give a --key.
    """
    name = session.world.public(" ".join(title), "title")
    text = values.text_from(description, file, "--description", "--file") or ""
    text = session.world.public(text, "description")
    labels = tuple(session.world.public(label_name, "label") for label_name in labels)
    external = session.world.public(external, "external reference")
    texts = {"title": name, "description": text, "external": external}
    key = key or values.key_of(name, text)
    created = session.tracker.create(key, **texts, labels=labels, priority=priority)
    where = f" {created.url}" if created.url else ""
    state = "" if created.is_open else ", which is closed"
    _tell(session, created, f"Task {created.id}: {quoted(created.title)}{state}.{where}")


def reopen(session: Session, task: str, *, force: bool) -> None:
    """Open the closed task TASK again; then nobody has it.

    The task of this worktree's claim stays with the claim. A task that somebody else's claim holds is
    refused (exit code 4); --force ends that claim.
    """
    stand = Stand(session, task)
    if not (force or stand.is_ours or stand.task.is_open):
        stand.refuse_others("reopened")
    reopened = stand.reopen_ours() if stand.is_ours else session.tracker.reopen(stand.task.id)
    who = f", held by {reopened.assignee}" if reopened.assignee else ""
    _tell(session, reopened, f"{reopened.id} is {values.word_of(reopened)}{who}.")


def edit(
    session: Session,
    task: str,
    title: str | None,
    description: str | None,
    file: str | None,
    priority: int | None,
) -> None:
    """Change the task TASK; values that are not given stay unchanged."""
    text = values.text_from(description, file, "--description", "--file")
    if title is None and text is None and priority is None:
        raise click.UsageError(values.sentence("no-change"))
    title = title and session.world.public(title, "title")
    text = text and session.world.public(text, "description")
    edited = session.tracker.edit(task, title=title, description=text, priority=priority)
    parts = {"title": title, "description": text, "priority": priority}
    changed = ", ".join(name for name, value in parts.items() if value is not None)
    _tell(session, edited, f"{edited.id} now has the {changed} that you gave.")


def label(
    session: Session, task: str, add: tuple[str, ...], remove: tuple[str, ...], *, create: bool
) -> None:
    """Add labels to the task TASK, or remove them.

    A label that the repository lacks is refused, since it may be misspelt, unless --create is given.
    In beads, any word can be a label.
    """
    if not (add or remove):
        raise click.UsageError("Name a label with --add or --remove.")
    add = tuple(session.world.public(name, "label") for name in add)
    try:
        labelled = session.tracker.edit_labels(task, add=add, remove=remove, create=create)
    except UnknownOption as error:
        error.sentence += " To make a new one, add --create."
        raise
    names = ", ".join(labelled.labels) or "none"
    _tell(session, labelled, f"{labelled.id} has the labels: {names}.")


def comment(session: Session, task: str, text: tuple[str, ...], file: str | None, key: str) -> None:
    """Post TEXT as a comment on the task TASK.

    It is posted once: the same text on the same task is not posted again, unless it has another --key.
    TEXT may be -, for standard input.
    """
    words = " ".join(text) if text else None
    body = values.text_from(words, file, "TEXT", "--file", is_unasked=True)
    if body is None or not body.strip():
        raise click.UsageError(values.sentence("no-text"))
    body = session.world.public(body, "comment")
    note = session.tracker.comment(task, key or values.key_of(body), body)
    data = _data(session, task=task, comment=values.task_data(note))
    session.show([f"The comment is on {task}."], data)


def dep(session: Session, task: str, blocker: str) -> None:
    """Make TASK wait for BLOCKER: it is not ready before BLOCKER is closed."""
    waiting = session.tracker.add_dependency(task, blocker)
    open_ones = ", ".join(waiting.blocked_by) or "no open task"
    _tell(session, waiting, f"{waiting.id} waits for {open_ones}.")


def publish(session: Session) -> None:
    """Send changes to where others read them, for a tracker that keeps them on this machine first."""
    session.tracker.publish()
    line = f"What was written was published by {session.tracker.name}."
    session.show([line], _data(session, published=True))


def _tell(session: Session, task: Task, line: str) -> None:
    session.show([line], _data(session, task=values.task_data(task)))


def _data(session: Session, **data: Any) -> dict[str, Any]:
    return {"tracker": session.tracker.name, **data}


@click.group("tracker", cls=RowGroup, table="tracker/commands", first=values.tell_place)
def command() -> None:
    """Work with the tasks of this worktree, wherever they are kept.

    They are GitHub's issues, or in the tracker that is found here; tracker.use in .lifecycle.toml names
    one. The commands are the same for each. A task that is a GitHub issue, or linked to one, is taken,
    released and closed by the claim's rules, as with lifecycle claim, release and close.

    A task that somebody else has is not taken, released or closed: exit code 4.
    """
