"""Whom an open pull request waits for. Pure.

Its author comes first, who has to mend something before others can go on; the merge comes last, where
nothing else is left. How it stands is worded as wherever else it is told (`merge_messages`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from lifecycle.claim.decisions.pull import merge_standing
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.messages import merge_messages as words
from lifecycle.core.values.checks import Bucket, Verdict

if TYPE_CHECKING:
    from lifecycle.core.values.model import PullRequest


class Whom(StrEnum):
    """Whom, or what; those who have to do something first."""

    AUTHOR = "author"
    REVIEWERS = "reviewers"
    MERGE = "merge"
    """Somebody who merges it."""
    RULE = "rule"
    CHECKS = "checks"
    QUEUE = "queue"
    AUTO_MERGE = "auto-merge"


@dataclass(frozen=True, slots=True)
class Awaiting:
    """Whom a pull request waits for, and how it stands, as a verb phrase; `names` are logins and teams."""

    whom: Whom
    why: str
    names: tuple[str, ...] = ()


def awaited(pull: PullRequest) -> Awaiting:
    """Whom an open pull request waits for, by what was read of it."""
    how = words.readiness(pull, is_reported=False)
    if to_mend := _to_mend(pull, how):
        return Awaiting(Whom.AUTHOR, to_mend, (pull.author,) if pull.author else ())
    runs = pull.checks.runs if pull.checks is not None else ()
    is_running = any(run.bucket is Bucket.PENDING for run in runs)
    if pull.queue is not None:
        return Awaiting(Whom.QUEUE, how)
    if pull.requested or pull.review_decision == "REVIEW_REQUIRED":
        is_required = pull.review_decision == "REVIEW_REQUIRED"
        waits = words.waits_for(pull) if is_required else "a review that was asked for"
        why = words.waiting(waits, is_running=is_running)
        return Awaiting(Whom.REVIEWERS, why, pull.requested)
    if is_running:
        return Awaiting(Whom.CHECKS, words.waiting("its checks"))
    if pull.is_auto_merge:
        return Awaiting(Whom.AUTO_MERGE, how)
    if pull.merge_state == "BLOCKED":
        return Awaiting(Whom.RULE, how)
    return Awaiting(Whom.MERGE, how)


def _to_mend(pull: PullRequest, how: str) -> str:
    """What its author has to mend, as a verb phrase; "" if nothing.

    Who asked for changes and is asked for another review has the next word, and whoever is asked for one
    may find what was said before answered.
    """
    asked_by = [one.author for one in pull.changes_requested if one.author not in pull.requested]
    is_refused = pull.review_decision == "CHANGES_REQUESTED" and not pull.requested
    left = pull.conversations.unresolved if pull.conversations is not None else 0
    if pull.mergeable == merge_standing.CONFLICTING:
        return words.conflicting(pull.base)
    if pull.checks is not None and pull.checks.verdict is Verdict.FAILED:
        return words.red()
    if asked_by or is_refused:
        return words.changes(asked_by)
    if pull.queue is not None:
        return ""
    if left and not pull.requested and not pull.is_draft:
        return words.unresolved(left)
    is_behind = pull.merge_state == merge_standing.BEHIND and not pull.requested
    return how if pull.is_draft or is_behind else ""
