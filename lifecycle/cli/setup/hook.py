"""`lifecycle hook`: the hook entrypoints for other callers."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import already_json, option
from lifecycle.core.plan import REPLIES


@click.command("hook")
@click.argument("name", metavar="NAME", type=click.Choice(list(REPLIES)))
@option("--path", "Print where the script lies, for your settings.")
@already_json
def command(name: str, *, path: bool) -> int:
    """Run the hook NAME: the event's JSON on stdin, the client's reply on stdout.

    NAME is on-stop, ci-waiter, on-idle, session-start, on-clear, user-prompt-submit, pre-tool-use,
    post-tool-use, workflow-agent, pre-compact, or session-end.

    Serves CLAUDE_PROJECT_DIR, else the current folder. Never fails; exit 2 is a deliberate wake.
    """
    if path:
        from lifecycle.settings.resources import hook_script

        click.echo(hook_script(name))
        return 0
    from lifecycle.hooks.wake import run

    return run(name)
