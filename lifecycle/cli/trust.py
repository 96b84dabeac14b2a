"""`lifecycle trust`: let a project's own commands run."""

from __future__ import annotations

import os
import sys

import click

from lifecycle import config, home
from lifecycle.cli.session import Session, begin, json_option
from lifecycle.errors import Refused
from lifecycle.redact import visible


@click.command("trust", short_help="Let a project's own commands run.")
@click.option("--yes", is_flag=True, help="Do not ask; for a person's own scripts.")
@click.option("--show", is_flag=True, help="Show the commands and whether they may run.")
@click.option("--revoke", is_flag=True, help="Take the yes back.")
@json_option
def command(*, yes: bool, show: bool, revoke: bool, as_json: bool) -> None:
    """Show the commands that .lifecycle.toml wants to run here, and ask whether they may.

    They come with the repository, so nothing runs them before you say yes. The yes is for these very
    commands in this clone and all its worktrees; when they change, you are asked again. It is kept
    in trust.json in your own configuration folder.
    """
    if yes + show + revoke > 1:
        raise click.UsageError("--yes, --show and --revoke exclude each other.")
    session = begin(as_json=as_json)
    commands = session.world.settings.validate
    repository = session.world.common_dir
    if revoke:
        _revoke(session)
        return
    if not commands:
        line = f"{config.CONFIG_FILE} names no commands here: there is nothing to trust."
        session.show([line], {"commands": [], "trusted": True})
        return
    trusted = home.is_trusted(os.environ, repository, commands)
    lines = ["lifecycle handoff runs, in this order:", *(f"  {visible(one)}" for one in commands)]
    if trusted or show:
        state = (
            "They may run." if trusted else "They may not run yet; allow it with: lifecycle trust"
        )
        session.show([*lines, state], {"commands": commands, "trusted": trusted})
        return
    if os.environ.get("CLAUDE_CODE_SESSION_ID"):
        raise Refused(
            "An agent cannot allow commands for its user; nothing was allowed. The user runs this in a "
            "terminal of their own: lifecycle trust"
        )
    if not yes:
        _ask(session, lines)
    home.trust(os.environ, repository, commands)
    end = (
        "They may run now, here and in every worktree of this clone. Undo: lifecycle trust --revoke"
    )
    shown = [*lines, end] if yes else [end]
    session.show(shown, {"commands": commands, "trusted": True})


def _revoke(session: Session) -> None:
    was_trusted = home.revoke(os.environ, session.world.common_dir)
    line = (
        "No command of this repository may run any more."
        if was_trusted
        else "No command of this repository was allowed to run; nothing was changed."
    )
    commands = session.world.settings.validate
    session.show([line], {"commands": commands, "trusted": not commands})


def _ask(session: Session, lines: list[str]) -> None:
    """The person's yes, asked on the terminal; Refused without one."""
    if session.as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        shown = ", ".join(f"`{visible(one)}`" for one in session.world.settings.validate)
        raise Refused(
            f"{config.CONFIG_FILE} wants to run {shown}, and there is no terminal to ask a person on; "
            "nothing was allowed. A person who has read them allows them with: lifecycle trust --yes"
        )
    for line in lines:
        click.echo(line, err=True)
    if not click.confirm("May they run here?", default=False, err=True):
        raise Refused("Nothing was allowed; handoff refuses to go on until these commands may run.")
