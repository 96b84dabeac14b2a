"""The phase that GitHub alone shows, whatever the file says.

An agent may write any phase at any moment; what is true of a pull request only GitHub knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lifecycle.claim.file import Claim
from lifecycle.claim.table import Phase
from lifecycle.model import Observation, PullRequest, PullState


def pull_request_of(claim: Claim, seen: Observation, head_owner: str) -> PullRequest | None:
    """The pull request that this claim is about, or None.

    The one whose number the claim names, if its head is the claim's branch; else the branch's open
    one; else the newest merged one that mentions the issue. A closed pull request of a branch that
    was used before is never adopted, and neither is somebody else's branch of the same name.
    """
    ours = [pull for pull in seen.by_branch if is_ours(pull, claim, head_owner)]
    named = seen.by_number
    if named is not None and is_ours(named, claim, head_owner):
        replacement = _open(ours)
        if named.state is PullState.CLOSED and replacement is not None:
            return replacement
        return named
    return _open(ours) or next(
        (p for p in ours if p.state is PullState.MERGED and mentions(p, claim.issue_number)), None
    )


def open_pull_request_of(claim: Claim, seen: Observation, head_owner: str) -> PullRequest | None:
    """The open pull request of the claim's branch, or None."""
    return _open(pull for pull in seen.by_branch if is_ours(pull, claim, head_owner))


def phase_of(pull: PullRequest | None) -> Phase:
    """The phase that a pull request's state amounts to; coding if there is none."""
    if pull is None:
        return Phase.CODING
    return {
        PullState.OPEN: Phase.CHECKS_RUNNING,
        PullState.MERGED: Phase.MERGED_DETECTED,
        PullState.CLOSED: Phase.PR_CLOSED,
    }[pull.state]


def is_ours(pull: PullRequest, claim: Claim, head_owner: str) -> bool:
    """True if the pull request's head is the claim's branch in the repository that we push to."""
    return pull.branch == claim.branch and pull.head_owner.casefold() == head_owner.casefold()


def mentions(pull: PullRequest, issue: int | None) -> bool:
    """True if title or body say `#issue`."""
    return issue is not None and bool(
        re.search(rf"(?<![\w/])#{issue}(?!\d)", f"{pull.title}\n{pull.body}")
    )


def _open(pulls: Iterable[PullRequest]) -> PullRequest | None:
    return next((pull for pull in pulls if pull.state is PullState.OPEN), None)
