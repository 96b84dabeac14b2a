"""Decisions in phase done: comment, close, board, file."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.claim.decisions.decide import apply_observation, decide
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.sections import Intent
from lifecycle.claim.record.state import fold
from lifecycle.core.errors import Rejected, Transient
from lifecycle.core.messages import messages
from lifecycle.core.plan import (
    Audience,
    CloseIssue,
    Failed,
    ForgetClaim,
    Intended,
    PostComment,
    SetBoard,
    Wake,
)
from lifecycle.core.values.model import PullState
from tests.claim.steps import (
    DONE,
    ITEM,
    MERGED,
    REVIEW,
    closing,
    run,
    set_by,
)
from tests.factories import (
    NOW,
    comment,
    issue,
    observation,
    pull,
    record,
    seen,
    texts,
    values,
)


@pytest.mark.parametrize(
    ("shown", "phase", "why"),
    [
        (observation(by_number=pull()), "checks_running", "PR #107 is still open"),
        (observation(by_number=pull(state=PullState.CLOSED)), "pr_closed", "without a merge"),
        (observation(), "coding", "no merged PR"),
        (observation(by_branch=(pull(state=PullState.MERGED, body=""),)), "coding", "no merged"),
    ],
)
def test_fault_14_done_without_a_merge_is_refused_with_the_reason(
    shown: Any, phase: str, why: str
) -> None:
    """Nothing is closed, the phase becomes what GitHub shows, and the agent hears why."""
    step = decide(seen(record(**DONE), observed=shown, wake=Wake.STOP))
    assert step.action is None
    assert set_by(step)["phase"] == phase
    assert why in texts(step)
    assert step.notices[0].audience is Audience.ACT


@pytest.mark.parametrize("phase", ["done", "merged_detected"])
def test_an_issue_that_somebody_closed_is_not_said_to_stay_open(phase: str) -> None:
    """The claim is what was not ended, while its pull request is not merged."""
    shown = observation(issue=issue(is_open=False), by_number=pull())
    made = record(**{**DONE, "phase": phase}, memory={"judged": "checks_running"})
    said = texts(decide(seen(made, observed=shown, wake=Wake.TICK)))
    assert "The claim on #42 was not ended: PR #107 is still open." in said
    assert "stays open" not in said
    unmerged = messages.done_refused("no PR", 42, "coding", is_open=False)
    assert "Hand off" not in unmerged, "that is refused for a closed issue"


@pytest.mark.parametrize("written_over", [p for p in Phase if p is not Phase.DONE])
def test_done_is_accepted_from_any_phase_if_the_pull_request_merged(written_over: Phase) -> None:
    """GitHub judges a hand-written done, not the phase that stood there before."""
    before = values(**{**REVIEW, "phase": written_over.value})
    made = record(memory={"past": (before,)}, **DONE)
    steps = run(seen(made, observed=closing(), wake=Wake.STOP))
    assert [type(action) for action in steps] == [PostComment, CloseIssue, SetBoard, ForgetClaim]


def test_done_finds_the_merged_pull_request_of_a_claim_without_a_number() -> None:
    """A merged PR of the branch counts if it mentions the issue."""
    shown = observation(issue=issue(comments=()), by_branch=(MERGED,), item=ITEM)
    made = record(**{**DONE, "pr_number": None})
    actions = run(seen(made, observed=shown, wake=Wake.STOP))
    assert isinstance(actions[-1], ForgetClaim)


def test_closing_comments_closes_and_clears_in_the_designs_words() -> None:
    """Completed in #107, Status Done, Agent cleared by the mutation that clears, file last."""
    actions = run(seen(record(**DONE), observed=closing(), wake=Wake.STOP))
    posted, _closed, board, _forget = actions
    assert isinstance(posted, PostComment)
    assert posted.body.startswith("Completed in #107\n")
    assert posted.marker in posted.body
    assert isinstance(board, SetBoard)
    assert (board.status, board.agent, board.clear_agent) == ("Done", None, True)


@pytest.mark.parametrize(
    ("consent", "second"),
    [
        ("close", "Confirmed with `lifecycle close`."),
        ("auto", 'Closed without asking: `close = "auto"` is configured.'),
        ("nudge: the user said so in chat", "Nudged to done: the user said so in chat"),
        ("prompt", ""),
        ("", ""),
    ],
)
def test_the_comment_says_who_confirmed(consent: str, second: str) -> None:
    """One line behind the design's words, or none where the user was asked; one marker for all."""
    posted = run(seen(record(**DONE, memory={"ending.consent": consent}), observed=closing()))[0]
    assert isinstance(posted, PostComment)
    plain = run(seen(record(**DONE), observed=closing()))[0]
    assert posted.body.splitlines()[:2] == ["Completed in #107", second]
    assert posted.marker == plain.marker


