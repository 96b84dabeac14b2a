"""`lifecycle statusline`: one line on the worktree, for the client's status line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from lifecycle.cli import terminal
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.hooks.stdin_event import read_input
from lifecycle.storage.store import worktree_root
from lifecycle.views.prepared_line import prepared_line

_SECONDS = 5.0


def statusline(*, as_json: bool) -> None:
    """Print what is at work here in one line with colours and links: `lifecycle init --statusline` sets it.

    Reads the client's JSON on stdin, if there is some, for the project's folder; never fails, and prints
    nothing where nothing is at work.
    """
    try:
        root = worktree_root(_project())
    except OSError:  # the folder is gone, or is nobody's to read
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
