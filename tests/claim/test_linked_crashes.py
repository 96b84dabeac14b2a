"""Killed or failing at any write of a task in both trackers: the next looks make both alike."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifecycle.api import Wake
from lifecycle.core.tracker import Link
from lifecycle.storage.state_file import PENDING
from tests.claim.linked_ground import (
    INSIDE,
    NOTHING,
    WRITES,
    busy,
    claim,
    failing,
    give_back,
    inside,
    leases,
    look,
    merged,
    tracker_of,
    writes,
)
from tests.claim.test_crashes import CrashError, crash_at
from tests.conftest import Place
from tests.repeated import DEATHS, soaked


@pytest.mark.parametrize("is_near", [True, soaked(False)], ids=["around the inner one", "any"])
@DEATHS
def test_a_crash_at_any_write_while_taking_is_repaired_by_the_next_look(
    both: Place, monkeypatch: pytest.MonkeyPatch, *, after: bool, is_near: bool
) -> None:
    """Killed at each write: without a claim file the next look frees the task; claiming again has both."""
    for _ in range(2):  # the first of all has more to write
        both.clock.sleep(300)
        with monkeypatch.context() as patch:
            whole = crash_at(patch, 0, after=after, more=INSIDE)
            both.tree().claim(42)
        both.tree().release()
    for moment in moments(whole, "claim") if is_near else range(1, len(whole) + 1):
        both.clock.sleep(300)
        with monkeypatch.context() as patch:
            seen = crash_at(patch, moment, after=after, more=INSIDE)
            with pytest.raises(CrashError):
                both.tree().claim(42)
        both.tree().tick(Wake.STOP)
        holder = inside(both).assignee
        assert bool(holder) == both.has_claim(), (moment, seen)
        taken = both.tree().claim(42)
        assert inside(both).assignee == taken.record.claim.agent_id, (moment, seen)
        assert taken.record.linked.link == Link("memory", "mem-1", "claimed"), (moment, seen)
        assert PENDING not in both.tree().claim_store.file.reload(repair=False)
        both.tree().release()
        assert inside(both).is_ready, (moment, seen)
    assert len(whole) > 5


def moments(seen: list[str], verb: str) -> range:
    """The writes around the one inside, counted from 1; `test_crashes.py` has all the others."""
    at = seen.index(verb) + 1
    return range(at - 1, at + 4)


def merged_anew(place: Place) -> None:
    """The task is open again in both, is claimed, and its PR is merged."""
    place.clock.sleep(300)
    place.control.reopen_issue(42)
    place.control.set_field(42, "Status", "Todo")
    place.control.set_field(42, "Agent", "")
    place.git("switch", "--quiet", "main")
    for branch in place.git("branch", "--list", "--format=%(refname:short)", "claude/*").split():
        place.git("branch", "--quiet", "-D", branch)
        place.git("push", "--quiet", "origin", f":{branch}")
    tracker_of(place, "person").reopen("mem-1")
    merged(place)


@pytest.mark.soak(
    "claim/test_linked_crashes.py::test_a_crash_at_any_write_while_taking_is_repaired_by_the_next_look",
    "claim/test_linked_world.py::test_closing_closes_both",
)
@DEATHS
def test_a_crash_around_the_inner_closing_closes_both(
    both: Place, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    """Killed at each write there: the next looks close both, each once."""
    merged(both)
    with monkeypatch.context() as patch:
        whole = crash_at(patch, 0, after=after, more=INSIDE)
        both.tree().tick(Wake.STOP)
    assert whole.index("close") < whole.index("send")
    for moment in moments(whole, "close"):
        merged_anew(both)
        before = writes(both)
        with monkeypatch.context() as patch:
            seen = crash_at(patch, moment, after=after, more=INSIDE)
            with pytest.raises(CrashError):
                both.tree().tick(Wake.STOP)
        for _ in range(2):
            look(both)
        assert both.issue()["state"] == "closed", (moment, seen)
        assert not inside(both).is_open, (moment, seen)
        assert writes(both) == before + 1, (moment, seen)
        assert not both.has_claim(), (moment, seen)


@pytest.mark.soak(
    "claim/test_linked_crashes.py::test_a_crash_at_any_write_while_taking_is_repaired_by_the_next_look",
    "claim/test_linked_world.py::test_releasing_gives_both_back",
)
@DEATHS
def test_a_crash_around_the_inner_giving_back_frees_both(
    both: Place, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    """Killed at each write there: the next looks free both, and the task is written once."""
    claim(both)
    with monkeypatch.context() as patch:
        whole = crash_at(patch, 0, after=after, more=INSIDE)
        give_back(both)
    for moment in moments(whole, "release"):
        both.clock.sleep(300)
        claim(both)
        before = writes(both)
        with monkeypatch.context() as patch:
            seen = crash_at(patch, moment, after=after, more=INSIDE)
            with pytest.raises(CrashError):
                give_back(both)
        for _ in range(2):
            look(both)
        assert inside(both).is_ready, (moment, seen)
        assert writes(both) == before + 1, (moment, seen)
        assert leases(both) == [], (moment, seen)
        assert not both.has_claim(), (moment, seen)


FAULTS = st.lists(
    st.tuples(st.sampled_from((*WRITES, "get", "list", NOTHING)), st.booleans()),
    min_size=2,
    max_size=2,
)


@pytest.mark.soak(
    "claim/test_linked_crashes.py::test_a_crash_at_any_write_while_taking_is_repaired_by_the_next_look",
    "claim/test_linked_world.py::test_releasing_gives_both_back",
)
@settings(
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(taking=FAULTS, giving=FAULTS)
def test_whatever_fails_in_whatever_order_both_end_alike(
    both: Place, taking: list[tuple[str, bool]], giving: list[tuple[str, bool]]
) -> None:
    """Any faults inside at any looks, before or after the work: both are held, then both are free.

    What is wanted is written once: a fault behind the work is no reason to do it again.
    """
    before = writes(both)
    for (verb, after), act in zip(taking, (claim, look), strict=True):
        with failing(verb, busy, after=after):
            act(both)
    both.clock.sleep(61)
    both.tree().tick()
    assert inside(both).assignee == both.claim()["agent_id"]
    assert writes(both) == before + 1
    for (verb, after), act in zip(giving, (give_back, look), strict=True):
        with failing(verb, busy, after=after):
            act(both)
    for _ in range(3):
        look(both)
    assert not both.has_claim()
    assert inside(both).is_ready
    assert writes(both) == before + 2
    assert leases(both) == []
