"""An agent that writes in place is stopped between open and write while the engine exchanges the file."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from lifecycle.claim.record.claim_on_disk import TakenOutFiles
from lifecycle.claim.record.claim_store import ClaimStore, Listener, Loaded
from lifecycle.claim.record.state import Record
from lifecycle.core.plan import Notice
from lifecycle.storage import store
from lifecycle.storage.store import CLAIM_FILE
from tests.conftest import ManualClock
from tests.factories import EXAMPLE, values

POLL = {"phase": "checks_running", "last_check_poll": "2026-01-01T00:00:00Z"}


class Writer:
    """An agent in the middle of writing the file in place; `finish` writes what it had in mind."""

    def __init__(self, path: Path, flags: int) -> None:
        self.text = path.read_text()
        self.descriptor = os.open(path, os.O_WRONLY | flags)

    def finish(self, **changes: Any) -> None:
        """Write the whole claim as it was when it was read, with these changes, and close it."""
        self.say(json.dumps({**json.loads(self.text), **changes}).encode())
        self.close()

    def say(self, content: bytes) -> None:
        """Write something, and go on."""
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, content, 0)

    def close(self) -> None:
        """Be done."""
        os.close(self.descriptor)


class Ground:
    """A worktree with a live claim, and the engine's looks at it."""

    def __init__(self, root: Path) -> None:
        self.clock = ManualClock()
        self.root = root
        self.path = root / CLAIM_FILE
        self.path.write_text(json.dumps(values(phase="pr_created", pr_number=107)))
        self.look()

    def claim_store(self) -> ClaimStore:
        """A new one, as each process has."""
        return ClaimStore(self.root, self.clock)

    def load(self) -> tuple[ClaimStore, Loaded, Record]:
        """What a look finds."""
        claim_store = self.claim_store()
        loaded = claim_store.load()
        assert loaded.record is not None
        return claim_store, loaded, loaded.record

    def look(self, **wanted: Any) -> tuple[Notice, ...]:
        """One look, which wants something in the file or not; returns what it has to tell."""
        claim_store, loaded, record = self.load()
        claim_store.commit(record.with_values(wanted), loaded.hints)
        return claim_store.take(Listener())

    def claim(self) -> dict[str, Any]:
        """The claim file."""
        found: dict[str, Any] = json.loads(self.path.read_text())
        return found

    def kept(self) -> list[str]:
        """What is kept of files that were taken out."""
        folder = self.root / ".lifecycle/replaced"
        return [path.name for path in folder.iterdir()] if folder.is_dir() else []


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """The worktree."""
    return Ground(tmp_path)


