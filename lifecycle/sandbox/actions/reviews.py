"""Reviews of pull requests: who said what last, and what follows from it.

Sources: https://docs.github.com/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/about-pull-request-reviews
and https://docs.github.com/graphql/reference/objects#pullrequest
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lifecycle.sandbox.errors import ActionRefused
from lifecycle.sandbox.state.pulls import Review
from lifecycle.sandbox.state.times import now

if TYPE_CHECKING:
    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.state.pulls import PullRequest, ReviewState

Decision = Literal["APPROVED", "CHANGES_REQUESTED", "REVIEW_REQUIRED"]
OPINIONS = {"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}


def review(pull: PullRequest, user: User, state: ReviewState, body: str) -> Review:
    """Submit a review of the present head; `DISMISSED` takes back what the user said last.

    Raises:
        ActionRefused: Nobody approves or refuses a pull request of their own, and only an opinion
            can be dismissed.
    """
    if state == "DISMISSED":
        return _dismiss(pull, user)
    if state != "COMMENTED" and user is pull.issue.author:
        verb = "approve" if state == "APPROVED" else "request changes on"
        raise ActionRefused(f"Can not {verb} your own pull request; nothing was done.")
    repo = pull.repository
    number, node = repo.new_id("PRR")
    made = Review(number, node, pull, user, state, body, pull.head_sha, now())
    pull.reviews.append(made)
    repo.world.register(node, made)
    pull.issue.updated_at = made.submitted_at
    return made


def _dismiss(pull: PullRequest, user: User) -> Review:
    """A dismissed review keeps its id and loses its effect; older opinions do not come back."""
    standing = next((one for one in opinions(pull) if one.author is user), None)
    if standing is None or standing.state == "DISMISSED":
        raise ActionRefused(
            f"{user.login} has no review of pull request {pull.number} that could be dismissed; "
            "nothing was done."
        )
    standing.state = "DISMISSED"
    pull.issue.updated_at = now()
    return standing


def opinions(pull: PullRequest, *, writers_only: bool = False) -> list[Review]:
    """The last opinion of everybody, oldest first: a comment is none, a dismissed one still is."""
    said = [one for one in pull.reviews if one.state in OPINIONS]
    last = {one.author.id: one for one in said}
    kept = [one for one in said if last[one.author.id] is one]
    return [one for one in kept if pull.repository.can_push(one.author) or not writers_only]


def decision(pull: PullRequest) -> Decision | None:
    """GitHub's verdict: None where no review is required, whatever was said.

    Sources: https://github.com/orgs/community/discussions/24375 and
    https://github.com/abcxyz/github-metrics-aggregator/pull/224
    """
    wanted = pull.repository.required_approvals
    if not wanted:
        return None
    said = [one.state for one in opinions(pull, writers_only=True)]
    if "CHANGES_REQUESTED" in said:
        return "CHANGES_REQUESTED"
    enough = said.count("APPROVED") >= wanted
    return "APPROVED" if enough else "REVIEW_REQUIRED"
