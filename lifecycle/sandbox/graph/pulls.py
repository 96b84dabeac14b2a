"""Pull requests and reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.actions import pulls, reviews
from lifecycle.sandbox.graph import boards, checks
from lifecycle.sandbox.graph.pages import connection
from lifecycle.sandbox.payloads.issues import issue_page
from lifecycle.sandbox.payloads.pulls import review_url
from lifecycle.sandbox.state.times import stamp

if TYPE_CHECKING:
    from lifecycle.sandbox.state.pulls import PullRequest
    from lifecycle.sandbox.wire.call import Call

MERGEABLE = {None: "UNKNOWN", True: "MERGEABLE", False: "CONFLICTING"}


def _opinions(_call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    writers_only = bool(arguments.pop("writersOnly", False))
    return connection(reviews.opinions(pull, writers_only=writers_only), **arguments)


RESOLVERS: dict[str, dict[str, Any]] = {
    "PullRequest": {
        "id": lambda _, pull: pull.node_id,
        "url": lambda c, pull: issue_page(c, pull.issue),
        "title": lambda _, pull: pull.issue.title,
        "body": lambda _, pull: pull.issue.body or "",
        "state": lambda _, pull: pulls.state_of(pull),
        "isDraft": lambda _, pull: pull.draft,
        "mergeable": lambda c, pull: MERGEABLE[pulls.judge(pull, c.seen)],
        "mergedAt": lambda _, pull: stamp(pull.merged_at),
        "headRefName": lambda _, pull: pull.head,
        "headRefOid": lambda _, pull: pull.head_sha,
        "baseRefName": lambda _, pull: pull.base,
        "headRepositoryOwner": lambda _, pull: pull.head_owner,
        "reviewDecision": lambda _, pull: reviews.decision(pull),
        "latestOpinionatedReviews": _opinions,
        "statusCheckRollup": checks.rollup_of,
        "projectV2": lambda c, pull, number: boards.project_linked(c, pull.repository, number),
    },
    "PullRequestReview": {
        "id": lambda _, review: review.node_id,
        "url": review_url,
        "submittedAt": lambda _, review: stamp(review.submitted_at),
        "commit": lambda _, review: {"id": f"C_{review.sha}", "oid": review.sha},
    },
}
