"""Write what the hooks' guards read: a stamp, and the times from which a wake is let through.

The guards are `sh` and end before Python starts (`hooks/`). They compare two mtimes: the claim's with
the stamp's, and a mark's with the present. Everything they know is written here.
"""

from __future__ import annotations

import contextlib

from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import IN_REVIEW, Phase
from lifecycle.claim.linked import pending_writes
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.plan import REPLIES
from lifecycle.storage.signs_of_life import ALWAYS, IDLE_DUE, STOP_DUE


def begin(claim_store: ClaimStore) -> None:
    """Let the next stop through, until `mark` says what this look left to do.

    A look that is cut off anywhere, by its deadline or by a kill, is gone on with. Where the mark cannot
    be written, the guard is as it was, and so lets the next stop through as it did this one.
    """
    with contextlib.suppress(OSError):
        claim_store.marks.set_due(STOP_DUE, ALWAYS)


def mark(
    claim_store: ClaimStore,
    snapshot: Snapshot,
    *,
    mtime_ns: int,
    is_finished: bool,
    has_ended: bool,
) -> None:
    """Tell the guards what a look left to do.

    Args:
        claim_store: the claim file and state.json.
        snapshot: what the look ended with.
        mtime_ns: of the claim as it was read, before the look.
        is_finished: the look came to its end; otherwise the next wake goes on with it.
        has_ended: the claim is over, or its file is gone.
    """
    record = snapshot.record
    stop = idle = record.due()
    if "OpenPullRequest" in record.troubles:
        stop = (
            ALWAYS  # what was refused may be mended by a push, which leaves no trace in the claim
        )
    if any(trouble.is_of_access for trouble in record.troubles.values()):
        stop = (
            ALWAYS  # a token leaves no trace in the claim either: Python sees whether it is another
        )
    if Phase.named(record.claim.phase) in IN_REVIEW:
        idle = ALWAYS
    if has_ended:
        stop, idle = pending_writes.due(claim_store.state), None
    if not is_finished:
        stop, idle = ALWAYS, None if has_ended else ALWAYS
    if is_finished and not has_ended:
        claim_store.stamp(mtime_ns)
    _wait_for(claim_store, stop, idle)


def mark_waiting(claim_store: ClaimStore) -> None:
    """Without a claim, let a wake through only for a notice in the queue or a pending write."""
    _wait_for(claim_store, pending_writes.due(claim_store.state), None)


def _wait_for(claim_store: ClaimStore, stop: float | None, idle: float | None) -> None:
    """Set both marks; on-stop's, which `begin` has set, last."""
    waiting = {notice.audience for notice in claim_store.ledger.waiting()}
    claim_store.marks.set_due(IDLE_DUE, ALWAYS if waiting & REPLIES["on-idle"].audiences else idle)
    claim_store.marks.set_due(STOP_DUE, ALWAYS if waiting & REPLIES["on-stop"].audiences else stop)
