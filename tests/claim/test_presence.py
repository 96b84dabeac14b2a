"""Which session a claim belongs to."""

from __future__ import annotations

import pytest

from lifecycle.claim.engine.observing import adopt, deliverable, is_held, is_mine
from lifecycle.core.plan import Audience
from lifecycle.storage.signs_of_life import SILENT_SECONDS, Signs
from tests.claim.steps import READY, REVIEW
from tests.factories import NOW, record

OURS = {"ownership.session": "one"}


def test_a_claim_without_an_owner_is_the_first_sessions() -> None:
    """It was written by hand, or claimed on a terminal; an unknown session takes nothing."""
    mine = adopt(record(), "one", Signs(), NOW)
    assert (mine.ownership.session, mine.ownership.session_at) == ("one", NOW)
    assert adopt(record(), "", Signs(), NOW).ownership.session == ""


def test_an_owner_that_lives_keeps_its_claim() -> None:
    """Also while a hand-off lies in the file: nobody knows which session wrote that."""
    alive, gone = Signs(is_client_there=True), Signs(is_client_there=False)
    for made in (record(memory=OURS), record(**READY, memory=OURS)):
        assert adopt(made, "two", alive, NOW) is made
        assert adopt(made, "two", gone, NOW).ownership.session == "two"


def test_what_another_session_began_is_inherited() -> None:
    """Who goes on with a dead session's claim has heard nothing of it; a claim of nobody's is no such."""
    gone = Signs(is_client_there=False)
    assert adopt(record(memory=OURS), "two", gone, NOW).is_inherited
    assert not adopt(record(), "one", gone, NOW).is_inherited
    again = adopt(adopt(record(memory=OURS), "two", gone, NOW), "three", gone, NOW)
    assert (again.ownership.inherited, again.is_inherited) == ("three", True)


def test_the_owners_news_is_the_owners() -> None:
    """Another session takes what is for the person; an unknown one counts as the owner."""
    made = record(memory=OURS)
    assert set(deliverable(made, "one", list(Audience))) == set(Audience)
    assert set(deliverable(made, "two", list(Audience))) == {Audience.NOTE}
    assert set(deliverable(made, "", list(Audience))) == set(Audience)
    assert is_mine(record(), "two")


LONG_AGO = {"created_at": NOW - 9999, "ownership.session_at": NOW - SILENT_SECONDS - 1}


@pytest.mark.parametrize(
    ("signs", "held"),
    [
        (Signs(is_client_there=True, last_at=NOW - 9 * SILENT_SECONDS), True),
        (Signs(is_client_there=False, last_at=NOW - 1), False),
        (Signs(is_client_there=True, has_ended=True), False),
        (Signs(has_waiter=True), True),
        (Signs(last_at=NOW - 60), True),
        (Signs(), False),
    ],
)
def test_a_claim_is_held_while_its_session_lives(signs: Signs, held: bool) -> None:
    """Its client's process decides, if it is known; else a waiter, or a sign within the hour."""
    made = record(**REVIEW, memory={**OURS, **LONG_AGO})
    assert is_held(made, "two", signs, NOW) is held
    assert not is_held(made, "one", signs, NOW)


def test_a_claim_that_was_just_made_is_held_before_any_sign() -> None:
    """`lifecycle claim` in a session's first turn: no hook of it has run since."""
    made = record(memory={**OURS, "created_at": NOW - 5})
    assert is_held(made, "two", Signs(), NOW)
