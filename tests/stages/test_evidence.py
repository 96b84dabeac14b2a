"""Test runs that were seen, and what they say of the tree as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.stages import evidence
from lifecycle.stages.evidence import KEPT, Ended, Run, Standing, standing
from lifecycle.stages.shelf import Shelf


def runs(*said: str) -> tuple[Run, ...]:
    """Runs as `green@tree`, one second apart."""
    found = []
    for number, text in enumerate(said):
        outcome, _, tree = text.partition("@")
        found.append(Run(float(number), "pytest", Ended(outcome), tree, str(number)))
    return tuple(found)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], Standing.NONE),
        (["unknown@now"], Standing.NONE),
        (["green@now"], Standing.GREEN),
        (["green@now", "unknown@now"], Standing.GREEN),
        (["red@old", "green@now"], Standing.GREEN),
        (["green@now", "red@now"], Standing.RED),
        (["green@now", "red@now", "green@now"], Standing.GREEN),
        (["green@now", "red@old"], Standing.GREEN),  # edited, red, and edited back
        (["green@old"], Standing.CHANGED),
        (["green@"], Standing.CHANGED),
        (["red@old", "green@old"], Standing.CHANGED),
        (["green@old", "red@now"], Standing.RED),
        (["red@old"], Standing.RED),
    ],
)
def test_what_the_runs_say_of_the_tree(said: list[str], expected: Standing) -> None:
    """The last run on this very tree decides; else whether the last one was green on another."""
    assert standing(runs(*said), "now") is expected


def test_without_a_tree_nothing_is_proven() -> None:
    """A tree that git cannot name is no tree on which a run was seen."""
    assert standing(runs("green@"), "") is Standing.CHANGED


def test_runs_are_kept_in_bounds_once_each_and_without_secrets(tmp_path: Path) -> None:
    """The newest ones; a second copy of one event is none; a token in a command is stars."""
    shelf = Shelf(tmp_path)
    with shelf.locked():
        for run in runs(*["green@now"] * (KEPT + 3)):
            assert evidence.add(shelf, run)
        secret = "pytest --token ghp_abcdefghijklmnopqrst0123\n" + "x" * 900
        last = Run(99.0, secret, Ended.RED, "now", "one")
        assert evidence.add(shelf, last)
        assert not evidence.add(shelf, last)
    kept = evidence.load(shelf)
    assert len(kept) == KEPT
    assert kept[-1].command.startswith("pytest --token *** x")
    assert len(kept[-1].command) <= 200
    assert shelf.path(evidence.RUNS).stat().st_size < 20_000


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"7", b'[{"at": 1}]', b"[7]", b"\xff"])
def test_a_broken_file_is_no_evidence(tmp_path: Path, content: bytes) -> None:
    """It is learned again with the next run."""
    shelf = Shelf(tmp_path)
    with shelf.locked():
        shelf.path(evidence.RUNS).write_bytes(content)
        assert evidence.load(shelf) == ()
        assert evidence.add(shelf, runs("green@now")[0])
    assert standing(evidence.load(shelf), "now") is Standing.GREEN
