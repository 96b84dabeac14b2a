"""Which session a claim belongs to."""

from __future__ import annotations

import pytest

from lifecycle.claim.presence import SILENT_SECONDS, Signs, adopt, is_held, is_mine
from lifecycle.plan import Wake
from tests.claim.steps import READY, REVIEW
from tests.factories import NOW, record

OURS = {"session": "one"}


def test_the_session_that_claimed_is_the_owner_until_another_hands_off() -> None:
    """A stop elsewhere changes nothing; a stop with a hand-off in the file does."""
    coding = record(memory=OURS)
    assert adopt(coding, Wake.STOP, "two").session == "one"
    assert adopt(record(**READY, memory=OURS), Wake.STOP, "two").session == "two"
    assert adopt(record(**READY, memory=OURS), Wake.IDLE, "two").session == "one"


def test_a_claim_written_by_hand_belongs_to_the_session_that_stops_first() -> None:
    """Nobody is named in the file; an unknown session takes nothing."""
    assert adopt(record(), Wake.STOP, "one").session == "one"
    assert adopt(record(), Wake.STOP, "").session == ""


def test_only_the_owner_is_woken() -> None:
    """Where either side is unknown, as in a call by hand, the wake goes through."""
    made = record(memory=OURS)
    assert is_mine(made, "one")
    assert not is_mine(made, "two")
    assert is_mine(made, "")
    assert is_mine(record(), "two")


@pytest.mark.parametrize(
    ("signs", "held"),
    [
        (Signs(last_at=NOW - 60), True),
        (Signs(last_at=NOW - 60, ended="one"), False),
        (Signs(last_at=NOW - 60, ended="three"), True),
        (Signs(last_at=NOW - SILENT_SECONDS - 1), False),
        (Signs(last_at=NOW - SILENT_SECONDS - 1, has_waiter=True), True),
        (Signs(), False),
    ],
)
def test_a_claim_is_held_while_its_session_gives_signs_of_life(signs: Signs, held: bool) -> None:
    """A waiter is one; an end that was seen, or an hour of silence, is the opposite."""
    made = record(**REVIEW, memory=OURS)
    assert is_held(made, "two", signs, NOW) is held
    assert not is_held(made, "one", signs, NOW)
