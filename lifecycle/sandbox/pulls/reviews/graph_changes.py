"""GraphQL's mutations of reviews and of threads on the diff.

Source: https://docs.github.com/graphql/reference/mutations
"""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.issues.state import Comment
from lifecycle.sandbox.pulls.graph_changes import demand, pull_to_change
from lifecycle.sandbox.pulls.reviews import actions as reviews
from lifecycle.sandbox.pulls.reviews import threads
from lifecycle.sandbox.pulls.state import (
    PullRequest,
    Review,
    ReviewComment,
    ReviewState,
    ReviewThread,
)
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.changing import (
    Given,
    Payload,
    doing,
    meant,
    mutation,
    unprocessable,
)
from lifecycle.sandbox.wire.graph.nodes import node
from lifecycle.sandbox.wire.graph.pages import forbidden, no_node

STATES: dict[str | None, ReviewState] = {
    None: "PENDING", "COMMENT": "COMMENTED", "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
}  # fmt: skip


@mutation("pullRequest actor", takes="teamIds union userIds")
def request_reviews(call: Call, wanted: Given) -> Payload:
    """Request reviews from only these users, or with `union` in addition to the existing requests."""
    pull = pull_to_change(call, wanted["pullRequestId"])
    if wanted.get("teamIds"):
        raise no_node(wanted["teamIds"][0])
    asked = [meant(call, user_id, User) for user_id in wanted.get("userIds") or ()]
    if not wanted.get("union"):
        gone = [reviewer for reviewer in pull.requested_reviewers if reviewer not in asked]
        reviews.unrequest(pull, gone, call.viewer)
    doing(lambda: reviews.request(pull, asked, call.viewer))
    return {"pullRequest": pull, "actor": call.viewer}


@mutation("pullRequestReview", takes="body commitOID event threads")
def add_pull_request_review(call: Call, wanted: Given) -> Payload:
    """Add a review; without an event it is pending."""
    pull = meant(call, wanted["pullRequestId"], PullRequest)
    demand(call, pull.repository, own=True)
    state, body = STATES[wanted.get("event")], wanted.get("body") or ""
    drafts = wanted.get("threads") or []
    if state in {"COMMENTED", "CHANGES_REQUESTED"} and not body.strip() and not drafts:
        raise unprocessable("Body can't be blank")
    review = doing(lambda: reviews.review(pull, call.viewer, state, body, wanted.get("commitOID")))
    for draft in drafts:
        _begin(call, pull, review, draft)
    return {"pullRequestReview": review}


def _begin(call: Call, pull: PullRequest, review: Review, wanted: Given) -> ReviewComment:
    side: threads.Side = wanted.get("side") or "RIGHT"
    begins = wanted.get("startLine")
    start_side: threads.Side | None = wanted.get("startSide") or (side if begins else None)
    is_file = wanted.get("subjectType") == "FILE"
    line = None if is_file else wanted.get("line")
    place = threads.Place(wanted["path"], line, side, begins, start_side)
    return doing(lambda: threads.begin(pull, call.viewer, place, wanted["body"], review))


def _pending(call: Call, pull: PullRequest) -> Review:
    """The viewer's pending review; it is begun if there is none."""
    begun = reviews.pending(pull, call.viewer)
    return begun or reviews.review(pull, call.viewer, "PENDING", "")


@mutation(
    "thread", takes="line pullRequestId pullRequestReviewId side startLine startSide subjectType"
)
def add_pull_request_review_thread(call: Call, wanted: Given) -> Payload:
    """Begin a thread in a pending review; the review is begun if there is none."""
    if wanted.get("pullRequestReviewId"):
        review = meant(call, wanted["pullRequestReviewId"], Review)
        pull = review.pull
    elif wanted.get("pullRequestId"):
        pull = meant(call, wanted["pullRequestId"], PullRequest)
        review = _pending(call, pull)
    else:
        raise unprocessable("Either pullRequestId or pullRequestReviewId must be given")
    demand(call, pull.repository, own=True)
    return {"thread": _begin(call, pull, review, wanted).thread}


