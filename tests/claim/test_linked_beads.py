"""A task in both, with the real hooks and a `bd` that answers as a real build: what is run, and when."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.git import lease
from tests.cli.outcome import ok, refused
from tests.cli.tracker_ground import made, told, with_beads
from tests.conftest import Place
from tests.trackers.beads import simulated


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the simulated `bd` lies."""
    return tmp_path / "bin"


@pytest.fixture
def linked(place: Place, tmp_path: Path) -> tuple[Place, str]:
    """A worktree with beads, and the id of a task that is linked to issue 42."""
    beads = with_beads(place, tmp_path)
    return beads, made(beads, "Linked", "--external", "gh-42")


def verbs(folder: Path) -> list[str]:
    """What `bd` was asked since the last `forget`, questions about itself left out."""
    words = [call["argv"][0] for call in simulated.calls(folder)]
    return [word for word in words if word not in ("version", "--version", "--help", "where")]


def is_merged(place: Place) -> None:
    """The claim's work is handed off, its PR opened by the hook and merged, and the agent writes done."""
    place.work(place.claim()["branch"])
    ok(place.cli("handoff", "--summary", "Fix the race"))
    ok(place.hook("on-stop"))
    place.control.merge_pull(place.pull())
    place.hook("on-idle")
    place.hook("user-prompt-submit", {"prompt": "yes, close it"})
    place.write(phase="done")


def test_the_hooks_ask_bd_only_when_the_task_begins_and_ends(
    linked: tuple[Place, str], folder: Path
) -> None:
    """Opening the PR and polling run no `bd`; a look by command reads the task; the closing closes it."""
    place, task = linked
    ok(place.cli("claim", task))
    simulated.forget(folder)
    ok(place.hook("on-stop"))
    assert verbs(folder) == []
    ok(place.cli("tick"))
    assert verbs(folder) == ["show"]
    simulated.forget(folder)
    is_merged(place)
    assert verbs(folder) == []
    ok(place.hook("on-stop"))
    asked = verbs(folder)
    assert asked.count("close") == 1
    assert set(asked) <= {"show", "close", "list"}
    shown = told(place, "show", task)["task"]
    assert shown["status"] == "closed"
    assert shown["close_reason"].startswith("Fix the race (PR #46 ")
    assert place.issue()["state"] == "closed"
    assert not place.has_claim()


@pytest.mark.once("test_linked_world has each with a tracker in memory")
@pytest.mark.parametrize("fault", ["busy", "die-before", "die-after", "garbage"])
def test_a_bd_that_fails_in_a_hook_is_silent_and_the_next_look_repairs_it(
    linked: tuple[Place, str], folder: Path, fault: str
) -> None:
    """The hook exits 0 without a word about it, the issue waits, and a look by command closes both."""
    place, task = linked
    ok(place.cli("claim", task))
    is_merged(place)
    simulated.fault(folder, "close", fault, times=1)
    done = place.hook("on-stop")
    assert done.returncode == 0
    assert "linked" not in done.stdout + done.stderr
    if place.has_claim():
        ok(place.cli("tick"))
    assert told(place, "show", task)["task"]["status"] == "closed"
    assert place.issue()["state"] == "closed"
    assert not place.has_claim()


@pytest.mark.soak(
    "claim/test_linked_beads.py::test_the_hooks_ask_bd_only_when_the_task_begins_and_ends",
    "claim/test_linked_world.py::test_a_tracker_that_cannot_be_asked_keeps_nobody_from_the_issue",
)
def test_a_bd_that_is_gone_does_not_keep_the_issue_open(
    linked: tuple[Place, str], folder: Path
) -> None:
    """The program was removed: the issue closes, and one sentence names the task that is left (exit 1)."""
    place, task = linked
    (place.root / ".lifecycle.toml").write_text('[tracker]\nuse = "beads"\n')
    ok(place.cli("claim", task))
    is_merged(place)
    (folder / "bd").rename(folder / "away")
    done = place.cli("tick")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count(f"The linked task {task} is still open") == 1
    assert done.stdout.count("so no task was read or changed") == 1
    assert place.issue()["state"] == "closed"
    assert not place.has_claim()


