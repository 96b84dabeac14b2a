"""What a claim leaves in the journal: each phase once, each write once, whoever is interrupted."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from lifecycle.api import Wake
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry
from tests.conftest import COMMAND, Place


def noted(place: Place, kind: str) -> list[JournalEntry]:
    """What the journal has of one kind."""
    return [one for one in journal.read(place.root) if one.kind == kind]


def steps(place: Place) -> list[tuple[str, str]]:
    """From which phase to which."""
    return [(one.source, one.target) for one in noted(place, journal.TRANSITION)]


def writes(place: Place) -> list[str]:
    """What was written, in order."""
    return [one.target for one in noted(place, journal.WRITE)]


def test_from_claim_to_close(place: Place) -> None:
    """Every phase and every write of a task, with its number, its agent and its session."""
    place.control.plan_checks(PlannedCheck(name="test", status="in_progress"))
    tree = place.tree(CLAUDE_CODE_SESSION_ID="s-1")
    tree.claim(42)
    place.work(place.claim()["branch"])
    tree.hand_off("Fix the race")
    tree.tick(Wake.STOP)
    tree.tick(Wake.IDLE)
    place.control.merge_pull(place.pull())
    tree.tick(Wake.TICK)
    tree.close()
    tree.tick(Wake.TICK)
    assert not place.has_claim()
    assert steps(place) == list(
        pairwise(
            (
                *("", "coding", "ready_for_pr", "pr_created", "checks_running"),
                *("merged_detected", "done", journal.CLOSED),
            )
        )
    )
    assert writes(place) == ["pull request", "status", "comment", "issue closed", "status", "lease"]
    entries = journal.read(place.root)
    assert {one.task for one in entries} == {"#42"}
    assert {one.session for one in entries} == {"s-1"}
    (actor,) = {one.actor for one in entries}
    assert actor.startswith("octocat-")
    assert [one.at for one in entries] == sorted(one.at for one in entries)
    (opened,) = [one for one in entries if one.target == "pull request"]
    assert opened.detail == {"pull": next(iter(place.pulls()))}


def test_a_look_that_changes_nothing_notes_nothing(place: Place) -> None:
    """However often it is woken, and whoever looks: no entry comes twice."""
    place.ready()
    place.tree().tick(Wake.STOP)
    before = journal.read(place.root)
    for wake in (Wake.STOP, Wake.IDLE, Wake.TICK, Wake.STOP):
        place.tree().tick(wake)
    after = journal.read(place.root)
    assert after[: len(before)] == before
    assert len({(one.source, one.target, one.kind) for one in after}) == len(after)


def test_what_an_agent_writes_into_the_file_is_a_step(place: Place) -> None:
    """An edit of the phase by hand is noted at the next look, and so is the way back."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.write(phase="ready_for_pr")
    place.tree().tick(Wake.STOP)
    place.write(phase="coding")
    place.tree().tick(Wake.STOP)
    assert steps(place) == [
        ("", "coding"),
        ("coding", "ready_for_pr"),
        ("ready_for_pr", "pr_created"),
        ("pr_created", "coding"),
    ]


def test_a_phase_that_does_not_exist_is_no_step(place: Place) -> None:
    """What somebody mistyped is not noted, and the way on from it begins where the claim was."""
    place.ready(phase="coding")
    place.tree().tick(Wake.STOP)
    place.write(phase="codding")
    place.tree().tick(Wake.STOP)
    place.write(phase="coding")
    place.tree().tick(Wake.STOP)
    assert steps(place) == [("", "coding")]


def test_a_move_by_hand_is_told_as_such(place: Place) -> None:
    """`lifecycle nudge` shows in the entry that it made."""
    place.ready(phase="coding")
    place.tree().tick(Wake.STOP)
    assert place.cli("nudge", "done", "--reason", "because", "--force").returncode == 0
    moves = noted(place, journal.TRANSITION)
    by_hand = {one.target: one.detail["by_hand"] for one in moves}
    assert by_hand == {"coding": False, "done": True, journal.CLOSED: False}


def test_a_task_given_back_ends_as_released(place: Place) -> None:
    """Its last step leads nowhere else, and each step of giving back was a write."""
    tree = place.tree()
    tree.claim(42)
    assert place.cli("release", "--reason", "no time").returncode == 0
    assert not place.has_claim()
    assert steps(place) == [("", "coding"), ("coding", journal.RELEASED)]
    assert writes(place) == ["comment", "assignee", "lease", "status"]


def test_a_look_that_was_cut_off_notes_its_step_once(place: Place) -> None:
    """As if it had been killed after the entry and before its own memory was saved: one entry stays."""
    place.ready()
    place.tree().tick(Wake.STOP)
    state = place.root / ".lifecycle/state.json"
    before: dict[str, Any] = json.loads(state.read_bytes())["noted"]
    place.write(phase="coding")
    place.tree().tick(Wake.STOP)
    known = steps(place)
    assert len(known) > 1
    state.write_text(json.dumps({**json.loads(state.read_bytes()), "noted": before}))
    place.write(summary="Something else")
    place.tree().tick(Wake.STOP)
    assert steps(place) == known


def test_a_dry_run_notes_nothing(place: Place) -> None:
    """What was only imagined is in no journal."""
    place.ready()
    assert place.cli("tick", "--dry-run").returncode == 0
    assert journal.read(place.root) == ()


def test_a_journal_that_cannot_be_written_is_in_no_claims_way(place: Place) -> None:
    """The pull request is opened all the same; the log says what is missing."""
    (place.root / ".git/lifecycle").write_text("in the way")
    place.ready()
    place.tree().tick(Wake.STOP)
    assert place.claim()["phase"] == "pr_created"
    assert (
        "journal: nothing was written (File exists)" in (place.root / ".lifecycle/log").read_text()
    )


def test_a_reconcile_notes_nothing(place: Place) -> None:
    """It acts for agents wherever they are; the journal tells of what was done in this clone."""
    place.ready(status="In Review")
    place.tree().tick(Wake.STOP)
    before = len(writes(place))
    place.control.merge_pull(place.pull())
    assert place.run(str(COMMAND), "reconcile", "--issue", "42", "--close").returncode == 0
    assert place.issue()["state"] == "closed"
    assert len(writes(place)) == before
