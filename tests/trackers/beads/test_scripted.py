"""The verbs, answered by what real builds said, word for word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lifecycle.core.errors import (
    AlreadyClaimed,
    BlockedBy,
    NotClaimable,
    NotFound,
    NoWorkspace,
    Rejected,
)
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.tracker import TaskStatus
from lifecycle.trackers.beads.bd_tracker import BeadsTracker
from tests.trackers.beads import scripted, simulated
from tests.trackers.beads.grounds import BUILDS, know

NEWER = simulated.PROFILES[1:]
"""The builds with compare-and-swap."""


def _tracker(root: Path, profile: str, *script: str, actor: str = "agent-1") -> BeadsTracker:
    scripted.install(root / "bin", profile, *script)
    around = {"PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    tracker = BeadsTracker(root, around, actor, Deadline(SystemClock(), None))
    know(tracker, BUILDS[profile])
    return tracker


@pytest.mark.parametrize("profile", NEWER)
def test_a_claim_is_one_step_of_bd(profile: str, tmp_path: Path) -> None:
    """One look, then `--claim`, whose answer is believed."""
    tracker = _tracker(tmp_path, profile, "show", "update_claim")
    name = scripted.recorded_id(profile)
    task = tracker.claim(name)
    assert (task.status, task.assignee) == (TaskStatus.IN_PROGRESS, "agent-1")
    asked = scripted.asked(tmp_path / "bin")
    assert asked == [["show", name, "--json"], ["update", name, "--claim", "--json"]]


@pytest.mark.parametrize("profile", NEWER)
def test_a_lost_race_is_told_with_the_winner_s_name(profile: str, tmp_path: Path) -> None:
    """The look saw it free; `--claim` says who was faster, with exit code 0 on some builds."""
    tracker = _tracker(tmp_path, profile, "show", "update_claim_other_actor", actor="agent-2")
    with pytest.raises(AlreadyClaimed) as refused:
        tracker.claim(scripted.recorded_id(profile))
    assert refused.value.by == "agent-1"


@pytest.mark.parametrize("profile", simulated.PROFILES)
def test_a_closed_task_is_refused_by_the_look(profile: str, tmp_path: Path) -> None:
    """bd is not even asked; closing again neither, since it would overwrite the reason."""
    tracker = _tracker(tmp_path, profile, "show_closed", "show_closed")
    name = scripted.recorded_id(profile)
    with pytest.raises(NotClaimable) as refused:
        tracker.claim(name)
    assert refused.value.status == "closed"
    assert tracker.close(name, reason="other").close_reason == "again"
    assert scripted.left(tmp_path / "bin") == 0


@pytest.mark.parametrize("profile", simulated.PROFILES)
def test_a_missing_task_is_not_found(profile: str, tmp_path: Path) -> None:
    """Four ways to say so, two of them with exit code 0."""
    tracker = _tracker(tmp_path, profile, "show_missing")
    with pytest.raises(NotFound, match="demo-zzz9"):
        tracker.get("demo-zzz9")


def test_a_deleted_task_is_not_found(tmp_path: Path) -> None:
    """The oldest build shows a tombstone."""
    tracker = _tracker(tmp_path, "0.30.7", "show_deleted")
    with pytest.raises(NotFound):
        tracker.get("demo-cwo")


@pytest.mark.parametrize("profile", simulated.PROFILES)
def test_what_is_ready_comes_in_order(profile: str, tmp_path: Path) -> None:
    """The most urgent first, with its labels, whatever else the build shows."""
    tracker = _tracker(tmp_path, profile, "ready", "ready", "env_envelope")
    assert [task.priority for task in tracker.ready()] == [0, 1]
    assert [task.priority for task in tracker.ready(labels=("auto-*",))] == [0, 1]
    # The one that is left has an assignee: it is nobody's to begin, though bd shows it.
    assert tracker.ready() == ()
    words = scripted.asked(tmp_path / "bin")[0]
    assert words == ["ready", "--unassigned", "--limit=0", "--json"]


@pytest.mark.parametrize("profile", NEWER)
def test_a_blocked_task_is_not_closed_though_the_look_missed_it(
    profile: str, tmp_path: Path
) -> None:
    """A blocker that came between look and close is told by bd."""
    tracker = _tracker(tmp_path, profile, "show", "close_blocked")
    with pytest.raises(BlockedBy) as refused:
        tracker.close(scripted.recorded_id(profile))
    assert refused.value.ids == (scripted.recorded_id(profile),)


def test_reopening_clears_the_assignee_first(tmp_path: Path) -> None:
    """Ended between the two steps it is closed still, so that the next call goes on."""
    script = ("show_closed", "update_release")
    tracker = _tracker(tmp_path, "1.0.5", *script)
    name = scripted.recorded_id("1.0.5")
    with pytest.raises(Rejected, match="nothing is left"):
        tracker.reopen(name)
    asked = scripted.asked(tmp_path / "bin")
    assert asked[:2] == [["show", name, "--json"], ["update", name, "--assignee=", "--json"]]
    assert asked[2] == ["reopen", name, "--json"]


@pytest.mark.parametrize("profile", simulated.PROFILES)
def test_no_workspace_is_told(profile: str, tmp_path: Path) -> None:
    """One sentence that says what to do."""
    with pytest.raises(
        NoWorkspace,
        match=r"newer bd made the tasks here, install that version; .* since BEADS_DIR is not used",
    ):
        _tracker(tmp_path, profile, "no_db").ready()


@pytest.mark.parametrize("profile", simulated.PROFILES)
def test_comments_are_read(profile: str, tmp_path: Path) -> None:
    """Numbers or UUIDs as ids, with author and time."""
    (note,) = _tracker(tmp_path, profile, "comments_list").list_comments("demo-1")
    assert (note.author, note.text) == ("agent-1", "first comment")
    assert note.created_at
