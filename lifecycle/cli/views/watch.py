"""`lifecycle watch`: everything about the worktree, live on the terminal."""

from __future__ import annotations

import sys

import click

from lifecycle.cli import terminal
from lifecycle.cli.command_session import demanded_root, json_option, option
from lifecycle.core.timing import SystemClock


@click.command("watch", short_help="The same, live on the terminal.")
@option("--once", "Print it and end, as is done where no terminal is and with --json.")
@json_option
def watch(*, once: bool, as_json: bool) -> None:
    """Show everything that `lifecycle status` says, live: it changes when a file does.

    What waits for you comes first. Keys: p opens the pull request in the browser, i the issue, q ends it.
    Asks nothing of GitHub, and writes nothing.
    """
    from lifecycle.views.watch.live_watch import LiveWatch

    root = demanded_root()
    live = LiveWatch(root, terminal.console(), SystemClock())
    if as_json:
        click.echo(terminal.json_text(live.data()))
    elif once or not (terminal.is_terminal(sys.stdout) and terminal.is_terminal(sys.stdin)):
        live.once()
    else:
        live.run()
