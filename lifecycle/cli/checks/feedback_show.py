"""`lifecycle feedback show`: what failed on a pull request's head, with the lines that tell why."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import Session, in_worktree
from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import asdict
from lifecycle.core.values.model import PullState


def _pull_number(text: str) -> int:
    """The number of a pull request, with or without the sign before it; raises click.BadParameter."""
    number = text.removeprefix("#")
    if not number.isdecimal() or not int(number):
        raise click.BadParameter(f"{text!r} is no pull request's number.")
    return int(number)


pull_argument = click.argument("pull", metavar="[PR]", type=_pull_number, required=False)
"""The argument that names a pull request; without it, it is `own_pull`."""


@click.command("show", short_help="What failed in CI, with the errors of the logs.")
@pull_argument
@in_worktree()
def show(session: Session, *, pull: int | None) -> int:
    """Print what failed on the head of PR: steps, the lines of logs that tell the error, remarks on files.

    Without PR the claim's pull request, else the open one of the current branch. What was printed is kept
    in .lifecycle/feedback, with the logs; a log is read once for each attempt of its job.
    """
    from lifecycle.feedback.checks.fetching import fetch
    from lifecycle.feedback.checks.packet_text import lines_of

    session.world.refuse_tracked()
    found = fetch(session.world, pull or own_pull(session))
    if session.as_json:
        session.show([], {**asdict(found.packet), "path": found.path})
        return 0
    for line in lines_of(found.packet):
        click.echo(line)
    return 0


def own_pull(session: Session) -> int:
    """The pull request of the claim, else of the branch; Refused if there is none."""
    record = session.claim_store.load(repair=False).record
    if record is not None and record.claim.pr_number:
        return int(record.claim.pr_number)
    branch = session.world.git.current_branch()
    for pull in session.world.forge.pull_requests_of(branch) if branch else ():
        is_ours = pull.head_owner.casefold() == session.world.head.owner.casefold()
        if pull.state is PullState.OPEN and is_ours:
            return pull.number
    where = f"the branch {branch}" if branch else "a worktree without a branch"
    raise Refused(
        f"No open pull request belongs to {where}, so nothing was read; hand off, or name one by number."
    )
