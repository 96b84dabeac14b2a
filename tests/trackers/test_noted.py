"""What the trackers' commands write is in the journal, each write once, and nothing that failed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.core.tracker import Tracker
from lifecycle.storage import journal
from lifecycle.trackers.memory import MemoryTracker
from lifecycle.trackers.registry import WRITES
from tests.cli.outcome import refused
from tests.cli.tracker_ground import made, told, with_beads
from tests.conftest import Place


def lines(place: Place) -> list[tuple[str, str, str]]:
    """What the journal has of trackers: the task, what was written, and in which tracker."""
    found = [one for one in journal.read(place.root) if one.system == journal.TRACKER]
    assert all(one.kind == journal.WRITE and one.actor for one in found)
    return [(one.task, one.target, one.detail["tracker"]) for one in found]


def test_a_plain_task_from_begin_to_end(place: Place, tmp_path: Path) -> None:
    """Each command that changes it is one line; reading it, doing it again and failing is none."""
    beads = with_beads(place, tmp_path)
    task = made(beads, "Plain")
    for verb in ("claim", "claim", "show"):
        told(beads, verb, task)
    beads.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "other"))
    other = replace(beads, root=tmp_path / "other")
    refused(other.cli("tracker", "claim", task), 4)
    told(beads, "label", task, "--add", "bug")
    told(beads, "close", task, "--reason", "Done.")
    told(beads, "reopen", task)
    assert lines(beads) == [
        (task, word, "beads") for word in ("task", "claim", "labels", "closed", "reopened")
    ]


def test_an_issue_is_named_as_everywhere_else(place: Place) -> None:
    """GitHub's numbers have their sign; what the claim does is the claim's line, not the tracker's."""
    told(place, "claim", "42")
    told(place, "comment", "42", "Seen.")
    told(place, "comment", "42", "Seen.")
    told(place, "close", "44", "--reason", "Not wanted.")
    assert lines(place) == [("#42", "comment", "github"), ("#44", "closed", "github")]


def test_a_tracker_stays_what_it_is(both: Place) -> None:
    """Its type is its own, and every verb that writes is noted but the renewing of a claim."""
    assert isinstance(both.tree().world.tracker, MemoryTracker)
    reads = {"abilities", "wording", "get", "list", "ready", "list_comments", "renew"}
    verbs = {name for name in vars(Tracker) if not name.startswith("_")} - {"name", "actor"}
    assert verbs == reads | set(WRITES)


@pytest.fixture
def both(place: Place) -> Place:
    """A worktree whose tasks are kept in memory."""
    (place.root / ".lifecycle.toml").write_text('[tracker]\nuse = "memory"\n')
    return place
