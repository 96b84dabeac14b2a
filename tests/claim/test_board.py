"""Decisions about the card on the board."""

from __future__ import annotations

from dataclasses import replace

from lifecycle.claim.decisions.decide import apply_observation, decide, look
from lifecycle.claim.record.state import fold
from lifecycle.core.errors import Rejected
from lifecycle.core.plan import CloseIssue, Failed, ForgetClaim, PostComment, SetBoard, Wake
from lifecycle.core.values.model import BoardItem
from tests.claim.steps import (
    DONE,
    ITEM,
    closing,
    run,
)
from tests.factories import (
    NOW,
    observation,
    record,
    seen,
    texts,
)


def test_a_changed_status_is_written_without_a_read() -> None:
    """Status changed: one mutation, no observation."""
    made = record(status="In Review")
    assert look(seen(made, wake=Wake.STOP)) is None
    action = decide(seen(made, wake=Wake.STOP)).action
    assert action == SetBoard("PVTI_lADOBx", "In Review", None)


def test_an_item_id_that_was_never_confirmed_is_looked_up_by_the_issue() -> None:
    """item_id "TEST" is not sent to GitHub; the item is found by the issue's number."""
    made = record(memory={"card.is_known": False}, item_id="TEST", status="In Review")
    wanted = look(seen(made, wake=Wake.STOP))
    assert wanted is not None
    assert wanted.board
    found = apply_observation(made, observation(), NOW)
    assert found.claim.item_id == "PVTI_lADOBx"


def test_a_card_that_somebody_moved_is_reported_and_not_overwritten() -> None:
    """Neither last synced nor wanted: the person's move stands, and is said."""
    shown = observation(item=BoardItem("PVTI_lADOBx", "Blocked", "edouard-1738000000"))
    made = apply_observation(record(status="In Review"), shown, NOW)
    step = decide(seen(made, observed=shown, wake=Wake.TICK))
    assert step.action is None
    assert 'moved to "Blocked"' in texts(step)


def test_a_card_that_is_already_right_is_not_written() -> None:
    """Wanted and seen agree: nothing is sent, and the status counts as synced."""
    shown = observation(item=ITEM)
    made = apply_observation(record(status="In Review"), shown, NOW)
    assert made.claim.last_synced_status == "In Review"
    assert decide(seen(made, observed=shown)).action is None


def test_fault_6_a_refused_status_is_not_recorded_as_synced() -> None:
    """An unknown option is reported, last_synced_status stays, and it is not tried for ever."""
    made = record(status="Blokced")
    action = decide(seen(made, wake=Wake.STOP)).action
    assert isinstance(action, SetBoard)
    failed = fold(made, Failed(action, Rejected('The board has no Status "Blokced".')), NOW)
    step = decide(seen(failed, wake=Wake.STOP))
    assert failed.claim.last_synced_status == "In Progress"
    assert step.action is None
    assert "Blokced" in texts(step)


def test_without_a_board_everything_else_goes_on() -> None:
    """No project: issue and PR work alone, and no board action is ever decided."""
    base = seen(record(**DONE), observed=closing(), wake=Wake.STOP)
    bare = replace(base, has_board=False)
    assert [type(a) for a in run(bare)] == [PostComment, CloseIssue, ForgetClaim]


def test_an_unreadable_board_is_said_with_its_fix() -> None:
    """The sentence about the missing scope reaches the person, and nothing is written."""
    shown = observation(item=None, board_problem="Run: gh auth refresh -s project")
    step = decide(seen(record(status="In Review"), observed=shown))
    assert step.action is None
    assert "gh auth refresh -s project" in texts(step)
