"""The pull request says which issue it is for: whoever reads either finds the other.

A link that somebody took out again is left out: the marker beside the line stays behind and says so.
"""

from __future__ import annotations

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.snapshot import Snapshot, may_try
from lifecycle.core import hidden_marker
from lifecycle.core.plan import LinkPullRequest
from lifecycle.core.values.model import PullRequest, PullState


def decide(snapshot: Snapshot, pull: PullRequest) -> LinkPullRequest | None:
    """The link that an open pull request lacks, or None."""
    observed, claim = snapshot.observation, snapshot.record.claim
    number = claim.issue_number
    if observed is None or observed.issue is None or not observed.issue.is_open or number is None:
        return None
    if pull.state is not PullState.OPEN or not claim.agent_id:
        return None  # a person's pull request is the person's
    mark = hidden_marker.of("link", issue=number)
    if mark in pull.body or derive.refers(pull, number, observed.repository):
        return None
    action = LinkPullRequest(pull.number, number, f"{snapshot.rules.link} #{number} {mark}")
    return action if may_try(snapshot, action) else None
