"""The holder hears that the task was given back from afar, and nobody hears it who still has it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.claim.commands import moves
from lifecycle.claim.decisions.decide import apply_observation, decide, look
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine import briefing, observing
from lifecycle.claim.record.sections import Releasing
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import Refused
from lifecycle.core.plan import Audience, ForgetClaim, PostComment, ReleaseLease, Wake
from lifecycle.core.values.model import BoardItem, Observation, PullState
from lifecycle.git.lease import LeaseStanding
from tests.claim.steps import MERGED, REVIEW, fields_of, rest, rules_with
from tests.factories import NOW, comment, issue, observation, pull, seen, texts
from tests.factories import record as any_record

AGENT = "edouard-1738000000"
FREE = BoardItem("PVTI_lADOBx", "Todo", None, status_at=NOW - 60)
LABEL = BoardItem("labels/42", "Todo")
TOLD = f"Released.\n\n<!-- lifecycle:released issue=42 by={AGENT} at={int(NOW - 60)} -->"


def record(*, memory: dict[str, Any] | None = None, **changes: Any) -> Record:
    """A claim that was taken by command, so that what it says of its card was really written."""
    return any_record(memory={"is_taken": True, **(memory or {})}, **changes)


def test_a_claim_written_by_hand_is_not_believed_about_its_card() -> None:
    """What such a file says of the card nobody may ever have put there: a free card is no loss."""
    assert not looked(shown(), any_record()).ownership.is_released
    assert looked(shown(), record()).ownership.is_released


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_hand_off_finds_an_open_task_alone_free(
    monkeypatch: pytest.MonkeyPatch, *, is_closed: bool
) -> None:
    """Whose lease is gone was released; nobody may take a closed one, whose lease ended with it."""
    noted: list[Record] = []
    made = record(memory={"ending.issue_closed": is_closed})
    ledger = SimpleNamespace(end=lambda *_: None)
    both: Any = SimpleNamespace(remote="origin", ledger=ledger)
    gone = LeaseStanding(is_gone=True)
    monkeypatch.setattr(observing, "standing", lambda *_: gone)
    monkeypatch.setattr(moves, "_change", lambda *given: noted.append(given[-1](made)))
    with pytest.raises(Refused):
        moves._refuse_lease_of_another(both, both, made)
    assert [one.ownership.is_leaseless for one in noted] == [not is_closed]


def shown(**changes: Any) -> Observation:
    """What a release from afar leaves: the card free in Todo, nobody assigned."""
    return observation(**{"item": FREE, **changes})


def looked(observed: Observation, made: Record | None = None) -> Record:
    """The claim once it has seen that."""
    return apply_observation(made or record(), observed, NOW)


def without_board(made: Snapshot) -> Snapshot:
    """The same where no board is configured."""
    return Snapshot(**{**fields_of(made), "rules": rules_with(made, has_board=False)})


@pytest.mark.parametrize("phase", [p.value for p in Phase])
def test_the_agent_is_told_once_and_nothing_is_written_in_any_phase(phase: str) -> None:
    """One sentence for the agent with the way back; no card, no PR, no closing, no talk of a hand."""
    made = record(phase=phase, summary="Fix", pr_number=107, branch="claude/fix-thing-42")
    actions, left = rest(seen(made, observed=shown(by_number=MERGED), wake=Wake.TICK))
    assert actions == []
    step = decide(seen(left, observed=shown(by_number=MERGED), wake=Wake.TICK))
    (say,) = step.notices
    assert (say.audience, say.stands) == (Audience.ACT, True)
    assert "#42 was released" in say.text
    assert "lifecycle claim 42" in say.text
    assert "moved" not in say.text


@pytest.mark.parametrize(
    "observed",
    [
        pytest.param(shown(issue=issue(assignees=("Edouard",))), id="still assigned"),
        pytest.param(observation(issue=issue(assignees=("maria",))), id="only unassigned"),
        pytest.param(shown(item=replace(FREE, agent=AGENT)), id="only moved"),
        pytest.param(shown(item=replace(FREE, status="In Progress")), id="only the Agent cleared"),
        pytest.param(shown(item=replace(FREE, status="Blocked")), id="moved elsewhere"),
        pytest.param(shown(item=replace(FREE, status_at=NOW - 7200)), id="read before our write"),
        pytest.param(shown(issue=issue(is_open=False)), id="closed"),
        pytest.param(shown(item=None), id="off the board"),
        pytest.param(shown(item=LABEL), id="a label alone"),
        pytest.param(shown(issue=None), id="issue not shown"),
    ],
)
def test_what_people_do_by_hand_is_no_giving_back(observed: Observation) -> None:
    """Each of the signs alone means something else; only all of them together are told."""
    assert not looked(observed).ownership.is_released


def test_a_claim_that_never_named_itself_or_wants_todo_was_not_given_back() -> None:
    """The card was never ours, or stands in Todo since the agent wrote so itself."""
    assert not looked(shown(), record(memory={"card.agent": None})).ownership.is_released
    assert not looked(shown(), record(last_synced_status=None)).ownership.is_released
    assert not looked(shown(), record(status="Todo")).ownership.is_released
    assert looked(shown()).ownership.is_released, "the same without that"


def test_it_stands_until_the_card_names_the_agent_again() -> None:
    """What others do with the task afterwards does not make it ours."""
    given = looked(shown())
    later = [
        shown(item=replace(FREE, status="In Progress"), issue=issue(assignees=("Edouard",))),
        shown(issue=issue(is_open=False)),
        shown(item=None, board_problem="no scope"),
    ]
    for observed in later:
        assert looked(observed, given).ownership.is_released
    assert not looked(observation(), given).ownership.is_released


def test_who_took_it_afterwards_is_named_instead() -> None:
    """Another agent on the card says more than that it was given back."""
    taken = looked(
        shown(item=replace(FREE, agent="maria-2", status="In Progress")), looked(shown())
    )
    assert "taken over by maria-2" in texts(decide(seen(taken, wake=Wake.TICK)))


def test_without_a_card_the_issue_s_own_word_and_the_assignee_tell_it() -> None:
    """Labels name no agent: the comment's marker of this very claim, and the account off the issue."""
    told = issue(comments=(comment(TOLD),))
    for item in (None, LABEL):
        assert looked(shown(item=item, issue=told)).ownership.is_released
    assert not looked(
        shown(item=None, issue=replace(told, assignees=("edouard",)))
    ).ownership.is_released
    other = TOLD.replace(AGENT, "edouard-1738000001")
    assert not looked(
        shown(item=None, issue=issue(comments=(comment(other),)))
    ).ownership.is_released
    early = TOLD.replace(str(int(NOW - 60)), str(int(NOW - 3700)))
    assert not looked(
        shown(item=None, issue=issue(comments=(comment(early),)))
    ).ownership.is_released


