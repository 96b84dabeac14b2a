"""Work that was left lying is shown as a draft, once, and never over what somebody ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lifecycle.claim.decisions.decide import decide
from lifecycle.claim.decisions.pull.opening import is_left_work, left_work_mark
from lifecycle.claim.record.sections import Trouble
from lifecycle.claim.record.state import mark_of
from lifecycle.core import hidden_marker
from lifecycle.core.plan import Action, Audience, OpenPullRequest, Wake
from lifecycle.core.values.model import Observation, PullState
from tests.claim.steps import set_by
from tests.factories import NOW, SHA, observation, pull, record, seen

PUSHED = "c" * 40
HANDED = record(phase="ready_for_pr", summary="Do it", branch=pull().branch)


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


@pytest.mark.parametrize(
    ("judged", "head", "audience"),
    [
        ("checks_running", PUSHED, Audience.ACT),
        ("pr_closed", PUSHED, Audience.ACT),
        ("coding", PUSHED, None),  # handed off again by command
        ("checks_running", SHA, None),
    ],
)
def test_a_hand_off_of_what_somebody_closed_opens_nothing(
    judged: str, head: str, audience: Audience | None
) -> None:
    """Not for the same commits, before a command asks for it; a phase that is written again is answered."""
    made = record(**{**HANDED.values, "pr_number": 107}, memory={"judged": judged, "touched": 7})
    shut = observation(by_number=pull(state=PullState.CLOSED, head_sha=head))
    step = decide(seen(made, observed=shut, pushed_head=PUSHED))
    assert isinstance(step.action, OpenPullRequest) is (audience is None)
    told = [(notice.key, notice.audience) for notice in step.notices]
    again = ":7" if judged == "pr_closed" else ""
    assert told == ([(f"closed:107:0{again}", audience)] if audience else [])
    assert set_by(step, made).get("phase") == ("pr_closed" if audience else None)


@pytest.mark.parametrize("state", [PullState.CLOSED, PullState.MERGED])
def test_no_draft_is_opened_over_what_somebody_ended(state: PullState) -> None:
    """A pull request of the same commit was closed or merged: only commits after it are left work."""
    ended = pull(state=state, head_sha=PUSHED, body="")
    assert not isinstance(drafted(observation(by_branch=(ended,))), OpenPullRequest)
    older = replace(ended, head_sha=SHA)
    assert isinstance(drafted(observation(by_branch=(older,))), OpenPullRequest)
    strangers = replace(ended, head_owner="stranger")
    assert isinstance(drafted(observation(by_branch=(strangers,))), OpenPullRequest)


def test_a_draft_of_left_work_is_known_until_somebody_edits_it() -> None:
    """Whatever becomes of its white space; an edit, or a quoted mark, is a person's."""
    body = hidden_marker.signed("Left.\n\nRefs #42", left_work_mark("Fix", "Left.\n\nRefs #42"))
    draft = replace(pull(), title="Fix", body=body, is_draft=True)
    assert is_left_work(draft)
    assert is_left_work(replace(draft, body=body.replace("\n", "\r\n") + "\r\n"))
    assert not is_left_work(replace(draft, title="Mine"))
    assert not is_left_work(replace(draft, body=f"More.\n{body}"))
    assert not is_left_work(replace(draft, body=f"{body}\nMore."))
    assert not is_left_work(pull())

    step = decide(seen(HANDED, observed=observation(by_branch=(draft,)), pushed_head=PUSHED))
    assert isinstance(step.action, OpenPullRequest)
    assert (step.action.draft, step.action.title) == (draft.number, "Do it")
    assert set_by(step, HANDED) == {}
    refused = {"OpenPullRequest": Trouble(mark_of(step.action), "no", NOW, is_final=True)}
    left = replace(HANDED, troubles=refused)
    step = decide(seen(left, observed=observation(by_branch=(draft,)), pushed_head=PUSHED))
    assert (step.action, set_by(step)["pr_number"]) == (None, draft.number)
