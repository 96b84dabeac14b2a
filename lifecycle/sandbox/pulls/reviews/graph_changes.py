"""Mutations of reviews and of conversations about the diff.

Source: https://docs.github.com/graphql/reference/mutations
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.pulls.graph_changes import demand
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
    mutations,
    unprocessable,
)
from lifecycle.sandbox.wire.graph.pages import no_node

STATES: dict[str | None, ReviewState] = {
    None: "PENDING", "COMMENT": "COMMENTED", "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
}  # fmt: skip


def request_reviews(call: Call, given: Given) -> Payload:
    """`requestReviews`: those who are asked from now on, or with `union` besides the others."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    demand(call, pull.repository, "RequestReviews")
    if given.get("teamIds"):
        raise no_node(given["teamIds"][0])
    asked = [meant(call, one, User) for one in given.get("userIds") or ()]
    if not given.get("union"):
        gone = [one for one in pull.requested_reviewers if one not in asked]
        reviews.unrequest(pull, gone, call.viewer)
    doing(lambda: reviews.request(pull, asked, call.viewer))
    return {"pullRequest": pull, "actor": call.viewer}


def add_review(call: Call, given: Given) -> Payload:
    """`addPullRequestReview`; without an event it is pending."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    demand(call, pull.repository, "AddPullRequestReview", own=True)
    state, body = STATES[given.get("event")], given.get("body") or ""
    said = given.get("threads") or []
    if state in {"COMMENTED", "CHANGES_REQUESTED"} and not body.strip() and not said:
        raise unprocessable("Body can't be blank")
    made = doing(lambda: reviews.review(pull, call.viewer, state, body, given.get("commitOID")))
    for one in said:
        _begin(call, pull, made, one)
    return {"pullRequestReview": made}


def _begin(call: Call, pull: PullRequest, review: Review, given: Given) -> ReviewComment:
    side: threads.Side = given.get("side") or "RIGHT"
    begins = given.get("startLine")
    start_side: threads.Side | None = given.get("startSide") or (side if begins else None)
    is_file = given.get("subjectType") == "FILE"
    line = None if is_file else given.get("line")
    place = threads.Place(given["path"], line, side, begins, start_side)
    return doing(lambda: threads.begin(pull, call.viewer, place, given["body"], review))


def _pending(call: Call, pull: PullRequest) -> Review:
    """The viewer's pending review, begun if there is none."""
    begun = reviews.pending(pull, call.viewer)
    return begun or reviews.review(pull, call.viewer, "PENDING", "")


def add_thread(call: Call, given: Given) -> Payload:
    """`addPullRequestReviewThread`, into a pending review, which begins with it."""
    if given.get("pullRequestReviewId"):
        review = meant(call, given["pullRequestReviewId"], Review)
        pull = review.pull
    elif given.get("pullRequestId"):
        pull = meant(call, given["pullRequestId"], PullRequest)
        review = _pending(call, pull)
    else:
        raise unprocessable("Either pullRequestId or pullRequestReviewId must be given")
    demand(call, pull.repository, "AddPullRequestReviewThread", own=True)
    return {"thread": _begin(call, pull, review, given).thread}


def add_reply(call: Call, given: Given) -> Payload:
    """`addPullRequestReviewThreadReply`: at once, or into a pending review."""
    thread = meant(call, given["pullRequestReviewThreadId"], ReviewThread)
    pull = thread.pull
    demand(call, pull.repository, "AddPullRequestReviewThreadReply", own=True)
    if given.get("pullRequestReviewId"):
        review = meant(call, given["pullRequestReviewId"], Review)
    else:
        review = reviews.pending(pull, call.viewer) or threads.review_for(pull, call.viewer)
    return {"comment": threads.reply(thread.comments[0], call.viewer, given["body"], review)}


def submit_review(call: Call, given: Given) -> Payload:
    """`submitPullRequestReview`."""
    if given.get("pullRequestReviewId"):
        review: Review | None = meant(call, given["pullRequestReviewId"], Review)
    else:
        pull = meant(call, str(given.get("pullRequestId")), PullRequest)
        review = reviews.pending(pull, call.viewer)
    if review is None or review.author is not call.viewer:
        raise unprocessable("Could not find a pending review")
    found = review
    doing(lambda: reviews.submit(found, STATES[given["event"]], given.get("body")))
    return {"pullRequestReview": found}


def delete_review(call: Call, given: Given) -> Payload:
    """`deletePullRequestReview`, of a pending one."""
    review = meant(call, given["pullRequestReviewId"], Review)
    demand(call, review.pull.repository, "DeletePullRequestReview",
            own=review.author is call.viewer)  # fmt: skip
    doing(lambda: reviews.delete(review))
    return {"pullRequestReview": review}


def dismiss_review(call: Call, given: Given) -> Payload:
    """`dismissPullRequestReview`."""
    review = meant(call, given["pullRequestReviewId"], Review)
    demand(call, review.pull.repository, "DismissPullRequestReview")
    doing(lambda: reviews.dismiss(review, call.viewer, given["message"]))
    return {"pullRequestReview": review}


def resolve_thread(call: Call, given: Given) -> Payload:
    """`resolveReviewThread`, for writers and the pull request's author."""
    thread = meant(call, given["threadId"], ReviewThread)
    own = thread.pull.issue.author is call.viewer
    demand(call, thread.pull.repository, "ResolveReviewThread", own=own)
    threads.resolve(thread, call.viewer)
    return {"thread": thread}


def unresolve_thread(call: Call, given: Given) -> Payload:
    """`unresolveReviewThread`."""
    thread = meant(call, given["threadId"], ReviewThread)
    own = thread.pull.issue.author is call.viewer
    demand(call, thread.pull.repository, "UnresolveReviewThread", own=own)
    threads.resolve(thread, None)
    return {"thread": thread}


MUTATIONS: dict[str, Callable[[Call, Given], Payload]] = {
    "requestReviews": request_reviews,
    "addPullRequestReview": add_review,
    "addPullRequestReviewThread": add_thread,
    "addPullRequestReviewThreadReply": add_reply,
    "submitPullRequestReview": submit_review,
    "deletePullRequestReview": delete_review,
    "dismissPullRequestReview": dismiss_review,
    "resolveReviewThread": resolve_thread,
    "unresolveReviewThread": unresolve_thread,
}
PULL = "pullRequest"
PLAIN = {
    "RequestReviewsPayload": f"{PULL} actor",
    "AddPullRequestReviewPayload": "pullRequestReview",
    "AddPullRequestReviewThreadPayload": "thread",
    "AddPullRequestReviewThreadReplyPayload": "comment",
    "SubmitPullRequestReviewPayload": "pullRequestReview",
    "DeletePullRequestReviewPayload": "pullRequestReview",
    "DismissPullRequestReviewPayload": "pullRequestReview",
    "ResolveReviewThreadPayload": "thread",
    "UnresolveReviewThreadPayload": "thread",
}
INPUTS = {
    "RequestReviewsInput": "teamIds union userIds",
    "AddPullRequestReviewInput": "body commitOID event threads",
    "DraftPullRequestReviewThread": "side startLine startSide",
    "AddPullRequestReviewThreadInput": "line pullRequestId pullRequestReviewId side startLine "
    "startSide subjectType",
    "AddPullRequestReviewThreadReplyInput": "pullRequestReviewId",
    "SubmitPullRequestReviewInput": "body pullRequestId pullRequestReviewId",
}
RESOLVERS: dict[str, dict[str, Any]] = {"Mutation": mutations(MUTATIONS)}
