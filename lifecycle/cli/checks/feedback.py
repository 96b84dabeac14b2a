"""`lifecycle feedback`: what CI and reviewers answer to a pull request, as an agent can use it."""

from __future__ import annotations

import click

from lifecycle.cli.checks.feedback_show import pull_number
from lifecycle.cli.main import RowGroup, rows_of

_HELP = {"-h", "--help"}


class FeedbackGroup(RowGroup):
    """The group, in which `show` need not be said: `lifecycle feedback 46`, `lifecycle feedback --json`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments of the group; those of `show` are known by their first."""
        first = args[0] if args else "--"
        is_shown = first.lstrip("#").isdecimal() or (first.startswith("-") and first not in _HELP)
        return super().parse_args(ctx, ["show", *args] if is_shown else args)


@click.group(
    "feedback",
    cls=FeedbackGroup,
    folder="checks.",
    table=rows_of("checks"),
    kinds={"pull": pull_number},
)
def command() -> None:
    """What CI answers to a pull request, as an agent can use it.

    Without a command: show.
    """
