"""Steps that closing and releasing share: the comment, and steps that may fail.

A claim ends in steps, each a fact of its own. The comment is a create that GitHub does not
deduplicate, so it is looked for by its hidden marker. The board, the assignee and the lease are best
effort: they are tried again while that can help, and then the claim ends without them.
"""

from __future__ import annotations

from typing import Literal

from lifecycle.claim.decisions.snapshot import (
    COMMENT_READS,
    COMMENT_SETTLE,
    Decision,
    Snapshot,
    may_try,
)
from lifecycle.claim.record.sections import Trouble
from lifecycle.claim.record.state import BEST_EFFORT_TRIES, Record, fold, kind_of, mark_of
from lifecycle.core import hidden_marker
from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import Action, Commented, PostComment, ReleaseLease
from lifecycle.core.values.model import Observation

Settled = Literal["done", "waiting"]
"""The comment needs no step now: it is there (or refused for good), or reads have to settle."""

_STEPS = (
    "PostComment",
    "CloseIssue",
    "Unassign",
    "SetBoard",
    "ReleaseLease",
    "SetLinked",
    "FindLinked",
)


def may_go_on(snapshot: Snapshot) -> bool:
    """True unless every step that is left waits for a later moment."""
    troubles = snapshot.record.troubles
    waits = [troubles[kind].until for kind in _STEPS if kind in troubles]
    return not waits or snapshot.now >= min(waits)


def comment_step(snapshot: Snapshot, comment: PostComment) -> Decision | Settled:
    """The next step to get the comment onto the issue exactly once; or "done", or "waiting"."""
    record = snapshot.record
    if record.ending.comment_done:
        return "done"
    if _is_posted(comment, snapshot.observation):
        return Decision(record=fold(record, Commented(comment.marker), snapshot.now))
    intent = record.intents.get("PostComment")
    if intent is not None and intent.mark == comment.marker:
        has_settled = snapshot.now - intent.at >= COMMENT_SETTLE
        if has_settled and intent.clean_reads >= COMMENT_READS:
            return Decision(action=comment)
        return "waiting"
    if may_try(snapshot, comment):
        return Decision(action=comment)
    # A comment that GitHub refuses does not keep the claim; its complaint says so.
    trouble = record.troubles.get("PostComment")
    return "done" if trouble is not None and trouble.is_final else "waiting"


def comment_missed(record: Record, seen: Observation, now: float) -> Record:
    """Count this read of the comments for one whose posting is unknown; `comment_step` looks for it."""
    intent = record.intents.get("PostComment")
    if intent is None or seen.issue is None or seen.issue.comments is None:
        return record
    intent = replace(intent, clean_reads=intent.clean_reads + 1)
    # The next read, once the time is up, finds it or allows another attempt.
    again = max(intent.at + COMMENT_SETTLE, now + 1)
    trouble = Trouble(intent.mark, "it is not known whether the comment was posted", again)
    return replace(
        record,
        intents={**record.intents, "PostComment": intent},
        troubles={**record.troubles, "PostComment": trouble},
    )


def lease_step(snapshot: Snapshot) -> Decision | None:
    """The step that ends the lease; None if there is none, it has ended, or that was given up."""
    record = snapshot.record
    release = ReleaseLease(record.claim.issue, record.ownership.lease)
    if not record.ownership.lease or record.ending.lease_done or is_given_up(record, release):
        return None
    return Decision(action=release if may_try(snapshot, release) else None)


def is_given_up(record: Record, action: Action) -> bool:
    """True if a best-effort step was refused, or failed too often to wait for it any longer."""
    trouble = record.troubles.get(kind_of(action))
    if trouble is None or trouble.mark != mark_of(action):
        return False
    return trouble.is_final or trouble.tries >= BEST_EFFORT_TRIES


def _is_posted(comment: PostComment, seen: Observation | None) -> bool:
    comments = seen.issue.comments if seen is not None and seen.issue is not None else None
    return any(hidden_marker.is_signed(posted.body, comment.marker) for posted in comments or ())