@pytest.mark.soak(
    "claim/test_linked_beads.py::test_the_hooks_ask_bd_only_when_the_task_begins_and_ends",
    "claim/test_linked_world.py::test_held_by_another_on_github_gives_the_inner_one_back",
)
def test_held_on_github_gives_the_task_back(linked: tuple[Place, str], folder: Path) -> None:
    """The lease is another's although the card is free: claimed inside, refused outside, given back."""
    place, task = linked
    lease.take(place.tree().world.git, "origin", 42, "maria-1")
    simulated.forget(folder)
    assert "held by maria-1" in refused(place.cli("claim", "42"), 4)
    assert "update" in verbs(folder)
    shown = told(place, "show", task)["task"]
    assert (shown["status"], shown["assignee"]) == ("open", None)
    state = json.loads((place.root / ".lifecycle/state.json").read_text())
    assert "linked_undone" not in state


@pytest.mark.soak(
    "claim/test_linked_beads.py::test_the_hooks_ask_bd_only_when_the_task_begins_and_ends",
    "claim/test_linked_world.py::test_a_tracker_that_cannot_be_asked_keeps_nobody_from_the_issue",
)
def test_a_bd_that_is_only_missing_from_this_path_closes_the_task_once_it_is_back(
    linked: tuple[Place, str], folder: Path
) -> None:
    """Found by itself, then gone: the sentence says so, and a later hook that finds it closes the task."""
    place, task = linked
    ok(place.cli("claim", task))
    is_merged(place)
    (folder / "bd").rename(folder / "away")
    done = place.cli("tick")
    assert done.stdout.count(f"The linked task {task} is still open; a later look closes it") == 1
    assert done.stdout.count("so no task was read or changed") == 1
    assert place.issue()["state"] == "closed"
    (folder / "away").rename(folder / "bd")
    path = place.root / ".lifecycle/state.json"  # its time has come
    state = json.loads(path.read_text())
    state["linked_undone"][0]["until"] = 1.0
    path.write_text(json.dumps(state))
    os.utime(place.root / ".lifecycle/due", (1, 1))
    ok(place.hook("on-stop"))
    assert told(place, "show", task)["task"]["status"] == "closed"
    assert not (place.root / ".lifecycle/due").exists()


@pytest.mark.soak(
    "claim/test_linked_beads.py::test_the_hooks_ask_bd_only_when_the_task_begins_and_ends",
    "claim/test_linked_world.py::test_a_tracker_that_cannot_be_asked_keeps_nobody_from_the_issue",
)
@pytest.mark.parametrize("is_by_id", [True, False])
def test_a_worktree_of_its_own_has_the_main_ones_tasks(
    linked: tuple[Place, str], tmp_path: Path, *, is_by_id: bool
) -> None:
    """bd finds the main worktree's database there, and so does the claim: both are held, by either name."""
    place, task = linked
    root = tmp_path / "own"
    ok(place.cli("claim", task if is_by_id else "42", "--worktree", str(root)))
    own = replace(place, root=root)
    shown = told(own, "show", task)["task"]
    assert shown["status"] == "in_progress"
    assert shown["assignee"] == own.claim()["agent_id"]


@pytest.mark.soak(
    "claim/test_linked_beads.py::test_the_hooks_ask_bd_only_when_the_task_begins_and_ends",
    "claim/test_linked_world.py::test_two_agents_of_one_second_have_two_names",
)
def test_two_agents_of_one_second_do_not_share_a_task(
    linked: tuple[Place, str], tmp_path: Path
) -> None:
    """Two worktrees claim in the same second: a task that one of them takes is not the other's."""
    place, _ = linked
    task = made(place, "Plain")
    both = [tmp_path / "one", tmp_path / "two"]
    for number, root in zip(("42", "41"), both, strict=True):
        ok(place.cli("claim", number, "--worktree", str(root)))
    names = [replace(place, root=root).claim()["agent_id"] for root in both]
    for root in both:  # as if it had been the same second
        claimed = json.loads((root / ".agent-claim.json").read_text())
        digits = claimed["agent_id"].rpartition("-")[2]
        assert len(digits) == 16
        claimed["agent_id"] = f"octocat-{names[0].rpartition('-')[2][:10]}{digits[10:]}"
        (root / ".agent-claim.json").write_text(json.dumps(claimed))
    ok(replace(place, root=both[0]).cli("tracker", "claim", task))
    refused(replace(place, root=both[1]).cli("tracker", "claim", task), 4)
