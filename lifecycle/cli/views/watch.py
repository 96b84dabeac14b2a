"""`lifecycle watch`: everything about the worktree, live on the terminal."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path

import click

from lifecycle.cli import terminal
from lifecycle.cli.command_session import demanded_root
from lifecycle.core.timing import SystemClock
from lifecycle.storage.store import worktree_root

KINDS = {"port": click.IntRange(1, 65_535)}
"""Click's types for words on the command line, beside those of `main.py`."""


def watch(*, once: bool, web: bool, port: int | None, opens: bool, as_json: bool) -> None:
    """Show everything that `lifecycle status` says, live: it changes when a file does.

    What waits for you comes first. Keys: p opens the pull request in the browser, i the issue, q ends it.
    Asks nothing of GitHub, and writes nothing.

    With --web it is a page that you may leave open, for this machine and for whoever has its address alone.
    It ends with Ctrl-C, and with its terminal.
    """
    if web and once:
        raise click.UsageError("--once is for the terminal: a page is served until it is ended.")
    if web:
        _serve(port or 0, opens=opens, as_json=as_json)
        return
    if port is not None or opens:
        raise click.UsageError("--port and --open are for --web.")
    from lifecycle.views.watch.live_watch import LiveWatch

    root = demanded_root()
    live = LiveWatch(root, terminal.console(), SystemClock())
    if as_json:
        click.echo(terminal.json_text(live.data()))
    elif once or live.console.is_dumb_terminal or not _is_watched():
        live.once()
    else:
        live.run()


def _is_watched() -> bool:
    """True if standard output and input are terminals: somebody watches, and can press keys."""
    return terminal.is_terminal(sys.stdout) and terminal.is_terminal(sys.stdin)


def _serve(port: int, *, opens: bool, as_json: bool) -> None:
    """Serve the page until it ends, and print where it is."""
    from lifecycle.views.web import web_server
    from lifecycle.views.web.all_worktrees import AllWorktrees

    worktrees = AllWorktrees(os.environ, SystemClock(), worktree_root(Path.cwd()))
    server = web_server.WatchServer(worktrees, port)
    with ExitStack() as until_the_end:

        def announce() -> None:
            lines = (
                f"All your worktrees: {server.address}",
                "Whoever has this address may read the page while this runs. Ctrl-C ends it.",
            )
            terminal.say_all(lines, {"address": server.address}, as_json=as_json)
            if opens and not until_the_end.enter_context(web_server.opened(server.address)):
                click.echo("No browser could be started: open the address yourself.", err=True)

        web_server.serve(server, announce)
