"""The holder hears that the task was given back from afar, and nobody hears it who still has it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.claim.commands import moves
from lifecycle.claim.decisions.decide import apply_observation, decide
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine import briefing, observing
from lifecycle.claim.record.sections import Releasing
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import Refused, Transient
from lifecycle.core.plan import Audience, ForgetClaim, PostComment, ReleaseLease, Wake
from lifecycle.core.values.model import BoardItem, Observation, PullState
from lifecycle.git.lease import LeaseStanding
from tests.claim.steps import MERGED, REVIEW, rest
from tests.factories import NOW, comment, issue, observation, pull, seen, texts
from tests.factories import record as any_record

AGENT = "edouard-1738000000"
FREE = BoardItem("PVTI_lADOBx", "Todo", None, status_at=NOW - 60)
LABEL = BoardItem("labels/42", "Todo")
TOLD = f"Released.\n\n<!-- lifecycle:released issue=42 by={AGENT} at={int(NOW - 60)} -->"


def record(*, memory: dict[str, Any] | None = None, **changes: Any) -> Record:
    """A claim that was taken by command, so that what it says of its card was really written."""
    return any_record(memory={"is_taken": True, **(memory or {})}, **changes)


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


@pytest.mark.parametrize(
    ("head", "lease", "is_lost"),
    [
        ("Octo-Org/hello", "f" * 40, True),
        ("octo-org/hello", "", False),
        ("me/hello", "f" * 40, False),
    ],
)
def test_a_look_misses_only_a_lease_that_github_would_show(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, head: str, lease: str, is_lost: bool
) -> None:
    """Without one git is asked, but not of a fork, nor of one never taken; if it fails, all stays."""
    monkeypatch.setattr(observing, "standing", lambda *_: LeaseStanding(is_gone=True))
    world: Any = SimpleNamespace(root=tmp_path, head=head, base="octo-org/hello")
    looking: Any = SimpleNamespace(world=world)
    made = record(memory={"ownership.lease": lease})
    assert observing._made_sure(looking, made, shown()).is_lost is is_lost
    monkeypatch.setattr(observing, "standing", away)
    assert observing._made_sure(looking, made, shown()) == made


def away(*_: object) -> LeaseStanding:
    """What git says where it cannot be asked."""
    raise Transient("git is away")


def shown(**changes: Any) -> Observation:
    """What a release from afar leaves: the card free in Todo, nobody assigned."""
    return observation(**{"item": FREE, **changes})


def looked(observed: Observation, made: Record | None = None) -> Record:
    """The claim once it has seen that."""
    return apply_observation(made or record(), observed, NOW)


LEASELESS = {"ownership.is_leaseless": True}


@pytest.mark.parametrize("phase", [p.value for p in Phase])
def test_the_agent_is_told_once_and_nothing_is_written_in_any_phase(phase: str) -> None:
    """One sentence for the agent with the way back; no card, no PR, no closing, no talk of a hand."""
    made = record(
        phase=phase, summary="Fix", pr_number=107, branch="claude/fix-thing-42", memory=LEASELESS
    )
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
        pytest.param(shown(), id="unassigned, and the card free in Todo"),
        pytest.param(shown(issue=issue(comments=(comment(TOLD),))), id="a comment says so as well"),
        pytest.param(shown(item=None), id="off the board"),
        pytest.param(shown(item=LABEL), id="a label"),
    ],
)
def test_what_people_do_by_hand_is_no_giving_back(observed: Observation) -> None:
    """A release ends the lease: whatever else GitHub shows, the claim goes on while it has that."""
    assert not looked(observed).is_lost


def test_who_took_it_afterwards_is_named_instead() -> None:
    """Another agent on the card says more than that it was given back."""
    taken = looked(
        shown(item=replace(FREE, agent="maria-2", status="In Progress")), record(memory=LEASELESS)
    )
    assert "taken over by maria-2" in texts(decide(seen(taken, wake=Wake.TICK)))


def test_giving_back_what_was_given_back_tells_the_issue_nothing() -> None:
    """Only the lease, should it still be there, and the claim file go; no second comment."""
    asked = Releasing(NOW, "", "nothing pushed, phase coding.")
    made = record(memory={**LEASELESS, "ending.releasing": asked, "ownership.lease": "f" * 40})
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


@pytest.mark.parametrize("lost", [LEASELESS, {"ownership.taken_by": "maria-2"}])
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


@pytest.mark.parametrize("lost", [LEASELESS, {"ownership.taken_by": "maria-2"}])
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
    given = record(**REVIEW, memory=LEASELESS)
    closed = pull(state=PullState.CLOSED, closed_at=NOW)
    actions, left = rest(seen(given, observed=shown(by_number=closed), wake=Wake.IDLE))
    assert actions == []
    assert left.claim.phase == "pr_created"
