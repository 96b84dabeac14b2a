"""What every `lifecycle tracker` command starts from."""

from __future__ import annotations

import click

from lifecycle.app import tracker_opening
from lifecycle.cli import command_session
from lifecycle.cli.command_session import Session
from lifecycle.core.redact import visible


def begin(*, as_json: bool, changes_tasks: bool = False) -> Session:
    """The session of the current worktree; that its tasks are not where they seem goes to stderr first.

    Args:
        as_json: print one JSON object instead of sentences.
        changes_tasks: the command changes a task, as `session.begin` has it.

    Raises:
        Refused: the current folder is in no git worktree.
        BadConfig: the settings cannot be used.
    """
    begun = command_session.begin(as_json=as_json, changes_tasks=changes_tasks)
    note = tracker_opening.note_of(begun.world)
    if note:
        click.echo(f"Note: {visible(note)}", err=True)
    return begun
