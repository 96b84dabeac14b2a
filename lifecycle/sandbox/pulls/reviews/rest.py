"""REST's operations on reviews, review requests, and comments on lines of a diff."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from lifecycle.sandbox.accounts import payload as account_payloads
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused, ApiError, invalid, refusing, wrong
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.pulls import payload as pull_payloads
from lifecycle.sandbox.pulls.reviews import actions as reviews
from lifecycle.sandbox.pulls.reviews import payload as payloads
from lifecycle.sandbox.pulls.reviews import threads
from lifecycle.sandbox.pulls.state import PullTables, Review, ReviewComment, ReviewState
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, created, route
from lifecycle.sandbox.wire.rest import asking

REVIEWS = "https://docs.github.com/rest/pulls/reviews"
REQUESTS = "https://docs.github.com/rest/pulls/review-requests"
EVENTS: dict[str, ReviewState] = {
    "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED",
}  # fmt: skip
PULL = f"{REPO}/pulls/<int:number>"
REVIEW = f"{PULL}/reviews/<int:review>"
WRITE = "pull_requests:write"
COMMENTS = "https://docs.github.com/rest/pulls/comments"
COMMENT = f"{REPO}/pulls/comments/<int:comment>"


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn an `ActionRefused` inside into GitHub's 422 with its sentence."""
    try:
        yield
    except ActionRefused as refused:
        raise unprocessable(refused) from None


def unprocessable(refused: ActionRefused | str) -> ApiError:
    """GitHub's 422 with a sentence as its only error, as for reviews."""
    return ApiError(422, "Unprocessable Entity", errors=[str(refused)])


def _review(call: Call, repo: Repository, number: int, review: int) -> Review:
    pull = asking.pull(repo, number)
    entries = reviews.visible(pull, call.viewer)
    target = next((entry for entry in entries if entry.id == review), None)
    if target is None:
        raise asking.not_found(f"{REVIEWS}#get-a-review-for-a-pull-request")
    return target


