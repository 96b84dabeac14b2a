"""Pull requests as a seed writes them."""

from __future__ import annotations

from lifecycle.sandbox.pulls.state import PullRequest, ReviewThread
from lifecycle.sandbox.seed.form import (
    SeedAutoMerge,
    SeedPull,
    SeedQueueEntry,
    SeedReview,
    SeedReviewComment,
    SeedThread,
)
from lifecycle.sandbox.seed.plain import comments_of, events_of, halves, login, plain

OF_THE_ISSUE = (
    "number", "title", "body", "state", "locked", "lock_reason", "created_at", "updated_at",
    "closed_at", "hidden_for", "unread_for",
)  # fmt: skip


def pull(made: PullRequest) -> SeedPull:
    """A pull request with both of its halves."""
    issue, auto, entry = made.issue, made.auto_merge, made.queue_entry
    there = made.head_repository
    return plain(
        SeedPull,
        made,
        **{name: getattr(issue, name) for name in OF_THE_ISSUE},
        **halves(issue),
        comments=comments_of(issue),
        events=events_of(issue),
        reviews=[plain(SeedReview, one, author=one.author.login) for one in made.reviews],
        threads=[_thread(one) for one in made.threads],
        requested_reviewers=[user.login for user in made.requested_reviewers],
        merged_by=login(made.merged_by),
        head_repository=there.full_name if there else None,
        head_owner=login(made.head_owner),
        auto_merge=plain(SeedAutoMerge, auto, enabled_by=auto.enabled_by.login) if auto else None,
        queue_entry=plain(SeedQueueEntry, entry, enqueuer=entry.enqueuer.login) if entry else None,
        issue_id=issue.id,
    )


def _thread(made: ReviewThread) -> SeedThread:
    comments = [
        plain(
            SeedReviewComment, one, author=one.author.login,
            review=one.review.id if one.review else None,
            reply_to=one.reply_to.id if one.reply_to else None,
        )
        for one in made.comments
    ]  # fmt: skip
    return plain(SeedThread, made, comments=comments, resolved_by=login(made.resolved_by))
