"""`lifecycle run resume-context`: how a run goes on, or does not."""

from __future__ import annotations

import sys

import click

from lifecycle.cli.command_session import Session, in_worktree, option
from lifecycle.cli.run.run_session import RunSession
from lifecycle.cli.terminal import is_terminal
from lifecycle.run.trouble.resume_context import resume_data, resume_lines


@click.command("resume-context", short_help="Where the run goes on after a blocker.")
@option("--text", "Print the block for the developer; so it is on a terminal.")
@in_worktree()
def resume_context(session: Session, *, text: bool) -> None:
    """Print as JSON where the run goes on after the user fixed something, and what was fixed."""
    given = RunSession(session)
    run = given.store.demanded()
    if text or (is_terminal(sys.stdout) and not session.as_json):
        session.show(resume_lines(run), {**resume_data(run), "text": resume_lines(run)})
        return
    given.show_json(resume_data(run))
