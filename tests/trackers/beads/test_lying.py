"""Builds that promise more than they keep."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.core.errors import AlreadyClaimed, Invalid, VersionUnsupported
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.tracker import Atomicity
from lifecycle.trackers.beads import bd_decode
from lifecycle.trackers.beads.bd_process import MOST_WORD
from lifecycle.trackers.beads.bd_tracker import BeadsTracker
from tests.trackers.beads import grounds, simulated
from tests.trackers.beads.grounds import probe


@pytest.fixture
def ground() -> Iterator[grounds.BeadsGround]:
    """Build 1.0.5."""
    with grounds.known("1.0.5") as made:
        yield made


def script(folder: Path, text: str) -> str:
    """A `bd` of this text in a new folder; a PATH on which it is the first."""
    folder.mkdir()
    (folder / "bd").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "bd").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def seen_by(ground: grounds.BeadsGround, path: str, actor: str) -> BeadsTracker:
    """A tracker in the ground's workspace that finds another program."""
    return BeadsTracker(ground.root, {"PATH": path}, actor, Deadline(SystemClock(), None))


@pytest.mark.parametrize(
    ("version", "is_sure"),
    [("0.47.1", False), ("0.49.3", False), ("0.49.4", True), ("1.0", True), ("dev", False)],
)
def test_a_claim_is_sure_only_since_it_compares_and_swaps(
    version: str, tmp_path: Path, *, is_sure: bool
) -> None:
    """Before 0.49.4 `--claim` looked and then wrote: such a build's word is read back."""
    path = script(tmp_path / "bin", f'echo \'{{"version": "{version}"}}\'')
    tracker = BeadsTracker(tmp_path, {"PATH": path}, "a", Deadline(SystemClock(), None))
    kind = Atomicity.LOCAL_CAS if is_sure else Atomicity.ADVISORY
    assert tracker.abilities().claim_atomicity is kind


@pytest.mark.parametrize(
    ("version", "sends"), [("0.50.9", "sync"), ("0.51.0", ""), ("0.99", ""), ("1.0.0", "dolt push")]
)
def test_between_two_ways_of_sending_there_is_none(
    version: str, sends: str, tmp_path: Path
) -> None:
    """With a remote of each kind: git's sent until 0.51, dolt's sends since 1.0."""
    git = ("git", "-C", str(tmp_path))
    for words in (("init", "--quiet"), ("remote", "add", "origin", str(tmp_path))):
        subprocess.run([*git, *words], check=True)
    path = script(
        tmp_path / "bin",
        f'case "$1" in version) echo \'{{"version": "{version}"}}\';; *) echo \'[{{}}]\';; esac',
    )
    tracker = BeadsTracker(tmp_path, {"PATH": path}, "a", Deadline(SystemClock(), None))
    assert tracker.sends == sends


def test_a_program_that_was_too_old_is_asked_again(tmp_path: Path) -> None:
    """Behind a script that stays as it is, another may have been installed since."""
    said = tmp_path / "said"
    path = script(tmp_path / "bin", f"cat {said}")
    tracker = BeadsTracker(tmp_path, {"PATH": path}, "a", Deadline(SystemClock(), None))
    said.write_text('{"version": "0.29.1"}')
    with pytest.raises(VersionUnsupported):
        probe(tracker)
    said.write_text('{"version": "1.3.0"}')
    assert probe(tracker) == "1.3.0"


def test_a_loser_is_told_in_older_words() -> None:
    """As 0.47 says it."""
    error = bd_decode.failure("Error claiming demo-1: already claimed by bob", "update")
    assert isinstance(error, AlreadyClaimed)
    assert error.by == "bob"


def test_what_bd_chose_for_another_is_not_ones_own(
    ground: grounds.BeadsGround, tmp_path: Path
) -> None:
    """It names a task that somebody else has: the next one is claimed by itself."""
    first = simulated.create(ground.folder, ground.root, "First", priority=0)
    second = simulated.create(ground.folder, ground.root, "Second")
    bd = ground.folder / "bd"
    path = script(
        tmp_path / "first",
        f'case "$*" in "ready --claim"*) BEADS_ACTOR=zoe BD_ACTOR=zoe {bd} update {first} --claim '
        "--json;;\n"
        f'*) exec {bd} "$@";; esac',
    )
    taken = seen_by(ground, path, "me").claim_next()
    assert taken is not None
    assert (taken.id, taken.assignee) == (second, "me")
    assert ground.tracker("me").get(first).assignee == "zoe"


def test_a_task_that_is_gone_is_passed_over(ground: grounds.BeadsGround, tmp_path: Path) -> None:
    """It was listed as ready and deleted meanwhile: the next one is claimed."""
    first = simulated.create(ground.folder, ground.root, "First", priority=0)
    second = simulated.create(ground.folder, ground.root, "Second")
    bd = ground.folder / "bd"
    words = f'{{"error":"no issue found matching \\"{first}\\""}}'
    path = script(
        tmp_path / "first",
        f'case "$*" in "show {first}"*) echo \'{words}\'; exit 1;;\n*) exec {bd} "$@";; esac',
    )
    for name in (first, second):
        simulated.run(ground.folder, ground.root, "label", "add", name, "auto:now")
    taken = seen_by(ground, path, "me").claim_next(labels=("auto:*",))  # bd cannot choose by that
    assert taken is not None
    assert taken.id == second


def test_what_no_command_line_takes_is_refused_in_words(ground: grounds.BeadsGround) -> None:
    """A NUL, and a text longer than one word may be: nothing was run, and the sentence says how long."""
    task = simulated.create(ground.folder, ground.root, "Task")
    tracker = ground.tracker("me")
    before = ground.writes()
    for text, said in (("a\0b", "NUL"), ("é" * MOST_WORD, f"takes at most {MOST_WORD}")):
        with pytest.raises(Invalid, match=said):
            tracker.edit(task, description=text)
        with pytest.raises(Invalid, match=said):
            tracker.comment(task, "key", text)
        with pytest.raises(Invalid, match=said):
            tracker.create(f"key-{said[0]}", title="New", description=text)
    assert ground.writes() == before
    long = "x" * (MOST_WORD - 100)
    assert tracker.edit(task, description=long).description == long