def test_comments_are_read_only_where_they_are_needed() -> None:
    """A poll reads them once it has doubts; the PR's opening and a command at once, without a board."""
    polled = look(seen(record(**REVIEW)))
    assert polled is not None
    assert not polled.comments
    doubting = looked(shown(item=None), record(**REVIEW))
    assert doubting.ownership.is_doubted
    again = look(seen(doubting))
    assert again is not None
    assert again.comments
    ready = seen(record(phase="ready_for_pr", summary="Fix"), wake=Wake.STOP)
    with_board, without = look(ready), look(without_board(ready))
    assert with_board is not None
    assert without is not None
    assert (with_board.comments, without.comments) == (False, True)


def test_before_the_pull_request_is_opened_it_is_found_out_without_a_board() -> None:
    """The same look that would open it reads the comments, and opens nothing."""
    ready = record(phase="ready_for_pr", summary="Fix")
    told = shown(item=None, issue=issue(comments=(comment(TOLD),)))
    actions, _ = rest(without_board(seen(ready, observed=told, wake=Wake.STOP)))
    assert actions == []
    unspoken = without_board(seen(ready, observed=shown(item=None), wake=Wake.STOP))
    assert rest(unspoken)[0] != []


def test_a_sweep_s_own_record_is_no_holder() -> None:
    """A record that never lay in a file is inferred from GitHub, and is judged by the sweep's rules."""
    told = shown(issue=issue(comments=(comment(TOLD),)))
    assert not looked(told, record(memory={"past": ()})).ownership.is_released


