"""`lifecycle feedback`: what CI and reviewers answer to a pull request, as an agent can use it."""

from __future__ import annotations

import click

from lifecycle.cli.checks.feedback_show import pull_number
from lifecycle.cli.main import RowGroup, rows_of

_HELP = {"-h", "--help"}


class FeedbackGroup(RowGroup):
    """The group `feedback`; without a command it runs `show`: `lifecycle feedback 46` or `--json`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `show` before the arguments if the first is a number or an option."""
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
