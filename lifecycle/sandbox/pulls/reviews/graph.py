"""Reviews, conversations about the diff, and who is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.ids import named_id
from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.git.graph import CommitAt
from lifecycle.sandbox.issues.graph import MINIMIZABLE, reaction_groups
from lifecycle.sandbox.pulls.reviews import actions as reviews
from lifecycle.sandbox.pulls.reviews import threads
from lifecycle.sandbox.pulls.reviews.payload import comment_url, review_url
from lifecycle.sandbox.pulls.state import PullRequest, Review, ReviewComment, ReviewThread
from lifecycle.sandbox.repositories.payload import associate
from lifecycle.sandbox.rules import actions as rules
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import connection


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """That somebody is asked to review."""

    pull: PullRequest
    reviewer: User


def _opinions(_call: Call, pull: PullRequest, **given: Any) -> dict[str, Any]:
    writers_only = bool(given.pop("writersOnly", False))
    return connection(reviews.opinions(pull, writers_only=writers_only), **given)


def _latest(_call: Call, pull: PullRequest, **given: Any) -> dict[str, Any]:
    return connection(reviews.latest(pull), **given)


def _reviews(call: Call, pull: PullRequest, **given: Any) -> dict[str, Any]:
    author, states = given.pop("author", None), given.pop("states", None)
    found = reviews.visible(pull, call.viewer)
    if author is not None:
        names = {author.lower(), f"{author.lower()}[bot]"}
        found = [one for one in found if one.author.login.lower() in names]
    if states is not None:
        found = [one for one in found if one.state in states]
    return connection(found, **given)


def _requests(_call: Call, pull: PullRequest, **given: Any) -> dict[str, Any]:
    return connection([ReviewRequest(pull, one) for one in pull.requested_reviewers], **given)


def _seen(call: Call, thread: ReviewThread) -> list[ReviewComment]:
    """What of a conversation the viewer sees: what others have not submitted is not there."""
    return [
        one
        for one in thread.comments
        if one.review is None or one.review.state != "PENDING" or one.author is call.viewer
    ]


def _threads(call: Call, pull: PullRequest, **given: Any) -> dict[str, Any]:
    return connection([one for one in pull.threads if _seen(call, one)], **given)


def _review_comments(call: Call, review: Review, **given: Any) -> dict[str, Any]:
    found = threads.comments_of(review.pull, call.viewer)
    return connection([one for one in found if one.review is review], **given)


def _association(call: Call, one: Any) -> str:
    pull = one.pull if isinstance(one, Review) else one.thread.pull
    return associate(call, pull.repository, one.author)


def _may_resolve(call: Call, thread: ReviewThread) -> bool:
    """GitHub lets writers and the pull request's author resolve; a token needs more than its owner.

    Measured in public: https://github.com/github/gh-aw/issues/35726 and
    https://github.com/derailed-dash/gemini-review-action/pull/47.
    """
    pull = thread.pull
    if not call.token.may("contents:write"):
        return False
    return pull.repository.can_push(call.viewer) or pull.issue.author is call.viewer


TYPES = {
    Review: "PullRequestReview",
    ReviewComment: "PullRequestReviewComment",
    ReviewThread: "PullRequestReviewThread",
    ReviewRequest: "ReviewRequest",
}
PLAIN = {
    "PullRequestReview": "repository author body state id databaseId fullDatabaseId",
    "PullRequestReviewThread": "repository path id isOutdated resolvedBy",
    "PullRequestReviewComment": "repository path author body id databaseId fullDatabaseId "
    "createdAt updatedAt diffHunk replyTo",
}
RESOLVERS: dict[str, dict[str, Any]] = {
    "PullRequest": {
        "reviewDecision": lambda _, pull: rules.decision(pull),
        "latestOpinionatedReviews(writersOnly)": _opinions,
        "latestReviews": _latest,
        "reviews(author, states)": _reviews,
        "reviewRequests": _requests,
        "reviewThreads": _threads,
    },
    "ReviewRequest": {
        "id": lambda _, one: named_id("RR", one.pull.id, one.reviewer.login),
        "asCodeOwner": lambda *_: False,
        "pullRequest": lambda _, one: one.pull,
        "requestedReviewer": lambda _, one: one.reviewer,
    },
    "PullRequestReview": {
        "url": review_url,
        "authorAssociation": _association,
        "createdAt": lambda _, review: stamp(review.submitted_at),
        "updatedAt": lambda _, review: stamp(review.edited_at or review.submitted_at),
        "lastEditedAt": lambda _, one: stamp(one.edited_at) if one.edited_at else None,
        **MINIMIZABLE,
        "submittedAt": lambda _, one: stamp(one.submitted_at) if one.state != "PENDING" else None,
        "commit": lambda _, one: CommitAt(one.pull.repository, one.sha),
        "comments": _review_comments,
        "pullRequest": lambda _, review: review.pull,
        "includesCreatedEdit": lambda _, one: one.edited_at is not None,
        "reactionGroups": reaction_groups,
        "viewerDidAuthor": lambda c, one: one.author is c.viewer,
    },
    "PullRequestReviewThread": {
        "isResolved": lambda _, thread: thread.resolved_by is not None,
        "isCollapsed": lambda _, thread: thread.resolved_by is not None,
        "line": lambda _, thread: None if thread.is_outdated else thread.line,
        "originalLine": lambda _, thread: thread.line,
        "startLine": lambda _, thread: None if thread.is_outdated else thread.start_line,
        "originalStartLine": lambda _, thread: thread.start_line,
        "diffSide": lambda _, thread: thread.side,
        "startDiffSide": lambda _, thread: thread.start_side,
        "subjectType": lambda _, thread: "FILE" if thread.line is None else "LINE",
        "comments": lambda c, thread, **given: connection(_seen(c, thread), **given),
        "pullRequest": lambda _, thread: thread.pull,
        "viewerCanReply": lambda c, one: (
            not one.pull.issue.locked or one.pull.repository.can_push(c.viewer)
        ),
        "viewerCanResolve": lambda c, one: one.resolved_by is None and _may_resolve(c, one),
        "viewerCanUnresolve": lambda c, one: one.resolved_by is not None and _may_resolve(c, one),
    },
    "PullRequestReviewComment": {
        "url": comment_url,
        "authorAssociation": _association,
        "line": lambda _, one: None if one.thread.is_outdated else one.thread.line,
        "originalLine": lambda _, one: one.thread.line,
        "outdated": lambda _, one: one.thread.is_outdated,
        "lastEditedAt": lambda _, one: (
            stamp(one.updated_at) if one.updated_at != one.created_at else None
        ),
        "includesCreatedEdit": lambda _, one: one.updated_at != one.created_at,
        **MINIMIZABLE,
        "commit": lambda _, one: CommitAt(one.thread.pull.repository, one.thread.pull.head_sha),
        "originalCommit": lambda _, one: CommitAt(one.thread.pull.repository, one.thread.sha),
        "pullRequestReview": lambda _, one: one.review,
        "pullRequest": lambda _, one: one.thread.pull,
        "state": lambda _, one: (
            "PENDING" if one.review and one.review.state == "PENDING" else "SUBMITTED"
        ),
        "reactionGroups": reaction_groups,
        "viewerDidAuthor": lambda c, one: one.author is c.viewer,
    },
}
