"""Comments on lines of a pull request's diff."""

from __future__ import annotations

from lifecycle.sandbox.base.errors import invalid
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.pulls.reviews import payload as payloads
from lifecycle.sandbox.pulls.reviews import threads
from lifecycle.sandbox.pulls.reviews.rest import place_of
from lifecycle.sandbox.pulls.state import PullTables, ReviewComment
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call, Reply
from lifecycle.sandbox.wire.rest import asking
from lifecycle.sandbox.wire.rest.routing import REPO, Route

COMMENTS = "https://docs.github.com/rest/pulls/comments"
CREATE = f"{COMMENTS}#create-a-review-comment-for-a-pull-request"


def _page(call: Call, found: list[ReviewComment]) -> Reply:
    """A page of comments by sort (created, updated), direction and since."""
    asking.only(call, "sort", "direction", "since")
    sort = asking.choice(
        call, "sort", "created", {"created", "updated"}, "PullRequestReviewComment"
    )
    if since := call.query.get("since"):
        moment = asking.moment(since, "since", "PullRequestReviewComment", COMMENTS)
        found = [one for one in found if one.updated_at >= moment]
    down = call.query.get("direction") == "desc" and "sort" in call.query
    found.sort(key=lambda one: (one.updated_at if sort == "updated" else one.created_at, one.id),
               reverse=down)  # fmt: skip
    shown, headers = call.page(found)
    return Reply(200, [payloads.comment(call, one) for one in shown], headers)


def list_comments(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/pulls/N/comments."""
    return _page(call, threads.comments_of(asking.pull(repo, number), call.viewer))


def list_review_comments(call: Call, repo: Repository, number: int, review: int) -> Reply:
    """GET /repos/O/R/pulls/N/reviews/ID/comments."""
    pull = asking.pull(repo, number)
    found = threads.comments_of(pull, call.viewer)
    return _page(call, [one for one in found if one.review and one.review.id == review])


def list_all(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/pulls/comments, of all pull requests."""
    found = [
        one
        for pull in PullTables.of(repo).pulls.values()
        if pull.threads
        for one in threads.comments_of(pull, call.viewer)
    ]
    return _page(call, found)


def create_comment(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/pulls/N/comments: a new conversation, or with in_reply_to an answer."""
    pull = asking.pull(repo, number)
    asking.fields(
        call, "body", "commit_id", "path", "line", "side", "start_line", "start_side",
        "subject_type", "in_reply_to",
    )  # fmt: skip
    body = asking.text(call, "body", "PullRequestReviewComment", CREATE)
    if "in_reply_to" in call.body:
        return _answer(call, repo, number, asking.needed(call, "in_reply_to", int, CREATE), body)
    place = place_of(dict(call.body), CREATE)
    sha = asking.needed(call, "commit_id", str, CREATE)
    wrong = {"resource": "PullRequestReviewComment", "code": "custom"}
    if repo.git.resolve(sha) is None:
        message = "commit_id is not part of the pull request"
        raise invalid(CREATE, {**wrong, "field": "commit_id", "message": message})
    review = threads.review_for(pull, call.viewer)
    try:
        made = threads.begin(pull, call.viewer, place, body, review)
    except threads.NotInDiff as refused:
        pull.reviews.remove(review)
        error = {**wrong, "field": refused.field, "message": f"{refused.field} {refused}"}
        raise invalid(CREATE, error) from None
    answer = payloads.comment(call, made)
    return Reply(201, answer, {"Location": answer["url"]})


def _answer(call: Call, repo: Repository, number: int, comment: int, body: str) -> Reply:
    before = _comment(repo, comment)
    if before.thread.pull.number != number:
        raise asking.not_found(COMMENTS)
    review = threads.review_for(before.thread.pull, call.viewer)
    answer = payloads.comment(call, threads.reply(before, call.viewer, body, review))
    return Reply(201, answer, {"Location": answer["url"]})


def reply(call: Call, repo: Repository, number: int, comment: int) -> Reply:
    """POST /repos/O/R/pulls/N/comments/ID/replies."""
    asking.fields(call, "body")
    documentation = f"{COMMENTS}#create-a-reply-for-a-review-comment"
    body = asking.text(call, "body", "PullRequestReviewComment", documentation)
    return _answer(call, repo, number, comment, body)


def _comment(repo: Repository, comment: int) -> ReviewComment:
    found = repo.world.nodes.get(node_id("PRRC", repo.id, comment))
    if not isinstance(found, ReviewComment):
        raise asking.not_found(f"{COMMENTS}#get-a-review-comment-for-a-pull-request")
    return found


def get_comment(call: Call, repo: Repository, comment: int) -> Reply:
    """GET /repos/O/R/pulls/comments/ID."""
    return Reply(200, payloads.comment(call, _comment(repo, comment)))


def edit_comment(call: Call, repo: Repository, comment: int) -> Reply:
    """PATCH /repos/O/R/pulls/comments/ID, for its author and whoever may write."""
    made = _comment(repo, comment)
    documentation = f"{COMMENTS}#update-a-review-comment-for-a-pull-request"
    asking.fields(call, "body")
    if made.author is not call.viewer:
        asking.demand_push(call, repo, documentation)
    made.body = asking.text(call, "body", "PullRequestReviewComment", documentation)
    made.updated_at = now()
    return Reply(200, payloads.comment(call, made))


def delete_comment(call: Call, repo: Repository, comment: int) -> Reply:
    """DELETE /repos/O/R/pulls/comments/ID, for its author and whoever may write."""
    made = _comment(repo, comment)
    if made.author is not call.viewer:
        asking.demand_push(call, repo, f"{COMMENTS}#delete-a-review-comment-for-a-pull-request")
    threads.delete(made)
    return Reply(204, None)


PULL = f"{REPO}/pulls/<int:number>"
COMMENT = f"{REPO}/pulls/comments/<int:comment>"
WRITE = "pull_requests:write"
ROUTES = (
    Route("GET", f"{REPO}/pulls/comments", list_all),
    Route("GET", f"{PULL}/comments", list_comments),
    Route("GET", f"{PULL}/reviews/<int:review>/comments", list_review_comments),
    Route("POST", f"{PULL}/comments", create_comment, WRITE),
    Route("POST", f"{PULL}/comments/<int:comment>/replies", reply, WRITE),
    Route("GET", COMMENT, get_comment),
    Route("PATCH", COMMENT, edit_comment, WRITE),
    Route("DELETE", COMMENT, delete_comment, WRITE),
)
