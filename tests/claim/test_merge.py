"""Three-way merge: the agent's changes win, reverted engine fields return, edited ones are hints."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.claim.record.claim_file import AGENT_FIELDS, ENGINE_FIELDS, merge
from tests.factories import values

BEFORE = values(phase="ready_for_pr", summary="Fix", status="In Progress")
AFTER = {
    **BEFORE,
    "phase": "pr_created",
    "pr_number": 107,
    "status": "In Review",
    "last_synced_status": "In Review",
}


def test_an_untouched_file_takes_what_the_engine_wants() -> None:
    """With no edit, the merge is the engine's values."""
    merged = merge([BEFORE], AFTER, BEFORE)
    assert merged.values == AFTER
    assert not merged.changed
    assert not merged.hints


def test_fault_4_a_whole_file_write_from_an_old_copy_loses_nothing_of_either_side() -> None:
    """The agent wrote done over an old copy: its phase wins, and every engine field returns.

    The status, which that old copy merely carried along, is not taken for a change.
    """
    theirs = {**BEFORE, "phase": "done"}
    merged = merge([BEFORE, AFTER], AFTER, theirs)
    assert merged.values == {**AFTER, "phase": "done"}
    assert merged.changed == {"phase"}
    assert not merged.hints


def test_an_edited_engine_field_is_a_hint_and_not_taken() -> None:
    """A PR number that was never in the file is for GitHub to confirm."""
    merged = merge([BEFORE], BEFORE, {**BEFORE, "pr_number": 99})
    assert merged.values["pr_number"] is None
    assert merged.hints == {"pr_number": 99}


def test_a_removed_engine_field_returns() -> None:
    """Leaving an engine field out is a slip, not an edit."""
    merged = merge([AFTER], AFTER, {**AFTER, "pr_number": None, "agent_id": None})
    assert merged.values == AFTER
    assert not merged.hints


def test_a_branch_that_was_left_out_returns() -> None:
    """Who writes the phase alone leaves the branch as it was: nothing said that it was gone."""
    merged = merge([AFTER], AFTER, {"phase": "coding"})
    assert (merged.values["branch"], merged.values["phase"]) == (AFTER["branch"], "coding")
    assert "branch" not in merged.changed


def test_unknown_keys_belong_to_the_agent() -> None:
    """A key that the schema does not know is kept when added and gone when removed."""
    added = merge([BEFORE], AFTER, {**BEFORE, "note": "x"})
    assert added.values["note"] == "x"
    removed = merge([{**BEFORE, "note": "x"}], {**AFTER, "note": "x"}, BEFORE)
    assert "note" not in removed.values


def test_an_old_copy_written_again_with_a_wish_is_a_wish() -> None:
    """After the PR was closed, the agent writes the hand-off that it remembers: it is heard."""
    closed = {**AFTER, "phase": "pr_closed"}
    merged = merge([BEFORE, AFTER, closed], closed, BEFORE)
    assert merged.values["phase"] == "ready_for_pr"
    assert merged.values["pr_number"] == 107
    assert merged.changed == {"phase"}


edits = st.dictionaries(
    st.sampled_from(AGENT_FIELDS), st.sampled_from(["coding", "done", "x", "", "In Review"])
)
polls = st.lists(
    st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01T00:02:00Z", "2026-01-01T00:04:00Z"]),
    unique=True,
)


@given(edits, polls, st.integers(0, 3))
def test_an_edit_from_any_past_copy_survives_and_no_engine_field_is_lost(
    edit: dict[str, Any], times: list[str], stale: int
) -> None:
    """Whichever engine write the agent's copy was made after, its own edits win, ours stand."""
    past: list[dict[str, Any]] = [dict(AFTER)]
    for time in times:
        past.append({**past[-1], "last_check_poll": time, "phase": "checks_running"})
    ours = past[-1]
    copied = past[min(stale, len(past) - 1)]
    merged = merge(past, ours, {**copied, **edit})
    for name in ENGINE_FIELDS:
        assert merged.values[name] == ours[name]
    for name in AGENT_FIELDS:
        is_edit = name in edit and (edit[name] or None) != (copied[name] or None)
        is_edit = is_edit and (name != "branch" or bool(edit[name]))
        assert merged.values[name] == (edit[name] if is_edit else ours[name])


