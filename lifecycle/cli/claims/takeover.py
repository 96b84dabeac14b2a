"""`lifecycle takeover`: take a task by force, which an agent's permission to claim does not cover."""

from __future__ import annotations

import click

from lifecycle.cli.claims.claim import run, task_options
from lifecycle.cli.command_session import json_option, timed


@click.command("takeover", short_help="Take a task from an agent that is gone.")
@task_options
@json_option
@timed
def command(task: tuple[str, ...], *, worktree: str | None, as_json: bool) -> None:
    """Take TASK although another holds it, it is not in Todo, or it depends on open issues.

    Whoever held it is told at the next look and writes nothing more. All else is as with lifecycle
    claim. It is a command of its own so that a permission to claim does not cover it: the client asks.
    """
    run(task, worktree, as_json=as_json, force=True)
