"""GraphQL's fields of reviews, review threads and review requests."""

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
    """The request of a review from one user."""

    pull: PullRequest
    reviewer: User


def _opinions(_call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    writers_only = bool(arguments.pop("writersOnly", False))
    return connection(reviews.opinions(pull, writers_only=writers_only), **arguments)


def _latest(_call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    return connection(reviews.latest(pull), **arguments)


def _reviews(call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    author, states = arguments.pop("author", None), arguments.pop("states", None)
    selection = reviews.visible(pull, call.viewer)
    if author is not None:
        names = {author.lower(), f"{author.lower()}[bot]"}
        selection = [review for review in selection if review.author.login.lower() in names]
    if states is not None:
        selection = [review for review in selection if review.state in states]
    return connection(selection, **arguments)


def _requests(_call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    return connection([ReviewRequest(pull, user) for user in pull.requested_reviewers], **arguments)


def _seen(call: Call, thread: ReviewThread) -> list[ReviewComment]:
    """The comments of a thread that the viewer sees: all but other users' pending ones."""
    return [
        comment
        for comment in thread.comments
        if comment.review is None
        or comment.review.state != "PENDING"
        or comment.author is call.viewer
    ]


def _threads(call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    return connection([thread for thread in pull.threads if _seen(call, thread)], **arguments)


def _review_comments(call: Call, review: Review, **arguments: Any) -> dict[str, Any]:
    comments = threads.comments_of(review.pull, call.viewer)
    return connection([comment for comment in comments if comment.review is review], **arguments)


def _association(call: Call, subject: Any) -> str:
    pull = subject.pull if isinstance(subject, Review) else subject.thread.pull
    return associate(call, pull.repository, subject.author)


def _may_resolve(call: Call, thread: ReviewThread) -> bool:
    """Whether the viewer may resolve threads: writers and the author may, with `contents:write`.

    Seen in public: https://github.com/github/gh-aw/issues/35726 and
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
        "id": lambda _, request: named_id("RR", request.pull.id, request.reviewer.login),
        "asCodeOwner": lambda *_: False,
        "pullRequest": lambda _, request: request.pull,
        "requestedReviewer": lambda _, request: request.reviewer,
    },
    "PullRequestReview": {
        "url": review_url,
        "authorAssociation": _association,
        "createdAt": lambda _, review: stamp(review.submitted_at),
        "updatedAt": lambda _, review: stamp(review.edited_at or review.submitted_at),
        "lastEditedAt": lambda _, review: stamp(review.edited_at) if review.edited_at else None,
        **MINIMIZABLE,
        "submittedAt": lambda _, review: (
            stamp(review.submitted_at) if review.state != "PENDING" else None
        ),
        "commit": lambda _, review: CommitAt(review.pull.repository, review.sha),
        "comments": _review_comments,
        "pullRequest": lambda _, review: review.pull,
        "includesCreatedEdit": lambda _, review: review.edited_at is not None,
        "reactionGroups": reaction_groups,
        "viewerDidAuthor": lambda c, review: review.author is c.viewer,
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
        "comments": lambda c, thread, **arguments: connection(_seen(c, thread), **arguments),
        "pullRequest": lambda _, thread: thread.pull,
        "viewerCanReply": lambda c, thread: (
            not thread.pull.issue.locked or thread.pull.repository.can_push(c.viewer)
        ),
        "viewerCanResolve": lambda c, thread: (
            thread.resolved_by is None and _may_resolve(c, thread)
        ),
        "viewerCanUnresolve": lambda c, thread: (
            thread.resolved_by is not None and _may_resolve(c, thread)
        ),
    },
    "PullRequestReviewComment": {
        "url": comment_url,
        "authorAssociation": _association,
        "line": lambda _, comment: None if comment.thread.is_outdated else comment.thread.line,
        "originalLine": lambda _, comment: comment.thread.line,
        "outdated": lambda _, comment: comment.thread.is_outdated,
        "lastEditedAt": lambda _, comment: (
            stamp(comment.updated_at) if comment.updated_at != comment.created_at else None
        ),
        "includesCreatedEdit": lambda _, comment: comment.updated_at != comment.created_at,
        **MINIMIZABLE,
        "commit": lambda _, comment: CommitAt(
            comment.thread.pull.repository, comment.thread.pull.head_sha
        ),
        "originalCommit": lambda _, comment: CommitAt(
            comment.thread.pull.repository, comment.thread.sha
        ),
        "pullRequestReview": lambda _, comment: comment.review,
        "pullRequest": lambda _, comment: comment.thread.pull,
        "state": lambda _, comment: (
            "PENDING" if comment.review and comment.review.state == "PENDING" else "SUBMITTED"
        ),
        "reactionGroups": reaction_groups,
        "viewerDidAuthor": lambda c, comment: comment.author is c.viewer,
    },
}