@route("GET", f"{PULL}/reviews")
def list_reviews(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/pulls/N/reviews, oldest first; only the viewer's own pending ones."""
    asking.only(call)
    pull = asking.pull(repo, number)
    return call.paged(reviews.visible(pull, call.viewer), payloads.review)


@route("GET", REVIEW)
def get_review(call: Call, repo: Repository, number: int, review: int) -> Reply:
    return Reply(200, payloads.review(call, _review(call, repo, number, review)))


def _event(call: Call, *, needed: bool) -> ReviewState:
    event = call.body.get("event")
    if event is None and not needed:
        return "PENDING"
    if event not in EVENTS:
        raise asking.malformed(f'No subschema in "anyOf" matched {event!r}.')
    return EVENTS[str(event)]


@route("POST", f"{PULL}/reviews", WRITE)
def create_review(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/pulls/N/reviews: without an event it is pending."""
    pull = asking.pull(repo, number)
    asking.fields(call, "commit_id", "body", "event", "comments")
    state = _event(call, needed=False)
    body = asking.typed(call, "body", str) or ""
    remarks = [
        (place_of(remark), remark["body"]) for remark in asking.typed(call, "comments", list) or []
    ]
    if state in {"COMMENTED", "CHANGES_REQUESTED"} and not body.strip() and not remarks:
        raise unprocessable("Review Can not be blank")
    sha = asking.typed(call, "commit_id", str)
    if sha is not None and repo.git.resolve(sha) is None:
        raise unprocessable("Commit is not part of the pull request")
    with _refusing():
        review = reviews.review(pull, call.viewer, state, body, sha)
    try:
        for place, text in remarks:
            threads.begin(pull, call.viewer, place, text, review)
    except ActionRefused as refused:
        review.state = "PENDING"
        reviews.delete(review)
        raise unprocessable(f"Line could not be resolved: {refused}") from None
    return Reply(200, payloads.review(call, review))


def place_of(comment: Any) -> threads.Place:
    """The place in a diff that a comment names by path, line and side; or 422."""
    if not isinstance(comment, dict) or not isinstance(comment.get("body"), str):
        raise asking.malformed('"body" wasn\'t supplied.')
    if not isinstance(comment.get("path"), str):
        raise asking.malformed('"path" wasn\'t supplied.')
    if "position" in comment:
        raise ApiError(501, "The sandbox knows places of a diff by line and side, not by position.")
    side = comment.get("side", "RIGHT")
    start_side = comment.get("start_side")
    if side not in {"LEFT", "RIGHT"} or start_side not in {None, "LEFT", "RIGHT", "side"}:
        raise asking.malformed("side is not LEFT or RIGHT.")
    is_file = comment.get("subject_type") == "file"
    if not is_file and not isinstance(comment.get("line"), int):
        raise wrong("PullRequestReviewComment", "missing_field", "line")
    return threads.Place(
        comment["path"],
        None if is_file else comment["line"],
        side,
        comment.get("start_line"),
        side if start_side == "side" else start_side,
    )


@route("PUT", REVIEW, WRITE)
def update_review(call: Call, repo: Repository, number: int, review: int) -> Reply:
    """PUT /repos/O/R/pulls/N/reviews/ID: its body, for its author."""
    target = _review(call, repo, number, review)
    asking.fields(call, "body")
    if target.author is not call.viewer:
        raise asking.forbidden()
    target.body, target.edited_at = asking.needed(call, "body", str), now()
    return Reply(200, payloads.review(call, target))


@route("DELETE", REVIEW, WRITE)
def delete_review(call: Call, repo: Repository, number: int, review: int) -> Reply:
    """DELETE /repos/O/R/pulls/N/reviews/ID, for a pending one."""
    target = _review(call, repo, number, review)
    answer = payloads.review(call, target)
    with _refusing():
        reviews.delete(target)
    return Reply(200, answer)


@route("POST", f"{REVIEW}/events", WRITE)
def submit_review(call: Call, repo: Repository, number: int, review: int) -> Reply:
    target = _review(call, repo, number, review)
    asking.fields(call, "body", "event")
    state = _event(call, needed=True)
    with _refusing():
        reviews.submit(target, state, asking.typed(call, "body", str))
    return Reply(200, payloads.review(call, target))


@route("PUT", f"{REVIEW}/dismissals", WRITE)
def dismiss_review(call: Call, repo: Repository, number: int, review: int) -> Reply:
    """PUT /repos/O/R/pulls/N/reviews/ID/dismissals, for users who may write."""
    target = _review(call, repo, number, review)
    asking.fields(call, "message", "event")
    asking.demand_push(call, repo)
    message = asking.needed(call, "message", str)
    with _refusing():
        reviews.dismiss(target, call.viewer, message)
    return Reply(200, payloads.review(call, target))


@route("GET", f"{PULL}/requested_reviewers")
def list_requested(call: Call, repo: Repository, number: int) -> Reply:
    pull = asking.pull(repo, number)
    users = [account_payloads.user(call, user) for user in pull.requested_reviewers]
    return Reply(200, {"users": users, "teams": []})


def _asked(call: Call, repo: Repository) -> list[User]:
    asking.fields(call, "reviewers", "team_reviewers")
    names = asking.typed(call, "reviewers", list) or []
    teams = asking.typed(call, "team_reviewers", list) or []
    users = [call.world.user(str(name)) for name in names]
    if teams or None in users:
        message = (
            "Reviews may only be requested from collaborators. One or more of the users or teams "
            f"you specified is not a collaborator of the {repo.full_name} repository."
        )
        raise ApiError(422, message)
    return cast("list[User]", users)


@route(
    "POST",
    f"{PULL}/requested_reviewers",
    WRITE,
    docs=f"{REQUESTS}#request-reviewers-for-a-pull-request",
)
def request_reviewers(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/pulls/N/requested_reviewers: adds to the requested ones."""
    pull = asking.pull(repo, number)
    asking.demand_push(call, repo)
    with refusing(422):
        reviews.request(pull, _asked(call, repo), call.viewer)
    return Reply(201, pull_payloads.pull(call, pull))


@route(
    "DELETE",
    f"{PULL}/requested_reviewers",
    WRITE,
)
def remove_requested(call: Call, repo: Repository, number: int) -> Reply:
    pull = asking.pull(repo, number)
    asking.demand_push(call, repo)
    reviews.unrequest(pull, _asked(call, repo), call.viewer)
    return Reply(200, pull_payloads.pull(call, pull))


def _page(call: Call, comments: list[ReviewComment]) -> Reply:
    """A page of comments by sort (created, updated), direction and since."""
    asking.only(call, "sort", "direction", "since")
    sort = asking.choice(
        call, "sort", "created", {"created", "updated"}, "PullRequestReviewComment"
    )
    if since := call.query.get("since"):
        moment = asking.moment(since, "since", "PullRequestReviewComment")
        comments = [comment for comment in comments if comment.updated_at >= moment]
    down = call.query.get("direction") == "desc" and "sort" in call.query
    comments.sort(
        key=lambda comment: (
            comment.updated_at if sort == "updated" else comment.created_at,
            comment.id,
        ),
        reverse=down,
    )
    return call.paged(comments, payloads.comment)


@route("GET", f"{PULL}/comments", docs=COMMENTS)
def list_comments(call: Call, repo: Repository, number: int) -> Reply:
    return _page(call, threads.comments_of(asking.pull(repo, number), call.viewer))


@route("GET", f"{PULL}/reviews/<int:review>/comments", docs=COMMENTS)
def list_review_comments(call: Call, repo: Repository, number: int, review: int) -> Reply:
    pull = asking.pull(repo, number)
    comments = threads.comments_of(pull, call.viewer)
    return _page(
        call, [comment for comment in comments if comment.review and comment.review.id == review]
    )


@route("GET", f"{REPO}/pulls/comments", docs=COMMENTS)
def list_all(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/pulls/comments, of all pull requests."""
    comments = [
        comment
        for pull in PullTables.of(repo).pulls.values()
        if pull.threads
        for comment in threads.comments_of(pull, call.viewer)
    ]
    return _page(call, comments)


@route("POST", f"{PULL}/comments", WRITE)
def create_comment(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/pulls/N/comments: a new thread, or with in_reply_to a reply."""
    pull = asking.pull(repo, number)
    asking.fields(
        call, "body", "commit_id", "path", "line", "side", "start_line", "start_side",
        "subject_type", "in_reply_to",
    )  # fmt: skip
    body = asking.text(call, "body", "PullRequestReviewComment")
    if "in_reply_to" in call.body:
        return _answer(call, repo, number, asking.needed(call, "in_reply_to", int), body)
    place = place_of(dict(call.body))
    sha = asking.needed(call, "commit_id", str)
    custom = {"resource": "PullRequestReviewComment", "code": "custom"}
    if repo.git.resolve(sha) is None:
        message = "commit_id is not part of the pull request"
        raise invalid({**custom, "field": "commit_id", "message": message})
    review = threads.review_for(pull, call.viewer)
    try:
        comment = threads.begin(pull, call.viewer, place, body, review)
    except threads.NotInDiff as refused:
        pull.reviews.remove(review)
        error = {**custom, "field": refused.field, "message": f"{refused.field} {refused}"}
        raise invalid(error) from None
    return created(payloads.comment(call, comment))


def _answer(call: Call, repo: Repository, number: int, comment: int, body: str) -> Reply:
    target = _comment(repo, comment)
    if target.thread.pull.number != number:
        raise asking.not_found(COMMENTS)
    review = threads.review_for(target.thread.pull, call.viewer)
    return created(payloads.comment(call, threads.reply(target, call.viewer, body, review)))


@route(
    "POST",
    f"{PULL}/comments/<int:comment>/replies",
    WRITE,
)
def reply(call: Call, repo: Repository, number: int, comment: int) -> Reply:
    asking.fields(call, "body")
    body = asking.text(call, "body", "PullRequestReviewComment")
    return _answer(call, repo, number, comment, body)


def _comment(repo: Repository, comment: int) -> ReviewComment:
    target = repo.world.nodes.get(node_id("PRRC", repo.id, comment))
    if not isinstance(target, ReviewComment):
        raise asking.not_found(f"{COMMENTS}#get-a-review-comment-for-a-pull-request")
    return target


@route("GET", COMMENT)
def get_comment(call: Call, repo: Repository, comment: int) -> Reply:
    return Reply(200, payloads.comment(call, _comment(repo, comment)))


@route("PATCH", COMMENT, WRITE)
def edit_comment(call: Call, repo: Repository, comment: int) -> Reply:
    """PATCH /repos/O/R/pulls/comments/ID, for its author and users who may write."""
    target = _comment(repo, comment)
    asking.fields(call, "body")
    if target.author is not call.viewer:
        asking.demand_push(call, repo)
    target.body = asking.text(call, "body", "PullRequestReviewComment")
    target.updated_at = now()
    return Reply(200, payloads.comment(call, target))


@route("DELETE", COMMENT, WRITE)
def delete_comment(call: Call, repo: Repository, comment: int) -> Reply:
    """DELETE /repos/O/R/pulls/comments/ID, for its author and users who may write."""
    target = _comment(repo, comment)
    if target.author is not call.viewer:
        asking.demand_push(call, repo)
    threads.delete(target)
    return Reply(204, None)
