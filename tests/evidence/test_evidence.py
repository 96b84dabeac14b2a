"""Test runs that were seen, and what they say of the tree as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.evidence import seen_runs
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.seen_runs import KEPT, PATIENCE, Awaited, SeenRun, standing
from lifecycle.evidence.test_runs import Evidence
from lifecycle.storage import workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles


def runs(*said: str) -> tuple[SeenRun, ...]:
    """Runs as `green@tree`, one second apart."""
    found = []
    for number, text in enumerate(said):
        outcome, _, tree = text.partition("@")
        found.append(SeenRun(float(number), "pytest", Outcome(outcome), tree, str(number)))
    return tuple(found)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], Evidence.MISSING),
        (["unknown@now"], Evidence.UNKNOWN),
        (["failed@now", "unknown@now"], Evidence.UNKNOWN),
        (["passed@old", "unknown@now"], Evidence.UNKNOWN),
        (["unknown@now", "failed@now"], Evidence.RED),
        (["passed@now"], Evidence.GREEN),
        (["passed@now", "unknown@now"], Evidence.GREEN),
        (["failed@old", "passed@now"], Evidence.GREEN),
        (["passed@now", "failed@now"], Evidence.RED),
        (["passed@now", "failed@now", "passed@now"], Evidence.GREEN),
        (["passed@now", "failed@old"], Evidence.GREEN),  # edited, red, and edited back
        (["passed@old"], Evidence.CHANGED),
        (["passed@"], Evidence.CHANGED),
        (["failed@old", "passed@old"], Evidence.CHANGED),
        (["passed@old", "failed@now"], Evidence.RED),
        (["failed@old"], Evidence.RED),
    ],
)
def test_what_the_runs_say_of_the_tree(said: list[str], expected: Evidence) -> None:
    """The last run on this very tree decides; else whether the last one was green on another."""
    assert standing(runs(*said), "now") is expected


def test_without_a_tree_nothing_is_proven() -> None:
    """A tree that git cannot name is no tree on which a run was seen."""
    assert standing(runs("passed@"), "") is Evidence.CHANGED


def test_runs_are_kept_in_bounds_once_each_and_without_secrets(tmp_path: Path) -> None:
    """The newest ones; a second copy of one event is none; a token in a command is stars."""
    shelf = WorkflowFiles(tmp_path)
    with shelf.locked():
        for run in runs(*["passed@now"] * (KEPT + 3)):
            assert seen_runs.add(shelf, run)
        secret = "pytest --token ghp_abcdefghijklmnopqrst0123\n" + "x" * 900
        last = SeenRun(99.0, secret, Outcome.FAILED, "now", "one")
        assert seen_runs.add(shelf, last)
        assert not seen_runs.add(shelf, last)
    kept = seen_runs.load(shelf)
    assert len(kept) == KEPT
    assert kept[-1].command.startswith("pytest --token *** x")
    assert len(kept[-1].command) <= 200
    assert shelf.path(seen_runs.RUNS).stat().st_size < 20_000


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"7", b'[{"at": 1}]', b"[7]", b"\xff"])
def test_a_broken_file_is_no_evidence(tmp_path: Path, content: bytes) -> None:
    """It is learned again with the next run."""
    shelf = WorkflowFiles(tmp_path)
    with shelf.locked():
        shelf.path(seen_runs.RUNS).write_bytes(content)
        assert seen_runs.load(shelf) == ()
        assert seen_runs.add(shelf, runs("passed@now")[0])
    assert standing(seen_runs.load(shelf), "now") is Evidence.GREEN


def awaited(task: str, at: float = 100.0) -> Awaited:
    """A run in the background."""
    return Awaited(at, task, "pytest", "tree", is_here=True)


def test_a_run_in_the_background_is_waited_for_and_taken_once(tmp_path: Path) -> None:
    """The mark lies there as long as one is waited for, with the moment until which; then it is gone."""
    shelf = WorkflowFiles(tmp_path)
    mark = str(shelf.folder.path / workflow_marks.AWAITED)
    with shelf.locked():
        for one in (awaited("b1"), awaited("b2", 200.0), awaited("b1")):
            seen_runs.wait_for(shelf, one)
        assert [one.task for one in seen_runs.awaited(shelf)] == ["b2", "b1"]
        assert workflow_marks.mtime_ns(mark) == int((200.0 + PATIENCE) * 1e9)
        assert seen_runs.take(shelf, "b7", 300.0) is None
        assert seen_runs.take(shelf, "b1", 300.0) == awaited("b1")
        assert seen_runs.take(shelf, "b1", 300.0) is None
        assert workflow_marks.mtime_ns(mark) > 0
        assert seen_runs.take(shelf, "b2", 300.0) == awaited("b2", 200.0)
        assert workflow_marks.mtime_ns(mark) == -1
        assert seen_runs.awaited(shelf) == ()


def test_an_end_that_never_comes_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    """After some hours it is forgotten, whoever asks; and a broken file is nothing that is waited for."""
    shelf = WorkflowFiles(tmp_path)
    with shelf.locked():
        seen_runs.wait_for(shelf, awaited("b1"))
        seen_runs.wait_for(shelf, awaited("b2", 200.0 + PATIENCE))
        assert [one.task for one in seen_runs.awaited(shelf)] == ["b2"]
        assert seen_runs.take(shelf, "b2", 300.0 + 2 * PATIENCE) is None
        assert seen_runs.awaited(shelf) == ()
        for content in (b"{", b"[7]", b'[{"at": 1}]', b"{}"):
            shelf.path(seen_runs.AWAITED).write_bytes(content)
            assert seen_runs.awaited(shelf) == ()
