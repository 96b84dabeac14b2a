"""Reviews of pull requests: who said what last, and who was asked to say something.

Sources: https://docs.github.com/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/about-pull-request-reviews
and https://docs.github.com/graphql/reference/objects#pullrequest
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.pulls.state import PullRequest, Review, ReviewState

OPINIONS = {"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}


def review(
    pull: PullRequest, user: User, state: ReviewState, body: str, sha: str | None = None
) -> Review:
    """Review the present head or another commit; `DISMISSED` takes back what the user said last.

    Raises:
        ActionRefused: Nobody approves or refuses a pull request of their own, has two reviews
            pending, or dismisses what is no opinion.
    """
    if state == "DISMISSED":
        return dismiss(_standing(pull, user), user)
    _demand_other(pull, user, state)
    if state == "PENDING" and pending(pull, user):
        raise ActionRefused("User can only have one pending review per pull request")
    repo = pull.repository
    number, node = repo.new_id("PRR")
    made = Review(number, node, pull, user, state, body, sha or pull.head_sha, now())
    pull.reviews.append(made)
    repo.world.register(node, made)
    if state != "PENDING":
        _submitted(made)
    return made


def submit(made: Review, state: ReviewState, body: str | None) -> None:
    """Submit a pending review.

    Raises:
        ActionRefused: It was submitted already, or approves or refuses one's own pull request.
    """
    if made.state != "PENDING":
        raise ActionRefused("Could not submit a review that is not pending")
    _demand_other(made.pull, made.author, state)
    made.state, made.submitted_at = state, now()
    made.body = made.body if body is None else body
    made.pull.reviews.remove(made)
    made.pull.reviews.append(made)
    _submitted(made)


def _submitted(made: Review) -> None:
    pull = made.pull
    if made.author in pull.requested_reviewers:
        pull.requested_reviewers.remove(made.author)
    pull.issue.updated_at = made.submitted_at
    pull.repository.touch()


def _demand_other(pull: PullRequest, user: User, state: ReviewState) -> None:
    if state in {"APPROVED", "CHANGES_REQUESTED"} and user is pull.issue.author:
        verb = "approve" if state == "APPROVED" else "request changes on"
        raise ActionRefused(f"Can not {verb} your own pull request")


def pending(pull: PullRequest, user: User) -> Review | None:
    """The review that a user has begun and not submitted, or None."""
    found = (one for one in pull.reviews if one.author is user and one.state == "PENDING")
    return next(found, None)


def visible(pull: PullRequest, user: User) -> list[Review]:
    """The reviews that a user sees: all but those that others have not submitted."""
    return [one for one in pull.reviews if one.state != "PENDING" or one.author is user]


def delete(made: Review) -> None:
    """Delete a pending review with its comments.

    Raises:
        ActionRefused: It was submitted.
    """
    if made.state != "PENDING":
        raise ActionRefused("Can not delete a non-pending pull request review")
    pull = made.pull
    pull.reviews.remove(made)
    pull.repository.world.forget(made.node_id)
    for thread in list(pull.threads):
        thread.comments = [one for one in thread.comments if one.review is not made]
        if not thread.comments:
            pull.threads.remove(thread)
            pull.repository.world.forget(thread.node_id)


def dismiss(made: Review, user: User, message: str = "") -> Review:
    """A dismissed review keeps its id and loses its effect; older opinions do not come back.

    Raises:
        ActionRefused: It is no opinion, or was dismissed already.
    """
    if made.state not in {"APPROVED", "CHANGES_REQUESTED"}:
        raise ActionRefused(f"Can not dismiss a {made.state.lower()} pull request review")
    was, made.state = made.state, "DISMISSED"
    issues.note(
        made.pull.issue, user, "review_dismissed", review=made.id, state=was, message=message
    )
    made.pull.repository.touch()
    return made


def dismiss_approvals(pull: PullRequest, user: User) -> None:
    """Dismiss every approval, as a push does where stale ones do not count."""
    for one in pull.reviews:
        if one.state == "APPROVED":
            dismiss(one, user)


def _standing(pull: PullRequest, user: User) -> Review:
    found = next((one for one in opinions(pull) if one.author is user), None)
    if found is None or found.state == "DISMISSED":
        raise ActionRefused(
            f"{user.login} has no review of pull request {pull.number} that could be dismissed; "
            "nothing was done."
        )
    return found


def opinions(pull: PullRequest, *, writers_only: bool = False) -> list[Review]:
    """The last opinion of everybody, oldest first: a comment is none, a dismissed one still is."""
    said = [one for one in pull.reviews if one.state in OPINIONS]
    last = {one.author.id: one for one in said}
    kept = [one for one in said if last[one.author.id] is one]
    return [one for one in kept if pull.repository.can_push(one.author) or not writers_only]


def latest(pull: PullRequest, *, writers_only: bool = False) -> list[Review]:
    """The last review of everybody who is not asked again, comments too.

    Source: https://docs.github.com/graphql/reference/objects#pullrequest (latestReviews)
    """
    said = [one for one in pull.reviews if one.state != "PENDING"]
    last = {one.author.id: one for one in said}
    kept = [one for one in said if last[one.author.id] is one]
    kept = [one for one in kept if one.author not in pull.requested_reviewers]
    return [one for one in kept if pull.repository.can_push(one.author) or not writers_only]


def request(pull: PullRequest, users: Iterable[User], by: User) -> None:
    """Ask people to review.

    Raises:
        ActionRefused: One of them is the author, or may not even read here as a collaborator.
    """
    asked = list(users)
    if pull.issue.author in asked:
        raise ActionRefused("Review cannot be requested from pull request author.")
    repo = pull.repository
    if any(one.kind != "user" or repo.role_of(one) is None for one in asked):
        raise ActionRefused(
            "Reviews may only be requested from collaborators. One or more of the users or teams "
            f"you specified is not a collaborator of the {repo.full_name} repository."
        )
    for one in asked:
        if one not in pull.requested_reviewers:
            pull.requested_reviewers.append(one)
            issues.note(pull.issue, by, "review_requested", reviewer=one)


def unrequest(pull: PullRequest, users: Iterable[User], by: User) -> None:
    """Ask them no more; who was not asked stays so."""
    for one in users:
        if one in pull.requested_reviewers:
            pull.requested_reviewers.remove(one)
            issues.note(pull.issue, by, "review_request_removed", reviewer=one)
