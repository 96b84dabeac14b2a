"""Whose rules a task is under: its tracker's alone, or those of the claim of the issue that it is.

An issue of GitHub's, and a task that is linked to one, is taken, given back and closed with its claim.
So nobody gets around the lease, the merge or the person's yes by speaking to the tracker.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.claim import inner, lease
from lifecycle.claim.places import claimed, list_places
from lifecycle.cli.session import Session
from lifecycle.errors import HeldByAnother, NotFound, Refused
from lifecycle.model import Look
from lifecycle.tracker import Task
from lifecycle.trackers.registry import GITHUB


@dataclass(frozen=True, slots=True)
class Stand:
    """How a task stands to the claims.

    Attributes:
        task: as the tracker has it.
        issue: the number of the issue that it is or is linked to, or None.
        is_issue: it is that issue itself.
        is_ours: the claim of this worktree is for it.
    """

    task: Task
    issue: int | None
    is_issue: bool
    is_ours: bool


def stand_of(session: Session, name: str) -> Stand:
    """How the task called `name` stands; raises as the tracker's `get` does, and ClaimRefused."""
    world = session.world
    task = world.tracker.get(name)
    is_issue = world.tracker.name == GITHUB
    issue = int(task.id) if is_issue else inner.issue_named(world, task)
    record = session.desk.load(repair=False).record
    is_ours = False
    if record is not None:
        is_linked = record.link is not None and record.link.id == task.id and not is_issue
        is_ours = is_linked or (issue is not None and record.claim.issue_number == issue)
    return Stand(task, issue, is_issue, is_ours)


def refuse_others(session: Session, stand: Stand, done: str) -> None:
    """Refuse to end what somebody else's claim holds.

    Args:
        session: this worktree.
        stand: the task.
        done: what was not done, as in "closed".

    Raises:
        HeldByAnother: another worktree of this clone claims it, or somebody else has its lease.
        GitFailed, Transient: whose it is could not be read; nothing was done.
    """
    if stand.issue is None:
        return
    world, number = session.world, stand.issue
    for place in list_places(world.git):
        if place.path.resolve() != world.root.resolve() and claimed(place.path) == number:
            raise HeldByAnother(
                f"#{number} is claimed in {place.path}; nothing was {done}. Go there to end that claim."
            )
    holder = lease.read(world.git, world.settings.remote, number)
    if holder is not None and holder.agent != world.tracker.actor:
        raise HeldByAnother(
            f"#{number} is held by {holder.agent} since {holder.since}; nothing was {done}. Leave it to "
            "them, or if that agent is gone, take it over first: lifecycle claim "
            f"{number} --force"
        )


def refuse_half(session: Session, stand: Stand) -> None:
    """Refuse to close only one half of a task that lives in both.

    Raises:
        Refused: the issue that the task is linked to is open.
        NotFound: there is no such issue.
    """
    if stand.issue is None or stand.is_issue:
        return
    world = session.world
    found = world.forge.observe(Look(issue=stand.issue, branch="")).issue
    if found is None:
        raise NotFound(
            f"{stand.task.id} is linked to #{stand.issue}, which {world.base} does not show to this token; "
            "nothing was closed. Correct the link, or the token's access."
        )
    if found.is_open:
        raise Refused(
            f"{stand.task.id} is linked to #{stand.issue}, which is open, and both are closed together; "
            f"nothing was closed. Take it with: lifecycle claim {stand.task.id}; or close #{stand.issue} "
            "on GitHub first."
        )
