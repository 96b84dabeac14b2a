"""The run's file, with real git: what is strange is said and kept, and two writers lose nothing."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.run.run_store import RunStore
from lifecycle.run.table import KEPT_LINES, TIERS
from tests.run.run_ground import RunGround


def noted(store: RunStore, *texts: str, story: str = "") -> None:
    """Change the run, with these lines for the progress file; a story that is not there fails."""
    with store.changing() as change:
        change.run = replace(change.run, iterations=change.run.iterations + 1)
        for text in texts:
            change.note(text)
        if story:
            change.run.story(story)


def test_what_a_change_notes_stands_in_the_progress_file(ground: RunGround) -> None:
    """One line each, the newest last, with its time; nothing of it if the change fails."""
    ground.begun()
    noted(ground.store, "Added story: S1 Pay\nwith more", "Phase: analysis")
    lines = ground.store.progress.tail(20)
    assert [line.partition("Z ")[2] for line in lines] == [
        "Added story: S1 Pay with more",
        "Phase: analysis",
    ]
    with pytest.raises(Refused):
        noted(ground.store, "never", story="S9")
    assert ground.store.progress.tail(20) == lines


def test_a_long_run_trims_its_progress_by_itself(ground: RunGround) -> None:
    """Under an hour every line stays; beyond it, well over the kept lines are cut to them."""
    ground.begun()
    noted(ground.store, *(f"line {n} {'x' * 90}" for n in range(3 * KEPT_LINES)))
    assert len(ground.store.progress.tail(1_000)) == 3 * KEPT_LINES
    ground.clock.sleep(TIERS[0].until)
    noted(ground.store, "the last")
    lines = ground.store.progress.tail(1_000)
    assert len(lines) == KEPT_LINES
    assert lines[-1].endswith("the last")
    noted(ground.store, "one more")
    assert len(ground.store.progress.tail(1_000)) == KEPT_LINES + 1
