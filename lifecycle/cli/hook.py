"""`lifecycle hook`: the hook entrypoints for other callers."""

from __future__ import annotations

import click

from lifecycle.__main__ import HOOKS


@click.command("hook")
@click.argument("name", type=click.Choice(HOOKS))
def command(name: str) -> int:
    """Run the hook NAME: the event's JSON on stdin, the client's reply on stdout.

    Serves CLAUDE_PROJECT_DIR, else the current folder. Never fails; exit 2 is a deliberate wake.
    """
    from lifecycle.wake import run

    return run(name)
