"""`lifecycle status`: everything about the worktree as text, from files alone."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import Session, in_worktree
from lifecycle.cli.views.quick_status import shown


@click.command("status")
@in_worktree()
def status(session: Session) -> int:
    """Show the claim with its PR and checks as last seen, the stage, the run, the workflow, what waits.

    Asks nothing of GitHub; `lifecycle tick` looks anew, `lifecycle watch` stays open.
    """
    return shown(session)
