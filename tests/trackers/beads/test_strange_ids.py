"""A database comes with a repository: an id that a shell would run is no task's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from lifecycle.core.errors import NotFound, ProtocolError
from lifecycle.trackers.beads.bd_decode import row_of
from tests.trackers.beads import grounds, simulated

EVIL = "demo-1$(touch owned)"


@pytest.fixture
def ground() -> Iterator[grounds.BeadsGround]:
    """Build 1.0.5 with a database in which the first, most urgent task is called so."""
    with grounds.known("1.0.5") as made:
        shutil.rmtree(made.root / ".beads")
        simulated.workspace(made.root, made.folder, ids=(EVIL,))
        assert simulated.create(made.folder, made.root, "Evil", "auto", priority=0) == EVIL
        (made.root / ".lifecycle").mkdir()
        yield made


def test_it_is_left_out_of_lists(ground: grounds.BeadsGround) -> None:
    """The others are there, and the log says that one is not, in one line."""
    good = simulated.create(ground.folder, ground.root, "Good", "auto")
    tracker = ground.tracker("me")
    assert [task.id for task in tracker.ready(labels=("auto",))] == [good]
    assert [task.id for task in tracker.list()] == [good]
    log = (ground.root / ".lifecycle" / "log").read_text()
    assert f"tracker: left out, since no plain word is its id: {EVIL!r}" in log
    assert not os.path.lexists(ground.root / "owned")


def test_nobody_gets_it(ground: grounds.BeadsGround) -> None:
    """Not by its name, and not by the end of it, which bd would take for the whole."""
    tracker = ground.tracker("me")
    for name in (EVIL, "1$(touch owned)", "x;id", "-x", "a b", "é"):
        with pytest.raises(NotFound):
            tracker.get(name)


def test_the_next_one_is_never_that(ground: grounds.BeadsGround) -> None:
    """bd's own choice would be it, so it is not asked to choose."""
    good = simulated.create(ground.folder, ground.root, "Good", "auto")
    taken = ground.tracker("me").claim_next(labels=("auto",))
    assert taken is not None
    assert taken.id == good
    assert simulated.run(ground.folder, ground.root, "show", EVIL)[0]["status"] == "open"


def test_a_task_that_waits_for_it_waits(ground: grounds.BeadsGround) -> None:
    """It blocks, under a name that a shell takes as a word."""
    good = simulated.create(ground.folder, ground.root, "Good")
    simulated.run(ground.folder, ground.root, "dep", "add", good, EVIL)
    assert ground.tracker("me").get(good).blocked_by == ("demo-1__touch_owned_",)


@pytest.mark.parametrize("name", ["a`id`", "a\nb", "a b", "a;b", "-rf", ".a", "a'b", "a|b", "~a"])
def test_only_plain_words_are_ids(name: str) -> None:
    """Whatever else a shell reads is refused."""
    with pytest.raises(ProtocolError):
        row_of({"id": name})
    assert row_of({"id": "demo-a3f.1_b"}).task.id == "demo-a3f.1_b"
