"""What is written because checks failed: jobs run again, and a remark on what was taken from the checks.

Whose a failure is the feedback decides; what it asks for stands in the record until it is a fact.
"""

from __future__ import annotations

from lifecycle.claim.decisions.snapshot import Snapshot, may_try
from lifecycle.core import hidden_marker
from lifecycle.core.messages import review_messages
from lifecycle.core.plan import RemarkOnPull, RerunJobs
from lifecycle.core.values.model import PullRequest


def decide(snapshot: Snapshot, pull: PullRequest) -> RerunJobs | RemarkOnPull | None:
    """The next write for an open pull request, or None."""
    known = snapshot.record.pull
    wanted: list[RerunJobs | RemarkOnPull] = [RerunJobs(*one) for one in known.reruns]
    if len(known.tampering) > known.remarked:
        text = review_messages.weakened(known.tampering[known.remarked :])
        mark = hidden_marker.of("weakened", head=pull.head_sha[:12], count=len(known.tampering))
        wanted.append(RemarkOnPull(pull.number, text, mark))
    return next((action for action in wanted if may_try(snapshot, action)), None)