@pytest.fixture(params=[True, False], ids=["exchange", "rename"])
def exchanging(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system that exchanges two files, and on one that does not."""
    if not request.param:
        monkeypatch.setattr(store, "_exchanger", lambda: None)


@pytest.mark.usefixtures("exchanging")
@pytest.mark.parametrize("looks", [1, 3])
def test_what_is_written_after_the_exchange_is_merged_by_the_next_look(
    ground: Ground, looks: int
) -> None:
    """Opened before a look, written after it: done stands, with its summary, and the poll's fields too."""
    writer = Writer(ground.path, 0)
    for number in range(looks):
        ground.look(**{**POLL, "last_check_poll": f"2026-01-01T00:00:0{number}Z"})
        ground.clock.sleep(60)
    writer.finish(phase="done", summary="late")
    ground.look()
    now = ground.claim()
    assert (now["phase"], now["summary"], now["pr_number"]) == ("done", "late", 107)
    assert now["last_check_poll"] == f"2026-01-01T00:00:0{looks - 1}Z"
    assert not list(ground.root.glob(f"{CLAIM_FILE}.*"))
    ground.look(phase="checks_running")
    assert ground.claim()["phase"] == "checks_running", "an edit that was taken is no edit twice"


def test_a_file_that_stays_empty_for_the_whole_look_is_set_aside(ground: Ground) -> None:
    """Truncated, and the writer stopped: the agent is asked to edit again, and what comes later is kept."""
    writer = Writer(ground.path, os.O_TRUNC)
    (said,) = ground.look(**POLL)
    assert "could not be read" in said.text
    assert "make your edit again" in said.text
    assert ground.claim()["pr_number"] == 107
    writer.finish(phase="done", summary="late")
    ground.look()
    (kept,) = ground.root.glob(f"{CLAIM_FILE}.corrupt-*")
    assert kept.name in said.text
    assert json.loads(kept.read_text())["summary"] == "late"
    assert ground.claim()["phase"] == "checks_running"


def test_what_is_half_written_is_waited_for(ground: Ground) -> None:
    """Half of it is there at the next look: nothing is taken, set aside or said before the rest is."""
    writer = Writer(ground.path, 0)
    ground.look(**POLL)
    writer.say(b'{"phase": "do')
    ground.clock.sleep(60)
    assert ground.look() == ()
    assert ground.claim()["phase"] == "checks_running"
    writer.finish(phase="done")
    ground.look()
    assert ground.claim()["phase"] == "done"


@pytest.mark.parametrize(
    "content",
    [b'{"phase": "do', json.dumps({**EXAMPLE, "issue_number": 50, "branch": "x"}).encode()],
)
def test_what_is_no_edit_of_this_claim_is_kept_and_said(ground: Ground, content: bytes) -> None:
    """A writer that died in the middle, or wrote another claim: its bytes are kept, and it is told."""
    writer = Writer(ground.path, 0)
    ground.look(**POLL)
    writer.say(content)
    writer.close()
    assert ground.look() == (), "somebody may still be writing"
    ground.clock.sleep(601)
    ground.claim_store().load(repair=False)
    assert not [*ground.root.glob(f"{CLAIM_FILE}.*")], "whoever only reads leaves it to a look"
    (said,) = ground.look()
    (kept,) = ground.root.glob(f"{CLAIM_FILE}.corrupt-*")
    assert kept.read_bytes() == content
    assert kept.name in said.text
    assert ground.look() == ()
    assert ground.claim()["phase"] == "checks_running"


def test_a_newer_edit_wins_over_one_that_came_late_but_was_written_before(ground: Ground) -> None:
    """The late one has done and a summary, the newer one another: each field has its newest value."""
    writer = Writer(ground.path, 0)
    ground.look(**POLL)
    writer.finish(phase="done", summary="older")
    newer = {**ground.claim(), "summary": "newer"}
    ground.path.write_text(json.dumps(newer))
    ahead = ground.path.stat().st_mtime_ns + 1_000_000_000
    os.utime(ground.path, ns=(ahead, ahead))
    ground.look()
    assert (ground.claim()["phase"], ground.claim()["summary"]) == ("done", "newer")


def test_what_came_during_a_long_look_is_not_swept_away_at_its_end(ground: Ground) -> None:
    """Written and closed while GitHub was asked: the end of that look leaves it to the next one."""
    writer = Writer(ground.path, 0)
    claim_store, loaded, record = ground.load()
    claim_store.commit(record.with_values(POLL), loaded.hints)
    writer.finish(phase="done")
    ground.clock.sleep(60)
    claim_store.stamp(claim_store.mtime_ns())
    assert not (ground.root / ".lifecycle/stamp").exists()
    ground.look()
    assert ground.claim()["phase"] == "done"


def test_an_edit_that_was_merged_survives_an_end_before_it_was_kept(ground: Ground) -> None:
    """Killed between reading and saving: the next look merges it again."""
    writer = Writer(ground.path, 0)
    ground.look(**POLL)
    writer.finish(phase="done")
    ground.load()
    ground.look()
    assert ground.claim()["phase"] == "done"


def test_who_opened_ours_while_it_lay_there_for_a_moment_is_heard_too(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit came in between, so ours was taken out again; somebody had opened it and writes later."""
    claim_store, loaded, record = ground.load()
    real, opened = store.exchange, list[Writer]()
    edited = {**ground.claim(), "summary": "first"}

    def watched(one: Path, other: Path) -> bool:
        if not opened:
            ground.path.write_text(json.dumps(edited))
        done = real(one, other)
        if not opened:
            opened.append(Writer(ground.path, 0))
        return done

    monkeypatch.setattr(store, "exchange", watched)
    claim_store.commit(record.with_values(POLL), loaded.hints)
    opened[0].text = json.dumps(edited)
    opened[0].finish(phase="done")
    ground.look()
    assert (ground.claim()["phase"], ground.claim()["summary"]) == ("done", "first")


def left(ground: Ground, **changes: Any) -> None:
    """Leave the claim file, with these changes, under the name of a killed write's temporary file."""
    content = json.dumps({**ground.claim(), **changes})
    ground.path.with_name(f"{CLAIM_FILE}.1f{store.OURS}").write_text(content)


def test_an_edit_that_a_killed_write_left_beside_the_claim_is_a_late_one(ground: Ground) -> None:
    """It is merged once, before what the agent writes later, and no temporary file stays."""
    left(ground, phase="checks_running", summary="left")
    ground.path.write_text(json.dumps({**ground.claim(), "phase": "done"}))
    ground.look()
    assert (ground.claim()["phase"], ground.claim()["summary"]) == ("done", "left")
    ground.path.write_text(json.dumps({**ground.claim(), "summary": ""}))
    ground.look(**POLL)
    assert ground.claim()["summary"] == ""
    assert list(ground.root.glob(f"*{store.OURS}")) == []


@pytest.mark.parametrize("content", ["", '{"phase": "do', None])
def test_a_killed_write_that_left_no_edit_leaves_nothing(
    ground: Ground, content: str | None
) -> None:
    """Half a file, or the engine's own content: the claim is as it was, and no later stop looks for it."""
    before = ground.claim()
    left(ground)
    if content is not None:
        ground.path.with_name(f"{CLAIM_FILE}.1f{store.OURS}").write_text(content)
    assert ground.look() == ()
    ground.clock.sleep(3)
    assert not ground.claim_store().disk.late.settle()
    assert ground.claim() == before
    assert list(ground.root.glob(f"*{store.OURS}")) == []


def test_a_file_is_kept_for_minutes(ground: Ground) -> None:
    """The guard closes after two seconds, the file stays for ten minutes: a look in between hears it."""
    writer = Writer(ground.path, 0)
    ground.look(**POLL)
    may_come = [ground.claim_store().disk.late.settle()]
    ground.clock.sleep(3)
    may_come.append(ground.claim_store().disk.late.settle())
    assert may_come == [True, False]
    writer.finish(phase="done")
    ground.look()
    assert ground.claim()["phase"] == "done"
    ground.clock.sleep(601)
    ground.claim_store().disk.late.settle()
    assert ground.kept() == []


@pytest.mark.timeout(20)
def test_a_pipe_that_came_in_between_is_put_back_and_not_opened(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody replaced the claim by a pipe right before the exchange: it is refused, not waited for."""
    claim_store, loaded, record = ground.load()
    real = store.replace_if

    def swapped(path: Path, *more: Any) -> bytes | None:
        path.unlink()
        os.mkfifo(path)
        return real(path, *more)

    monkeypatch.setattr(store, "replace_if", swapped)
    with pytest.raises(OSError, match="named pipe"):
        claim_store.commit(record.with_values(POLL), loaded.hints)
    assert ground.path.is_fifo()


PLACES = ("/dev/shm", "/var/tmp")  # noqa: S108 -- on most machines one of them is on another file system


def test_what_cannot_be_kept_is_not_watched_and_fails_nothing(tmp_path: Path) -> None:
    """`.lifecycle/` on another file system takes no file of the worktree: the look goes on without it."""
    here = tmp_path.stat().st_dev
    others = [
        place for place in map(Path, PLACES) if place.is_dir() and place.stat().st_dev != here
    ]
    if not others:
        pytest.skip("needs a second file system")
    elsewhere = Path(tempfile.mkdtemp(dir=others[0]))
    try:
        replaced = TakenOutFiles(elsewhere, ManualClock())
        taken = tmp_path / "taken"
        taken.write_text("{}")
        replaced.keep(taken, b"{}")
        assert taken.exists()
        assert replaced.edits() == {}
    finally:
        shutil.rmtree(elsewhere)
