"""Which session a claim belongs to."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.claim.engine.observing import deliverable, is_held, is_mine, owned
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.plan import Audience
from lifecycle.storage.signs_of_life import SILENT_SECONDS, Signs, has_met, meet
from lifecycle.storage.store import Folder
from tests.claim.steps import READY, REVIEW
from tests.factories import NOW, record

OURS = {"ownership.session": "one"}
GONE = Signs(is_client_there=False)


def store(signs: Signs) -> Any:
    """A store of claims that knows this of each claim's session."""
    made: Any = SimpleNamespace(signs=lambda _: signs, clock=SimpleNamespace(now=lambda: NOW))
    made.seems_alive = partial(ClaimStore.seems_alive, made)
    return made


def test_a_claim_without_an_owner_is_the_first_sessions() -> None:
    """It was written by hand, or claimed on a terminal; an unknown session takes nothing."""
    mine = owned(store(Signs()), record(), "one")
    assert (mine.ownership.session, mine.ownership.session_at) == ("one", NOW)
    assert owned(store(Signs()), record(), "").ownership.session == ""


def test_an_owner_that_lives_keeps_its_claim() -> None:
    """Also while a hand-off lies in the file: nobody knows which session wrote that."""
    alive = Signs(is_client_there=True)
    for made in (record(memory=OURS), record(**READY, memory=OURS)):
        assert owned(store(alive), made, "two") is made
        assert owned(store(GONE), made, "two").ownership.session == "two"


def test_what_another_session_began_is_inherited() -> None:
    """Who goes on with a dead session's claim has heard nothing of it; a claim of nobody's is no such."""
    gone = store(GONE)
    assert owned(gone, record(memory=OURS), "two").is_inherited
    assert not owned(gone, record(), "one").is_inherited
    again = owned(gone, owned(gone, record(memory=OURS), "two"), "three")
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
    assert is_held(store(signs), made, "two") is held
    assert not is_held(store(signs), made, "one")


def test_a_claim_that_was_just_made_is_held_before_any_sign() -> None:
    """`lifecycle claim` in a session's first turn: no hook of it has run since."""
    made = record(memory={**OURS, "created_at": NOW - 5})
    assert is_held(store(Signs()), made, "two")


@pytest.mark.parametrize("session", ["*", "a/b", "../other", "x" * 200])
def test_only_the_session_that_was_met_has_been_met(tmp_path: Path, session: str) -> None:
    """Whatever its id is made of: it names no other session's file, and none outside of the folder."""
    (root := tmp_path / "worktree").mkdir()
    folder = Folder(root)
    meet(folder, "s-1", NOW)
    assert (has_met(folder, session), has_met(folder, ""), has_met(folder, "s-1")) == (
        False,
        True,
        True,
    )
    meet(folder, session, NOW)
    assert has_met(folder, session)
    assert {path.parent for path in tmp_path.rglob("hooks-*")} == {folder.path}