@pytest.mark.parametrize(
    ("theirs", "hints"),
    [
        ({"pr_number": ""}, {}),
        ({"pr_number": None}, {}),
        ({"pr_number": 107}, {}),
        ({"pr_number": 99}, {"pr_number": 99}),
        ({"last_synced_status": "In Progress"}, {}),
        ({"last_synced_status": "Todo"}, {"last_synced_status": "Todo"}),
    ],
)
def test_an_engine_field_that_is_empty_or_old_is_no_edit(
    theirs: dict[str, Any], hints: dict[str, Any]
) -> None:
    """What was once in the file, or was emptied, returns to what the engine wants."""
    merged = merge([BEFORE, {**AFTER, "pr_number": 106}], AFTER, {**AFTER, **theirs})
    assert merged.hints == hints
    assert merged.values == AFTER


@pytest.mark.parametrize(
    ("theirs", "phase", "is_asked"),
    [
        ("ready_for_pr", "ready_for_pr", True),
        ("done", "done", True),
        ("coding", "pr_created", False),
        ("pr_created", "pr_created", False),
    ],
)
def test_an_old_copy_that_asks_for_something_is_heard(
    theirs: str, phase: str, is_asked: bool
) -> None:
    """GitHub judges a hand-off and a done; any other phase of an old copy was only carried along."""
    old = {**BEFORE, "phase": theirs}
    merged = merge([old, AFTER], AFTER, old)
    assert merged.values["phase"] == phase
    assert ("phase" in merged.changed) is is_asked
    assert merge([], AFTER, {**AFTER, "phase": "coding"}).changed == {"phase"}


def test_an_empty_field_is_the_same_as_none() -> None:
    """Neither is an edit of the other."""
    for one, other in (("", None), (None, "")):
        merged = merge([{**BEFORE, "summary": one}], AFTER, {**BEFORE, "summary": other})
        assert merged.changed == set()


def test_of_copies_that_are_alike_the_newest_is_the_one() -> None:
    """What the agent had changed by then is no change of now."""
    first, last = {**BEFORE, "summary": "a"}, {**BEFORE, "summary": "b"}
    assert merge([first, last], last, last).changed == set()
    assert merge([first, last], last, {**last, "summary": "a"}).changed == {"summary"}


def test_a_key_of_the_agents_changes_with_the_file() -> None:
    """Added, changed and removed; one that nobody touched is no change."""
    had = {**BEFORE, "note": "x"}
    for theirs, note, changed in (
        (had, "x", set()),
        ({**BEFORE, "note": "y"}, "y", {"note"}),
        (BEFORE, None, {"note"}),
    ):
        merged = merge([had], {**AFTER, "note": "x"}, theirs)
        assert merged.values.get("note") == note
        assert merged.changed == changed


def test_an_emptied_field_is_no_edit_though_it_never_was_empty() -> None:
    """Whatever stood in the file before."""
    assert merge([AFTER], AFTER, {**AFTER, "pr_number": ""}).hints == {}


def test_an_old_copy_that_asks_for_what_is_done_already_changes_nothing() -> None:
    """The engine wants that phase, too."""
    ours = {**AFTER, "phase": BEFORE["phase"]}
    merged = merge([BEFORE, ours], ours, BEFORE)
    assert (merged.values, merged.changed) == (ours, frozenset())


def test_a_key_that_the_copy_could_not_know_stays() -> None:
    """It came after the copy was made, so nobody took it out."""
    merged = merge([BEFORE], {**AFTER, "note": "x"}, BEFORE)
    assert (merged.values["note"], merged.changed) == ("x", frozenset())
