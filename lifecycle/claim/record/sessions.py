"""Which of the client's sessions a claim belongs to.

Two sessions may run in one worktree. The one that claimed the task or handed it off is woken with its
news, and no other takes a sentence that is meant for it; another is told at its start that the claim is
held. A session that ended, whose client is gone, or (if nobody knows its client) that gave no sign of
life for an hour, holds nothing: who comes next goes on with the claim.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lifecycle.claim.record.state import Record
from lifecycle.core.plan import Audience
from lifecycle.storage.signs_of_life import Signs

SILENT_SECONDS = 3600.0
"""After this long without a sign of life a session whose client nobody knows counts as gone."""


def is_mine(record: Record, session: str) -> bool:
    """True if this session owns the claim; an unknown one on either side counts as the owner."""
    return not record.session or not session or record.session == session


def is_held(record: Record, session: str, signs: Signs, now: float) -> bool:
    """True if another session that seems to be alive holds the claim.

    Args:
        record: the claim.
        session: who asks.
        signs: of the session that the claim belongs to.
        now: seconds since the epoch.
    """
    if is_mine(record, session) or signs.has_ended:
        return False
    if signs.is_client_there is not None:
        return signs.is_client_there
    last_at = max(signs.last_at or 0.0, record.created_at, record.session_at)
    return signs.has_waiter or now - last_at < SILENT_SECONDS


def adopt(record: Record, session: str, signs: Signs, now: float) -> Record:
    """The record as this session's own, unless another that is alive holds it.

    What another session began is inherited: what that one heard of it, this one did not.
    """
    if not session or record.session == session or is_held(record, session, signs, now):
        return record
    inherited = session if record.session else ""
    return replace(record, session=session, session_at=now, inherited=inherited)


def deliverable(
    record: Record, session: str, audiences: Collection[Audience]
) -> Collection[Audience]:
    """Of what a channel could deliver, what this session may take: the owner's news is the owner's."""
    return (
        audiences
        if is_mine(record, session)
        else [audience for audience in audiences if audience is Audience.NOTE]
    )