def test_a_yes_that_came_before_the_merge_is_used_up_by_the_refusal() -> None:
    """What merges later is asked about anew."""
    made = record(**DONE, memory={"ending.consent": "close"})
    step = decide(seen(made, observed=observation(by_number=pull())))
    assert step.record is not None
    assert step.record.ending.consent == ""


def test_an_issue_that_closed_itself_gets_its_comment_and_is_not_closed_again() -> None:
    """With "Closes #N" the issue is closed at the merge; the rest of closing goes on."""
    shown = observation(issue=issue(is_open=False, comments=()), by_number=MERGED, item=ITEM)
    actions = run(seen(record(**DONE), observed=shown, wake=Wake.STOP))
    assert [type(a) for a in actions] == [PostComment, SetBoard, ForgetClaim]


def test_a_comment_that_is_there_already_is_not_posted_again() -> None:
    """The hidden marker finds it, whoever posted it in whatever crashed run."""
    posted = run(seen(record(**DONE), observed=closing(), wake=Wake.STOP))[0]
    assert isinstance(posted, PostComment)
    shown = observation(issue=issue(comments=(comment(posted.body),)), by_number=MERGED, item=ITEM)
    actions = run(seen(record(**DONE), observed=shown, wake=Wake.STOP))
    assert [type(a) for a in actions] == [CloseIssue, SetBoard, ForgetClaim]


def test_a_comment_whose_fate_is_unknown_keeps_the_claim_and_is_resent_after_two_clean_reads() -> (
    None
):
    """120 s and two reads without it: only then is a lost comment posted again."""
    base = seen(record(**DONE), observed=closing(), wake=Wake.STOP)
    posted = run(base)[0]
    assert isinstance(posted, PostComment)
    made = fold(record(**{**DONE, "status": "Done"}), Intended(posted), NOW)
    made = fold(made, Failed(posted, Transient("cut", is_ambiguous=True)), NOW)
    assert made.intents["PostComment"] == Intent(posted.marker, NOW)
    for later, resent in ((NOW + 60, False), (NOW + 90, False), (NOW + 121, True)):
        made = apply_observation(made, closing(), later)
        actions = run(seen(made, observed=closing(), wake=Wake.STOP, now=later), absorbed=True)
        assert (posted in actions) is resent
        assert any(isinstance(a, ForgetClaim) for a in actions) is resent
    assert made.due() is not None


def test_fault_3_an_issue_that_would_not_close_keeps_the_claim() -> None:
    """A refused close is reported, and neither "closed" nor a deleted file follows."""
    made = record(**{**DONE, "status": "Done"}, memory={"ending.comment_done": True})
    made = fold(made, Failed(CloseIssue(42), Rejected("GitHub said no (403).")), NOW)
    step = decide(seen(made, observed=closing(), wake=Wake.STOP))
    assert step.action is None
    assert "not closed, and the claim was kept" in texts(step)


def test_a_board_that_cannot_be_written_does_not_keep_the_issue_open() -> None:
    """Refused: closing goes on without it. Unknown: it is tried three times first."""
    shown = closing()
    made = record(
        **{**DONE, "status": "Done"},
        memory={"ending.comment_done": True, "ending.issue_closed": True},
    )
    board = decide(seen(made, observed=shown, wake=Wake.STOP)).action
    assert isinstance(board, SetBoard)
    refused = fold(made, Failed(board, Rejected("no such option")), NOW)
    assert isinstance(decide(seen(refused, observed=shown)).action, ForgetClaim)
    lost = made
    for _ in range(3):
        assert not isinstance(decide(seen(lost, observed=shown)).action, ForgetClaim)
        lost = fold(lost, Failed(board, Transient("502")), NOW)
    assert isinstance(decide(seen(lost, observed=shown)).action, ForgetClaim)


def test_an_override_closes_without_a_merge_and_is_recorded_in_the_comment() -> None:
    """A person may close by explicit override; the issue says so, with the reason."""
    made = record(**DONE, memory={"ending.override": "done by hand elsewhere"})
    shown = observation(issue=issue(comments=()), by_number=pull(), item=ITEM)
    actions = run(seen(made, observed=shown, wake=Wake.TICK))
    posted = actions[0]
    assert isinstance(posted, PostComment)
    assert "override: done by hand elsewhere" in posted.body
    assert isinstance(actions[-1], ForgetClaim)