@mutation("comment", takes="pullRequestReviewId")
def add_pull_request_review_thread_reply(call: Call, wanted: Given) -> Payload:
    """Reply in a thread, at once or in a pending review."""
    thread = meant(call, wanted["pullRequestReviewThreadId"], ReviewThread)
    pull = thread.pull
    demand(call, pull.repository, own=True)
    if wanted.get("pullRequestReviewId"):
        review = meant(call, wanted["pullRequestReviewId"], Review)
    else:
        review = reviews.pending(pull, call.viewer) or threads.review_for(pull, call.viewer)
    return {"comment": threads.reply(thread.comments[0], call.viewer, wanted["body"], review)}


@mutation("pullRequestReview", takes="body pullRequestId pullRequestReviewId")
def submit_pull_request_review(call: Call, wanted: Given) -> Payload:
    if wanted.get("pullRequestReviewId"):
        review: Review | None = meant(call, wanted["pullRequestReviewId"], Review)
    else:
        pull = meant(call, str(wanted.get("pullRequestId")), PullRequest)
        review = reviews.pending(pull, call.viewer)
    if review is None or review.author is not call.viewer:
        raise unprocessable("Could not find a pending review")
    pending = review
    doing(lambda: reviews.submit(pending, STATES[wanted["event"]], wanted.get("body")))
    return {"pullRequestReview": pending}


@mutation("pullRequestReview")
def delete_pull_request_review(call: Call, wanted: Given) -> Payload:
    """Delete a pending review."""
    review = meant(call, wanted["pullRequestReviewId"], Review)
    demand(call, review.pull.repository,
            own=review.author is call.viewer)  # fmt: skip
    doing(lambda: reviews.delete(review))
    return {"pullRequestReview": review}


@mutation("pullRequestReview")
def dismiss_pull_request_review(call: Call, wanted: Given) -> Payload:
    review = meant(call, wanted["pullRequestReviewId"], Review)
    demand(call, review.pull.repository)
    doing(lambda: reviews.dismiss(review, call.viewer, wanted["message"]))
    return {"pullRequestReview": review}


def _thread(call: Call, wanted: Given) -> ReviewThread:
    """The thread that the input names, for writers and the pull request's author.

    The token needs `contents:write`: https://github.com/github/gh-aw/issues/35726.
    """
    thread = meant(call, wanted["threadId"], ReviewThread)
    pull = thread.pull
    if not call.token.may("contents:write"):
        raise forbidden(call.token)
    demand(call, pull.repository, own=pull.issue.author is call.viewer)
    return thread


@mutation("thread")
def resolve_review_thread(call: Call, wanted: Given) -> Payload:
    thread = _thread(call, wanted)
    threads.resolve(thread, call.viewer)
    return {"thread": thread}


@mutation("thread")
def unresolve_review_thread(call: Call, wanted: Given) -> Payload:
    thread = _thread(call, wanted)
    threads.resolve(thread, None)
    return {"thread": thread}


def _to_fold(call: Call, wanted: Given) -> Comment | Review | ReviewComment:
    """The comment or review to minimize or to show again, for users who may write."""
    subject: Any = node(call, wanted["subjectId"])
    if not isinstance(subject, Comment | Review | ReviewComment):
        raise no_node(wanted["subjectId"])
    half = subject.thread if isinstance(subject, ReviewComment) else subject
    pull = half.issue if isinstance(half, Comment) else half.pull
    demand(call, pull.repository)
    return subject


@mutation("minimizedComment")
def minimize_comment(call: Call, wanted: Given) -> Payload:
    """Minimize a comment or review; the reason is stored in the page's form: `off-topic`."""
    subject = _to_fold(call, wanted)
    subject.minimized = wanted["classifier"].lower().replace("_", "-")
    return {"minimizedComment": subject}


@mutation("unminimizedComment")
def unminimize_comment(call: Call, wanted: Given) -> Payload:
    subject = _to_fold(call, wanted)
    subject.minimized = None
    return {"unminimizedComment": subject}


INPUTS = {
    "DraftPullRequestReviewThread": "side startLine startSide",
}
