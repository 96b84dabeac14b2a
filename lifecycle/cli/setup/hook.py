"""`lifecycle hook`: the hook entrypoints for other callers."""

from __future__ import annotations

import click

from lifecycle.cli.terminal import say_all
from lifecycle.core.plan import REPLIES

KINDS = {"name": click.Choice(list(REPLIES))}
"""Click's types for words on the command line, beside those of `main.py`."""


def hook(name: str, *, path: bool, as_json: bool) -> int:
    """Run the hook NAME: the event's JSON on stdin, the client's reply on stdout.

    NAME is on-stop, ci-waiter, on-idle, session-start, on-clear, user-prompt-submit, pre-tool-use,
    post-tool-use, workflow-agent, pre-compact, or session-end.

    It works on CLAUDE_PROJECT_DIR, else on the current folder. Never fails; exit 2 is a deliberate wake.
    """
    if path:
        from lifecycle.settings.resources import hook_script

        script = str(hook_script(name))
        say_all([script], {"path": script}, as_json=as_json)
        return 0
    from lifecycle.hooks.wake import run

    return run(name)
