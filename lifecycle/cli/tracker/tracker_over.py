"""Taking a task over from whoever had it: by a person's word, or since that session is over.

What is taken over is given back in the holder's name and claimed anew. So whoever is quicker has it:
the holder that was read is the only one in whose name anything is given back.
"""

from __future__ import annotations

import os

from lifecycle.app import tracker_opening
from lifecycle.cli.command_session import Session
from lifecycle.cli.tracker.tracker_values import key_of
from lifecycle.core.errors import AlreadyClaimed
from lifecycle.core.redact import named
from lifecycle.core.tracker import Task
from lifecycle.settings import running_client
from lifecycle.stages.session import task_sessions
from lifecycle.trackers import actor_digits


def take(session: Session, task: Task, *, force: bool) -> tuple[Task, list[str]]:
    """Claim a task that is under no claim's rules, and say from whom it was taken over.

    Raises:
        AlreadyClaimed: somebody else has it, and `force` is not given; or was quicker.
        LifecycleError: as the tracker's `claim` raises.
    """
    tracker = session.world.tracker
    try:
        return tracker.claim(task.id), []
    except AlreadyClaimed as error:
        holder = error.by
        if not may_free(session, holder, force=force):
            raise refusal(session, task.id, holder, "changed") from None
    note = free(session, task.id, holder, "taken over")
    return tracker.claim(task.id), [note]


def may_free(session: Session, holder: str, *, force: bool) -> bool:
    """True if what this holder has may be ended: by force, or since that is this agent, or is over here."""
    if not holder.isprintable() or not holder:
        return False  # no name in which anything could be said
    seat = _seat(session, holder)
    return force or _is_own(session, holder) or (seat is not None and seat.is_over)


def _is_own(session: Session, holder: str) -> bool:
    """True for the other name of this agent: its claim's once that has ended, or its own under a claim."""
    session.claim_store.load(repair=False)  # reads what is remembered
    last, named = session.claim_store.remembered(), os.environ.get(tracker_opening.ACTOR, "")
    if last is not None and last.claim.agent_id == holder:
        return True
    seat = actor_digits.seat_in(session.root, running_client.session_of({}, os.environ))
    return holder == named if named else holder.endswith(f"-{seat}")


def free(session: Session, task: str, holder: str, what: str) -> str:
    """Give the task back in the name of its holder, and say so on the task; a remark.

    Raises:
        AlreadyClaimed: somebody else has it by now.
        LifecycleError: as the tracker's `release` raises.
    """
    tracker = session.world.tracker
    before = tracker_opening.inner_of(session.world, holder)
    if before is None:
        raise ValueError("an issue is taken over with its claim")
    before.release(task)
    said = f"{what.capitalize()} from {named(holder)} by {tracker.actor}."
    moment = f"{session.world.clock.now():.3f}"
    tracker.comment(task, key_of(said, moment), said)
    return f"{task} was held by {named(holder)}."


def refusal(session: Session, task: str, holder: str, done: str, verb: str = "") -> AlreadyClaimed:
    """The error for a task that somebody else has, with the way to take it over.

    Args:
        session: this worktree.
        task: its id.
        holder: who has it, as the tracker writes it.
        done: what was not done to it, as in "closed".
        verb: the command that has a `--force` for it; without one the task is taken over.
    """
    who, seat = (named(holder) if holder else "somebody else"), _seat(session, holder)
    if seat is not None and not seat.is_over:
        who += f", a session of this worktree ({seat.session}) whose client is there"
    way = (
        f"lifecycle tracker {verb} {task} --force" if verb else f"lifecycle tracker takeover {task}"
    )
    return AlreadyClaimed(
        f"{task} is held by {who}; nothing was {done}. Leave it to them, or if that agent is gone: {way}",
        by=holder,
    )


def _seat(session: Session, holder: str) -> task_sessions.Seat | None:
    return task_sessions.of(session.root, holder, running_client.session_of({}, os.environ))