def test_giving_back_what_was_given_back_tells_the_issue_nothing() -> None:
    """Only the lease, should it still be there, and the claim file go; no second comment."""
    asked = Releasing(NOW, "", "nothing pushed, phase coding.")
    made = record(memory={"ending.releasing": asked, "ownership.lease": "f" * 40})
    observed = shown(issue=issue(comments=(comment(TOLD),)))
    actions, left = rest(seen(made, observed=observed, wake=Wake.TICK))
    assert actions == [ReleaseLease(42, "f" * 40), ForgetClaim()]
    assert left.ending.outcome == "released"


def test_a_closed_issue_is_not_told_that_it_is_free() -> None:
    """Giving back a task that somebody closed says so; nobody can take it."""
    asked = Releasing(NOW, "", "nothing pushed, phase coding.")
    closed = observation(issue=issue(is_open=False, comments=()))
    made = record(memory={"ending.releasing": asked})
    actions, _ = rest(seen(made, observed=closed, wake=Wake.TICK))
    (posted,) = [one for one in actions if isinstance(one, PostComment)]
    assert posted.body.startswith(
        f"Released by {AGENT}; the issue is closed, and nothing of the work was deleted."
    )


@pytest.mark.parametrize(
    "lost", [{"ownership.is_released": True}, {"ownership.taken_by": "maria-2"}]
)
def test_a_yes_to_closing_ends_with_the_claim(lost: Any) -> None:
    """The phase goes back to what GitHub confirmed last, so that no later look closes the task by it."""
    yes = {"ending.consent": "close", "ending.override": "because", "judged": "merged_detected"}
    made = record(memory={**lost, **yes}, **{**REVIEW, "phase": "done"})
    theirs = shown(item=replace(FREE, agent="maria-2"), by_number=MERGED)
    actions, left = rest(seen(made, observed=theirs, wake=Wake.STOP))
    assert actions == []
    assert (left.claim.phase, left.ending.consent, left.ending.override) == (
        "merged_detected",
        "",
        "",
    )


def test_a_task_that_its_new_holder_closed_stays_lost() -> None:
    """A closing takes lease and Agent away; only an open issue with neither is nobody's."""
    lost = record(memory={"ownership.taken_by": "maria-2"})
    freed = shown(item=replace(FREE, status="Done"), issue=issue(is_open=False))
    assert looked(freed, lost).ownership.taken_by == "maria-2"
    assert looked(replace(freed, item=None), lost).ownership.taken_by == "maria-2"
    assert looked(replace(freed, issue=issue()), lost).ownership.taken_by == ""
    assert looked(observation(issue=issue(is_open=False)), lost).ownership.taken_by == ""


@pytest.mark.parametrize(
    "lost", [{"ownership.is_released": True}, {"ownership.taken_by": "maria-2"}]
)
def test_a_briefing_says_that_the_task_is_lost_and_not_what_would_be_next(lost: Any) -> None:
    """No hand-off hint and no question about closing beside the sentence that nothing is written."""
    coding = briefing.claim_lines(record(memory=lost))
    assert "this claim no longer writes anything" in coding[-1]
    assert "handoff" not in " ".join(coding)
    merged = record(memory=lost, **{**REVIEW, "phase": "merged_detected"})
    assert briefing.question_lines(merged) == []
    assert "Should I close" not in " ".join(briefing.claim_lines(merged))


def test_an_open_pull_request_of_a_task_given_back_is_left_alone() -> None:
    """Closed on GitHub meanwhile: the claim neither follows with its card nor reports a hand's move."""
    given = looked(shown(), record(**REVIEW))
    closed = pull(state=PullState.CLOSED, closed_at=NOW)
    actions, left = rest(seen(given, observed=shown(by_number=closed), wake=Wake.IDLE))
    assert actions == []
    assert left.claim.phase == "pr_created"
