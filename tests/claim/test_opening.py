"""Work that was left lying is shown as a draft, once, and never over what somebody ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lifecycle.claim.decisions.decide import decide
from lifecycle.core.plan import Action, OpenPullRequest, Wake
from lifecycle.core.values.model import Observation, PullState
from tests.factories import SHA, observation, pull, record, seen

PUSHED = "c" * 40


def drafted(observed: Observation, *, is_silent: bool = True) -> Action | None:
    """What is done about a claim in coding whose branch is pushed."""
    made = seen(record(summary="Fix"), wake=Wake.SWEEP, observed=observed)
    return decide(replace(made, is_silent=is_silent, pushed_head=PUSHED)).action


def test_left_work_becomes_a_draft_and_work_that_goes_on_does_not() -> None:
    """Only where nobody works any more; the draft is of what is pushed."""
    action = drafted(observation())
    assert isinstance(action, OpenPullRequest)
    assert action.is_draft
    assert action.pushed == PUSHED
    assert not isinstance(drafted(observation(), is_silent=False), OpenPullRequest)


@pytest.mark.parametrize("state", [PullState.CLOSED, PullState.MERGED])
def test_no_draft_is_opened_over_what_somebody_ended(state: PullState) -> None:
    """A pull request of the same commit was closed or merged: only commits after it are left work."""
    ended = pull(state=state, head_sha=PUSHED, body="")
    assert not isinstance(drafted(observation(by_branch=(ended,))), OpenPullRequest)
    older = replace(ended, head_sha=SHA)
    assert isinstance(drafted(observation(by_branch=(older,))), OpenPullRequest)
    strangers = replace(ended, head_owner="stranger")
    assert isinstance(drafted(observation(by_branch=(strangers,))), OpenPullRequest)
