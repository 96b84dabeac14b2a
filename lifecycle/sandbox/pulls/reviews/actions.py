"""Reviews of pull requests: add, submit, dismiss, find the last ones, request them.

Sources:
https://docs.github.com/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/about-pull-request-reviews
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
    """Add a review of the present head or of `sha`; `DISMISSED` dismisses the user's last opinion.

    Raises:
        ActionRefused: The user approves or refuses their own pull request, has a pending review already,
            or dismisses something that is not an opinion.
    """
    if state == "DISMISSED":
        return dismiss(_standing(pull, user), user)
    _demand_other(pull, user, state)
    if state == "PENDING" and pending(pull, user):
        raise ActionRefused("User can only have one pending review per pull request")
    repo = pull.repository
    number, node = repo.new_id("PRR")
    new_review = Review(number, node, pull, user, state, body, sha or pull.head_sha, now())
    pull.reviews.append(new_review)
    repo.world.register(node, new_review)
    if state != "PENDING":
        _submitted(new_review)
    return new_review


def submit(subject: Review, state: ReviewState, body: str | None) -> None:
    """Submit a pending review.

    Raises:
        ActionRefused: It was submitted already, or approves or refuses the user's own pull request.
    """
    if subject.state != "PENDING":
        raise ActionRefused("Could not submit a review that is not pending")
    _demand_other(subject.pull, subject.author, state)
    subject.state, subject.submitted_at = state, now()
    subject.body = subject.body if body is None else body
    subject.pull.reviews.remove(subject)
    subject.pull.reviews.append(subject)
    _submitted(subject)


def _submitted(subject: Review) -> None:
    pull = subject.pull
    if subject.author in pull.requested_reviewers:
        pull.requested_reviewers.remove(subject.author)
    pull.issue.updated_at = subject.submitted_at
    pull.repository.touch()


def _demand_other(pull: PullRequest, user: User, state: ReviewState) -> None:
    if state in {"APPROVED", "CHANGES_REQUESTED"} and user is pull.issue.author:
        verb = "approve" if state == "APPROVED" else "request changes on"
        raise ActionRefused(f"Can not {verb} your own pull request")


def pending(pull: PullRequest, user: User) -> Review | None:
    """The review that a user has begun but not submitted, or None."""
    own = (entry for entry in pull.reviews if entry.author is user and entry.state == "PENDING")
    return next(own, None)


def visible(pull: PullRequest, user: User) -> list[Review]:
    """The reviews that a user sees: all but other users' pending ones."""
    return [entry for entry in pull.reviews if entry.state != "PENDING" or entry.author is user]


def delete(subject: Review) -> None:
    """Delete a pending review with its comments.

    Raises:
        ActionRefused: It was submitted.
    """
    if subject.state != "PENDING":
        raise ActionRefused("Can not delete a non-pending pull request review")
    pull = subject.pull
    pull.reviews.remove(subject)
    pull.repository.world.forget(subject.node_id)
    for thread in list(pull.threads):
        thread.comments = [comment for comment in thread.comments if comment.review is not subject]
        if not thread.comments:
            pull.threads.remove(thread)
            pull.repository.world.forget(thread.node_id)


def dismiss(subject: Review, user: User, message: str = "") -> Review:
    """Dismiss a review: it keeps its id and loses its effect; older opinions do not come back.

    Raises:
        ActionRefused: It is not an opinion, or was dismissed already.
    """
    if subject.state not in {"APPROVED", "CHANGES_REQUESTED"}:
        raise ActionRefused(f"Can not dismiss a {subject.state.lower()} pull request review")
    was, subject.state = subject.state, "DISMISSED"
    issues.note(
        subject.pull.issue, user, "review_dismissed", review=subject.id, state=was, message=message
    )
    subject.pull.repository.touch()
    return subject


def dismiss_approvals(pull: PullRequest, user: User) -> None:
    """Dismiss every approval, as a push does if stale ones do not count."""
    for entry in pull.reviews:
        if entry.state == "APPROVED":
            dismiss(entry, user)


def _standing(pull: PullRequest, user: User) -> Review:
    opinion = next((entry for entry in opinions(pull) if entry.author is user), None)
    if opinion is None or opinion.state == "DISMISSED":
        raise ActionRefused(
            f"{user.login} has no review of pull request {pull.number} that could be dismissed; "
            "nothing was done."
        )
    return opinion


def opinions(pull: PullRequest, *, writers_only: bool = False) -> list[Review]:
    """The last opinion of each reviewer, oldest first; comments do not count, dismissed opinions do."""
    entries = [entry for entry in pull.reviews if entry.state in OPINIONS]
    last = {entry.author.id: entry for entry in entries}
    kept = [entry for entry in entries if last[entry.author.id] is entry]
    return [entry for entry in kept if pull.repository.can_push(entry.author) or not writers_only]


def latest(pull: PullRequest, *, writers_only: bool = False) -> list[Review]:
    """The last review of each reviewer who was not asked again, including comments.

    Source: https://docs.github.com/graphql/reference/objects#pullrequest (latestReviews)
    """
    entries = [entry for entry in pull.reviews if entry.state != "PENDING"]
    last = {entry.author.id: entry for entry in entries}
    kept = [entry for entry in entries if last[entry.author.id] is entry]
    kept = [entry for entry in kept if entry.author not in pull.requested_reviewers]
    return [entry for entry in kept if pull.repository.can_push(entry.author) or not writers_only]


def request(pull: PullRequest, users: Iterable[User], by: User) -> None:
    """Request reviews from users.

    Raises:
        ActionRefused: One of them is the author, or may not read here as a collaborator.
    """
    asked = list(users)
    if pull.issue.author in asked:
        raise ActionRefused("Review cannot be requested from pull request author.")
    repo = pull.repository
    if any(person.kind != "user" or repo.role_of(person) is None for person in asked):
        raise ActionRefused(
            "Reviews may only be requested from collaborators. One or more of the users or teams "
            f"you specified is not a collaborator of the {repo.full_name} repository."
        )
    for user in asked:
        if user not in pull.requested_reviewers:
            pull.requested_reviewers.append(user)
            issues.note(pull.issue, by, "review_requested", reviewer=user)


def unrequest(pull: PullRequest, users: Iterable[User], by: User) -> None:
    """Withdraw review requests from users; users who were not asked are ignored."""
    for user in users:
        if user in pull.requested_reviewers:
            pull.requested_reviewers.remove(user)
            issues.note(pull.issue, by, "review_request_removed", reviewer=user)
