"""What a stop's event and its transcript say together: how often, and how far back, is looked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lifecycle.core.stage_names import Detected, Stage
from lifecycle.stages.decisions import instructions
from lifecycle.stages.detection.detect_stage import is_quiet
from lifecycle.stages.transcript import stop_input
from lifecycle.stages.transcript.turn import ANY_PROJECT
from tests.stages.written import Written

FACTS = instructions.Facts()
REVIEW = instructions.instruction(Stage.REQUIREMENTS_REVIEW, FACTS, "Coding complete.")
READS = Written().calls("Read", file_path="/w/a.py").result("x = 1\n" * 5_000)
"""Thirty thousand bytes of a file."""


def led(instruction: str, megabytes: int) -> Written:
    """A session that was told this, and read so much since."""
    log = Written().feedback(instruction) if instruction else Written().human("Do it.")
    log.lines += READS.lines * (megabytes * 1_000_000 // len(READS.bytes()) + 1)
    return log


def look(log: Written, folder: Path, last: str, told: Stage | None = None) -> tuple[object, ...]:
    """The stage in force, and the state that is found."""
    event = {"transcript_path": log.says(last).at(folder), "last_assistant_message": last}
    turn, found = stop_input.look(event, ANY_PROJECT, (), told)
    return turn.asked, found.state


@pytest.mark.parametrize("megabytes", [0, 3])
def test_a_stage_stays_in_force_however_much_was_read_in_it(tmp_path: Path, megabytes: int) -> None:
    """A green run on the side completes no review; the review's own words do."""
    log = led(REVIEW, megabytes).bash("pytest", "3 passed")
    wanted = (Stage.REQUIREMENTS_REVIEW, Detected.IN_PROGRESS)
    assert look(log, tmp_path, "I have read half of it.") == wanted
    wanted = (Stage.REQUIREMENTS_REVIEW, Detected.REQUIREMENTS_REVIEWED)
    for read in (log, led(REVIEW, megabytes).bash("ls", "x")):
        assert look(read, tmp_path, "The requirements are met.") == wanted


@pytest.mark.parametrize("megabytes", [0, 3])
def test_without_an_instruction_a_long_session_is_in_coding(tmp_path: Path, megabytes: int) -> None:
    """The whole transcript was searched and has none: nothing that is kept says otherwise."""
    log = led("", megabytes).bash("pytest", "3 passed")
    assert look(log, tmp_path, "Half.", Stage.TESTING) == (None, Detected.IN_PROGRESS)
    wanted = (None, Detected.CODING_COMPLETE)
    assert look(log, tmp_path, "The implementation is complete.") == wanted


def test_what_is_kept_counts_where_the_transcript_cannot_tell(tmp_path: Path) -> None:
    """The instruction lies too far back: the stage that the session was told last; else CODING."""
    path = tmp_path / "transcript.jsonl"
    end = READS.bytes() + Written().bash("pytest", "3 passed").says("Half of it is read.").bytes()
    deep = stop_input.DEEP + 2_000_000
    path.write_bytes(
        Written().feedback(REVIEW).bytes() + READS.bytes() * (deep // len(READS.bytes())) + end
    )
    event = {"transcript_path": str(path), "last_assistant_message": ""}
    for told, wanted in (
        (Stage.REQUIREMENTS_REVIEW, Detected.IN_PROGRESS),
        (Stage.TESTING, Detected.TESTS_PASSING),
        (None, Detected.IN_PROGRESS),
    ):
        turn, found = stop_input.look(event, ANY_PROJECT, (), told)
        assert (turn.asked, found.state, turn.is_cut) == (told, wanted, False)
    path.unlink()


def test_a_machine_in_the_middle_of_a_long_stage_needs_no_question(tmp_path: Path) -> None:
    """The instruction is far back, a build ended: the deeper look finds the stage, and nothing is asked."""
    log = led(REVIEW, 3).machine("The build is done.").says("It is done.")
    event = {"transcript_path": log.at(tmp_path), "last_assistant_message": "It is done."}
    turn, found = stop_input.look(event, ANY_PROJECT, (), None)
    assert (turn.asked, found.state) == (Stage.REQUIREMENTS_REVIEW, Detected.UNKNOWN)
    assert is_quiet(turn, found)


def _read_bytes() -> int:
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel counts what is read on Linux only")
def test_an_agent_at_work_costs_no_deeper_look(tmp_path: Path) -> None:
    """Nothing was completed: the end of the transcript is all that is read, once."""
    log = led(REVIEW, 3).says("I go on.")
    event = {"transcript_path": log.at(tmp_path), "last_assistant_message": "I go on."}
    before = _read_bytes()
    _, found = stop_input.look(event, ANY_PROJECT, (), None)
    assert found.state is Detected.IN_PROGRESS
    assert _read_bytes() - before < stop_input.LIMIT + 70_000


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel counts what is read on Linux only")
def test_a_file_that_does_not_grow_is_not_read_again(tmp_path: Path) -> None:
    """The last text never comes: two looks, and five pauses."""
    event = {"transcript_path": led(REVIEW, 3).at(tmp_path), "last_assistant_message": "Never."}
    pauses: list[float] = []
    before = _read_bytes()
    turn = stop_input.turn_of(event, sleep=pauses.append)
    assert _read_bytes() - before < 2 * (stop_input.LIMIT + 70_000)
    assert (len(pauses), turn.texts[-1]) == (stop_input.TRIES, "Never.")
