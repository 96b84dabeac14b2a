"""`lifecycle tracker`: the tasks of this worktree, wherever they are kept."""

from __future__ import annotations

import click

from lifecycle.cli.tracker import tracker_hold, tracker_read, tracker_write

COMMANDS = (
    tracker_read.ready,
    tracker_read.listed,
    tracker_read.show,
    tracker_write.create,
    tracker_hold.claim,
    tracker_hold.takeover,
    tracker_hold.claim_next,
    tracker_hold.renew,
    tracker_hold.release,
    tracker_hold.close,
    tracker_write.reopen,
    tracker_write.edit,
    tracker_write.label,
    tracker_write.comment,
    tracker_read.comments,
    tracker_write.dep,
    tracker_write.publish,
)
"""In the order of a task's life."""


class Ordered(click.Group):
    """A group that lists its commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """The commands' names."""
        return list(self.commands)


@click.group(
    "tracker",
    cls=Ordered,
    commands=COMMANDS,
    short_help="Tasks: list, show, take, change, close them.",
)
def command() -> None:
    """Work with the tasks of this worktree, wherever they are kept.

    That is GitHub's issues, or the tracker that is found here; tracker.use in .lifecycle.toml names
    one. The commands are the same on each. A task that is, or is linked to, an issue of GitHub's is
    taken, given back and closed by the claim's rules, as with lifecycle claim, release and close.

    Nobody else's task is taken, given back or closed: exit code 4.
    """
