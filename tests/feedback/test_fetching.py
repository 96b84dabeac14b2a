"""Fetching: what is kept, what is read again, what a slow GitHub costs, and how much memory a log."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.timing import Deadline
from lifecycle.feedback.checks.fetching import fetch
from lifecycle.feedback.checks.log_lines import BEGIN, END, KeptLog
from lifecycle.feedback.checks.packet import TOO_LATE, FailurePacket
from lifecycle.sandbox.checks.state import Step
from lifecycle.sandbox.control.faults import Fault
from lifecycle.storage import feedback_files
from lifecycle.storage.state_file import MemoryCache
from tests.conftest import BRANCH, Place
from tests.repeated import soaked

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def fetched(place: Place, number: int, seconds: float | None = None) -> FailurePacket:
    """A packet; the deadline never comes, so that what ends a fetch is its alarm."""
    deadline = Deadline.after(place.clock, 30)
    world = WorktreeWorld(place.root, place.environment, place.clock, deadline, MemoryCache())
    try:
        return fetch(world, number, seconds)
    finally:
        world.close()


@pytest.fixture
def pull(place: Place) -> int:
    """An open pull request of which two checks failed."""
    place.work()
    number = place.control.open_pull(BRANCH, "Work")
    place.control.set_check(number, "a", conclusion="failure", log=f"Error: a {SECRET}\n")
    place.control.set_check(number, "b", conclusion="failure", log="Error: b\n")
    return number


def kept(place: Place) -> dict[str, str]:
    """The files of feedback."""
    folder = place.root / ".lifecycle" / "feedback"
    return {one.name: one.read_text("utf-8") for one in folder.iterdir()}


def test_no_secret_lies_in_what_is_kept(place: Place, pull: int) -> None:
    """Neither in the packet nor in the log beside it."""
    found = fetched(place, pull)
    files = kept(place)
    assert len(files) == 5  # a packet, and for each log itself and its excerpt
    assert SECRET not in "".join(files.values())
    assert files[found.path.rpartition("/")[2]] == "\n".join(found.as_lines()) + "\n"


def test_a_log_that_never_ends_costs_its_own_time_alone(place: Place, pull: int) -> None:
    """The packet goes out without that log, and says so; what was read before is in it."""
    assert fetched(place, pull).failures[1].first_error == "Error: b"
    place.control.set_check(pull, "b", conclusion="failure", log="Error: c\n", rerun=True)
    place.control.add_fault(Fault("trickle", path="^/_downloads/", seconds=0.05))
    a, b = fetched(place, pull, seconds=1.2).failures
    assert (a.first_error, a.problem) == ("Error: a ***", "")
    assert (b.first_error, b.problem) == ("", TOO_LATE)
    assert fetched(place, pull).failures[1].first_error == "Error: c"


def test_what_does_not_fit_the_steps_moments_is_read_by_itself(place: Place, pull: int) -> None:
    """A runner whose clock was wrong: the log is not taken for an empty one."""
    moment = datetime.now(UTC)
    log = "2020-01-31T10:00:03.0000000Z Error: long ago\n"
    steps = [Step(1, "Run tests", "failure", moment, moment)]
    place.control.set_check(pull, "a", conclusion="failure", log=log, steps=steps)
    assert fetched(place, pull).failures[0].first_error == "Error: long ago"


def test_what_was_kept_and_is_damaged_is_read_again(place: Place, pull: int) -> None:
    """A file that is no excerpt is none."""
    before = fetched(place, pull)
    for one in (place.root / ".lifecycle" / "feedback").glob("*.json"):
        one.write_text('{"lines": 3}')
    place.clear()
    assert fetched(place, pull) == before
    assert sum(one.path.endswith("/logs") for one in place.requests()) == 2


def test_the_oldest_files_make_room(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """By number and by size; what was just written stays."""
    monkeypatch.setattr(feedback_files, "MOST_FILES", 3)
    folder = feedback_files.folder_of(place.root)
    for n in range(6):
        feedback_files.write(place.root, f"{n}.log", "x")
        folder.mark(f"{n}.log", n * 1_000_000_000)
    assert sorted(kept(place)) == ["3.log", "4.log", "5.log"]
    monkeypatch.setattr(feedback_files, "MOST_BYTES", 10)
    feedback_files.write(place.root, "6.log", "x" * 50)
    assert sorted(kept(place)) == ["6.log"]
    folder.clear()
    assert kept(place) == {}


def test_a_folder_that_is_a_link_is_not_written_to(place: Place) -> None:
    """What a repository brings is no folder of ours."""
    (place.root / ".lifecycle").mkdir()
    there = place.root / "elsewhere"
    there.mkdir()
    (place.root / ".lifecycle" / "feedback").symlink_to(there)
    with pytest.raises(OSError, match="is a link"):
        feedback_files.write(place.root, "1.log", "x")
    assert [*there.iterdir()] == []


def test_a_long_log_keeps_its_begin_and_its_end() -> None:
    """What is left out is counted, and what is kept is bounded."""
    log = KeptLog()
    size = (BEGIN + END) // 100 * 3
    assert sum(1 for _ in log.through(f"{n:099}" for n in range(size))) == size
    lines = log.lines
    assert int(lines[0]) == 0
    assert int(lines[-1]) == size - 1
    (gap,) = [line for line in lines if line.startswith("…")]
    assert gap == f"… {size - len(lines) + 1:,} lines left out …"
    assert len(log.text) <= BEGIN + END + 100


READ = """
import resource, sys
from lifecycle.feedback.checks.excerpt import excerpt
from lifecycle.feedback.checks.log_lines import KeptLog

def lines(size):
    for n in range(size * 1_000_000 // 100):
        yield f"2026-01-31T10:00:00.0000000Z {n:070}"
    yield "2026-01-31T10:00:59.0000000Z E       assert 13 == 12"

def most(size):
    log = KeptLog()
    found = excerpt(log.through(lines(size)))
    assert found.first_error == "E       assert 13 == 12" and len(log.text) < 2_100_000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

print(most(2), most(int(sys.argv[1])))
"""


@pytest.mark.parametrize("size", [4, soaked(64, id="64")])
def test_a_large_log_costs_no_more_memory_than_a_small_one(size: int) -> None:
    """What is held is a window and what is kept, however many megabytes go by."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(size)], capture_output=True, text=True, check=True
    )
    small, large = map(int, done.stdout.split())
    assert small > 0
    assert large < small * 1.05


def test_a_log_that_is_not_there_yet_is_asked_for_once_more(place: Place, pull: int) -> None:
    """GitHub answers 404 for a moment after a job's end; for one that ended long ago that is the answer."""
    ended = datetime.fromtimestamp(place.clock.now(), UTC)
    steps = [Step(1, "Run tests", "failure", ended, ended)]
    late = "Error: late\n"
    place.control.set_check(pull, "a", conclusion="failure", log=late, steps=steps, rerun=True)
    missing = Fault("status", status=404, path="/logs$")
    place.control.add_fault(missing)
    assert fetched(place, pull).failures[0].first_error == "Error: late"

    place.control.set_check(pull, "a", conclusion="failure", log=late, steps=steps, rerun=True)
    place.clock.sleep(120)
    place.control.add_fault(missing)
    assert fetched(place, pull).failures[0].problem
