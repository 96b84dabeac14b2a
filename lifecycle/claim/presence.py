"""Which of the client's sessions a claim belongs to.

Two sessions may run in one worktree. The one that claimed the task or handed it off is woken with its
news; another is told at its start that the claim is held. A session that ended, or that gave no sign
of life for long, holds nothing: who starts next goes on with the claim.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lifecycle.claim.state import Record
from lifecycle.claim.table import Phase
from lifecycle.plan import Wake

SILENT_SECONDS = 3600.0
"""After this long without a sign of life, and with no waiter, a session counts as gone."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of the session that holds the claim.

    Attributes:
        ended: the id of the session that was seen to end last, or empty.
        has_waiter: a process of that session waits for news right now.
        last_at: the last sign of life, in seconds since the epoch, or None.
    """

    ended: str = ""
    has_waiter: bool = False
    last_at: float | None = None


def adopt(record: Record, wake: Wake, session: str) -> Record:
    """The record with `session` as its owner, if that is what a stop in this session means.

    Whoever stops with a hand-off in the file handed off; whoever stops first with a claim that has
    no owner (it was written by hand) made it.
    """
    if wake is not Wake.STOP or not session:
        return record
    if record.session and record.claim.phase != Phase.READY_FOR_PR:
        return record
    return replace(record, session=session)


def is_mine(record: Record, session: str) -> bool:
    """True if this session may be woken for the claim; an unknown one on either side may."""
    return not record.session or not session or record.session == session


def is_held(record: Record, session: str, signs: Signs, now: float) -> bool:
    """True if another session that seems to be alive holds the claim."""
    if is_mine(record, session) or record.session == signs.ended:
        return False
    if signs.has_waiter:
        return True
    return signs.last_at is not None and now - signs.last_at < SILENT_SECONDS
