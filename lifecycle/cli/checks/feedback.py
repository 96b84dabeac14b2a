"""`lifecycle feedback`: what CI and reviewers answer to a pull request, as an agent can use it."""

from __future__ import annotations

import click

from lifecycle.cli.main import LazyGroup

COMMANDS = {
    "show": "checks.feedback_show:show",
    "merge": "checks.feedback_merge:merge_command",
    "go-on": "checks.feedback_go_on:go_on_command",
    "excerpt": "checks.feedback_excerpt:excerpt_command",
    "reviews": "checks.feedback_reviews:reviews_command",
    "reply": "checks.feedback_reviews:reply_command",
    "request": "checks.feedback_reviews:request_command",
}
"""Where in `lifecycle/cli/` each command of the group is, as in `main.COMMANDS`."""

_HELP = {"-h", "--help"}


class FeedbackGroup(LazyGroup):
    """The group, in which `show` need not be said: `lifecycle feedback 46`, `lifecycle feedback --json`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments of the group; those of `show` are known by their first."""
        first = args[0] if args else "--"
        is_shown = first.lstrip("#").isdecimal() or (first.startswith("-") and first not in _HELP)
        return super().parse_args(ctx, ["show", *args] if is_shown else args)


@click.group("feedback", cls=FeedbackGroup, table=COMMANDS)
def command() -> None:
    """What CI answers to a pull request, as an agent can use it.

    Without a command: show.
    """
