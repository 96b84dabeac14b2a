"""`lifecycle feedback`: what CI and reviewers answer to a pull request, as an agent can use it."""

from __future__ import annotations

import click

from lifecycle.cli.main import LazyGroup

COMMANDS = {
    "excerpt": "checks.feedback_excerpt:excerpt_command",
}
"""Where in `lifecycle/cli/` each command of the group is, as in `main.COMMANDS`."""


@click.group(
    "feedback", cls=LazyGroup, table=COMMANDS, short_help="What CI answers to a pull request."
)
def command() -> None:
    """What CI answers to a pull request, as an agent can use it."""
