"""Mutations of reviews and of conversations about the diff.

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
def request_reviews(call: Call, given: Given) -> Payload:
    """Those who are asked from now on, or with `union` besides the others."""
    pull = pull_to_change(call, given["pullRequestId"])
    if given.get("teamIds"):
        raise no_node(given["teamIds"][0])
    asked = [meant(call, one, User) for one in given.get("userIds") or ()]
    if not given.get("union"):
        gone = [one for one in pull.requested_reviewers if one not in asked]
        reviews.unrequest(pull, gone, call.viewer)
    doing(lambda: reviews.request(pull, asked, call.viewer))
    return {"pullRequest": pull, "actor": call.viewer}


@mutation("pullRequestReview", takes="body commitOID event threads")
def add_pull_request_review(call: Call, given: Given) -> Payload:
    """Without an event it is pending."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    demand(call, pull.repository, own=True)
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


@mutation(
    "thread", takes="line pullRequestId pullRequestReviewId side startLine startSide subjectType"
)
def add_pull_request_review_thread(call: Call, given: Given) -> Payload:
    """Into a pending review, which begins with it."""
    if given.get("pullRequestReviewId"):
        review = meant(call, given["pullRequestReviewId"], Review)
        pull = review.pull
    elif given.get("pullRequestId"):
        pull = meant(call, given["pullRequestId"], PullRequest)
        review = _pending(call, pull)
    else:
        raise unprocessable("Either pullRequestId or pullRequestReviewId must be given")
    demand(call, pull.repository, own=True)
    return {"thread": _begin(call, pull, review, given).thread}


@mutation("comment", takes="pullRequestReviewId")
def add_pull_request_review_thread_reply(call: Call, given: Given) -> Payload:
    """At once, or into a pending review."""
    thread = meant(call, given["pullRequestReviewThreadId"], ReviewThread)
    pull = thread.pull
    demand(call, pull.repository, own=True)
    if given.get("pullRequestReviewId"):
        review = meant(call, given["pullRequestReviewId"], Review)
    else:
        review = reviews.pending(pull, call.viewer) or threads.review_for(pull, call.viewer)
    return {"comment": threads.reply(thread.comments[0], call.viewer, given["body"], review)}


@mutation("pullRequestReview", takes="body pullRequestId pullRequestReviewId")
def submit_pull_request_review(call: Call, given: Given) -> Payload:
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


@mutation("pullRequestReview")
def delete_pull_request_review(call: Call, given: Given) -> Payload:
    """Of a pending one."""
    review = meant(call, given["pullRequestReviewId"], Review)
    demand(call, review.pull.repository,
            own=review.author is call.viewer)  # fmt: skip
    doing(lambda: reviews.delete(review))
    return {"pullRequestReview": review}


@mutation("pullRequestReview")
def dismiss_pull_request_review(call: Call, given: Given) -> Payload:
    review = meant(call, given["pullRequestReviewId"], Review)
    demand(call, review.pull.repository)
    doing(lambda: reviews.dismiss(review, call.viewer, given["message"]))
    return {"pullRequestReview": review}


def _thread(call: Call, given: Given) -> ReviewThread:
    """The conversation that is meant, for writers and the pull request's author.

    A token has to be let write the contents: https://github.com/github/gh-aw/issues/35726.
    """
    thread = meant(call, given["threadId"], ReviewThread)
    pull = thread.pull
    if not call.token.may("contents:write"):
        raise forbidden(call.token)
    demand(call, pull.repository, own=pull.issue.author is call.viewer)
    return thread


@mutation("thread")
def resolve_review_thread(call: Call, given: Given) -> Payload:
    thread = _thread(call, given)
    threads.resolve(thread, call.viewer)
    return {"thread": thread}


@mutation("thread")
def unresolve_review_thread(call: Call, given: Given) -> Payload:
    thread = _thread(call, given)
    threads.resolve(thread, None)
    return {"thread": thread}


def _to_fold(call: Call, given: Given) -> Comment | Review | ReviewComment:
    """What is to be folded away or shown again, by whoever may write."""
    found: Any = node(call, given["subjectId"])
    if not isinstance(found, Comment | Review | ReviewComment):
        raise no_node(given["subjectId"])
    half = found.thread if isinstance(found, ReviewComment) else found
    pull = half.issue if isinstance(half, Comment) else half.pull
    demand(call, pull.repository)
    return found


@mutation("minimizedComment")
def minimize_comment(call: Call, given: Given) -> Payload:
    """The reason is worded as the page has it: `off-topic`."""
    found = _to_fold(call, given)
    found.minimized = given["classifier"].lower().replace("_", "-")
    return {"minimizedComment": found}


@mutation("unminimizedComment")
def unminimize_comment(call: Call, given: Given) -> Payload:
    found = _to_fold(call, given)
    found.minimized = None
    return {"unminimizedComment": found}


INPUTS = {
    "DraftPullRequestReviewThread": "side startLine startSide",
}
