"""`lifecycle watch` and `statusline`: everything about the worktree, live, or in one line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from lifecycle.cli import command_session, terminal
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.hooks.stdin_event import read_input
from lifecycle.storage.store import worktree_root
from lifecycle.views.overview.overview_values import overview_json
from lifecycle.views.prepared_line import prepared_line

KINDS = {"port": click.IntRange(1, 65_535)}
"""Click's types for words on the command line, beside those of `main.py`."""


def watch(*, once: bool, web: bool, port: int | None, as_json: bool) -> None:
    """Show everything that `lifecycle status` says, and update it when a file changes.

    What waits for you comes first. Keys: p opens the pull request in the browser, i the issue, q quits.
    Asks nothing of GitHub, and writes nothing.

    With --web it is a page that you can leave open; only this machine, and only people who have its
    address, can read it. It ends with Ctrl-C, or when its terminal is closed.
    """
    if web and once:
        raise click.UsageError("--once is for the terminal; a page is served until you end it.")
    if web:
        _serve(port or 0, as_json=as_json)
        return
    if port is not None:
        raise click.UsageError("--port needs --web.")
    from lifecycle.views.watch.live_watch import LiveWatch

    root = command_session.demanded_root()
    # A person is watching, and can press keys.
    is_watched = terminal.is_terminal(sys.stdout) and terminal.is_terminal(sys.stdin)
    live = LiveWatch(root, terminal.console(), SystemClock())
    if as_json:
        click.echo(terminal.json_text(overview_json(live.seen)))
    elif once or live.console.is_dumb_terminal or not is_watched:
        live.once()
    else:
        live.run()


def _serve(port: int, *, as_json: bool) -> None:
    """Serve the page until it ends, and print its address."""
    from lifecycle.views.web import web_server
    from lifecycle.views.web.all_worktrees import AllWorktrees

    worktrees = AllWorktrees(os.environ, SystemClock(), worktree_root(Path.cwd()))
    server = web_server.WatchServer(worktrees, port)
    lines = (
        f"All your worktrees: {server.address}",
        "Anybody who has this address can read the page while this runs. To end it: Ctrl-C",
    )
    values = {"address": server.address}
    web_server.serve(server, lambda: terminal.say_all(lines, values, as_json=as_json))


_SECONDS = 5.0


def statusline(*, as_json: bool) -> None:
    """Print the current work in one line with colours and links; `lifecycle init --statusline` sets it up.

    Reads the client's JSON on stdin, if there is any, to find the project's folder. Never fails, and prints
    nothing if there is no work.
    """
    try:
        root = worktree_root(_project())
    except OSError:  # the folder is gone, or unreadable
        root = None
    deadline = Deadline.after(SystemClock(), _SECONDS)
    line = prepared_line(root, os.environ, deadline) if root is not None else ""
    if as_json:
        click.echo(terminal.json_text({"line": line}))
    elif line and sys.stdout is not None:
        terminal.behind(sys.stdout).write(f"{line}\n")


def _project() -> Path:
    """The folder of the client's project: from the environment, the event on stdin, or the current one."""
    if project := os.environ.get("CLAUDE_PROJECT_DIR"):
        return Path(project)
    event = read_input()
    place = event.get("workspace")
    folder = (place if isinstance(place, dict) else {}).get("project_dir") or event.get("cwd")
    return Path(folder) if isinstance(folder, str) else Path.cwd()
