"""Transcripts that are huge, broken, foreign or in the middle of being written."""

from __future__ import annotations

import json
import os
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.stage_names import Detected, Stage
from lifecycle.stages.decisions import instructions
from lifecycle.stages.detection.detect_stage import detect
from lifecycle.stages.transcript import stop_input
from lifecycle.stages.transcript.file_tail import LINE, LONGEST
from lifecycle.stages.transcript.turn import ANY_PROJECT, Prompt, ToolCall, Turn
from tests.stages.written import Written

CODED = "Done.\n\n::: WORKFLOW_STAGE: CODING_COMPLETE :::"
TESTING = instructions.instruction(
    Stage.TESTING, instructions.Facts(), "Requirements review complete."
)


def read(written: Written, folder: Path, last_message: str = "", **how: Any) -> Turn:
    """The turn at the end of the file."""
    return stop_input.read(written.at(folder), last_message, **how)


@pytest.mark.parametrize("make", ["missing", "folder", "fifo", "nothing", "nul", "secret"])
def test_what_cannot_be_read_gives_nothing(tmp_path: Path, make: str) -> None:
    """No file, a folder, a pipe that nobody writes to, an empty or impossible name: an empty turn."""
    path = tmp_path / "transcript.jsonl"
    if make == "folder":
        path.mkdir()
    if make == "fifo":
        os.mkfifo(path)
    if make == "secret":
        path.symlink_to(path)
    name = {"nothing": "", "nul": "a\0b"}.get(make, str(path))
    turn = stop_input.read(name, CODED)
    assert (turn.is_there, turn.steps, turn.asked) == (False, (), None)


def test_what_is_no_transcript_gives_nothing_and_an_empty_one_the_message(tmp_path: Path) -> None:
    """A corrupt file is not guessed at; a file of a session that just began is read with the message."""
    for content in (
        b"\x00\xff\xfe" * 900,
        b"not json\nnot json\n",
        b"[1]\n2\n",
        b'{"a":1}\n',
        b"{",
    ):
        assert not read(Written().raw(content), tmp_path, CODED).is_there
    assert read(Written(), tmp_path, CODED).says is Detected.CODING_COMPLETE


def test_single_bad_lines_are_passed_over(tmp_path: Path) -> None:
    """Torn, binary, deep, empty and misshapen lines hide nothing before them."""
    log = Written().feedback(TESTING).says("good")
    log.raw(b"\xff\xfe\x00").raw(b"").raw(b"[" * 100_000).raw(b'"text"').raw(b"12").raw(b"null")
    for entry in (
        {"type": "user"},
        {"type": "user", "message": 3},
        {"type": "user", "message": {"content": [1, None, {"type": "text", "text": 5}]}},
        {
            "type": "assistant",
            "message": {"content": [{"type": "tool_use", "name": 4}, {"type": 3}]},
        },
        {
            "type": "assistant",
            "message": {"content": [{"type": "tool_use", "name": "Bash", "input": 3}]},
        },
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": 3}},
        {"type": "attachment", "attachment": "x"},
        {"type": 3},
    ):
        log.raw(json.dumps(entry).encode())
    log.raw(b'{"type":"assistant","message":{"content":[{"type":"te')
    turn = read(log, tmp_path)
    assert (turn.asked, turn.texts) == (Stage.TESTING, ("good",))
    whole = Written().feedback(TESTING).says("caf\u00e9 \u2028 \U0001f600")
    assert read(whole, tmp_path).texts == ("caf\u00e9 \u2028 \U0001f600",)


def test_a_line_of_thirty_megabytes_hides_nothing_before_it(tmp_path: Path) -> None:
    """It is passed over, wherever it stands; the message of the event is there in any case."""
    log = Written().feedback(TESTING).says("before")
    log.raw(b'{"type":"user","message":{"content":"' + b"x" * 30_000_000 + b'"}}')
    turn = read(log, tmp_path, "after")
    assert (turn.asked, turn.texts) == (Stage.TESTING, ("before", "after"))
    assert read(log.says(CODED), tmp_path).says is Detected.CODING_COMPLETE
    huge = Written().raw(b'{"type":"user","message":{"content":"' + b"x" * (LINE + 9) + b'"}}')
    assert read(huge, tmp_path, CODED).says is Detected.CODING_COMPLETE


def _read_bytes() -> int:
    """Bytes that this process has asked the kernel to read."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel counts what is read on Linux only")
def test_two_hundred_megabytes_cost_what_a_small_file_costs(tmp_path: Path) -> None:
    """The bytes that are read do not grow with the file, also where the deeper look finds nothing."""
    end = Written().feedback(TESTING).bash("pytest", "1 passed").says(CODED).bytes()
    old = Written().human("x").says("y" * 9_000).bash("ls", "z" * 9_000).bytes()
    small, large, foreign = (tmp_path / name for name in ("small", "large", "foreign"))
    small.write_bytes(old * 60 + end)
    large.write_bytes(old * (200_000_000 // len(old)) + end)
    foreign.write_bytes(old * (60_000_000 // len(old)))
    costs = {}
    for path in (small, large, foreign):
        before = _read_bytes()
        stop_input.read(str(path), deep=stop_input.DEEP)
        costs[path.name] = _read_bytes() - before
    for path in (small, large, foreign):
        path.unlink()
    assert abs(costs["large"] - costs["small"]) < 70_000
    assert costs["large"] < 200_000
    assert costs["foreign"] < stop_input.LIMIT + stop_input.DEEP * 1.1


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel counts what is read on Linux only")
def test_three_megabytes_of_work_behind_the_instruction_are_searched_once(tmp_path: Path) -> None:
    """Whatever lies before: without the deeper look the limit is read, with it what lies between."""
    work = Written().calls("Read", file_path="/w/a.py").result("x = 1\n" * 5_000).bytes()
    begun = Written().feedback(TESTING).bytes()
    end = work * (3_000_000 // len(work)) + Written().says("I go on.").bytes()
    old = Written().human("x").says("y" * 9_000).bash("ls", "z" * 9_000).bytes()
    path = tmp_path / "large"
    path.write_bytes(old * (200_000_000 // len(old)) + begun + end)
    before = _read_bytes()
    assert stop_input.read(str(path)).is_cut
    shallow = _read_bytes() - before
    turn = stop_input.read(str(path), deep=stop_input.DEEP)
    deep = _read_bytes() - before - shallow
    path.unlink()
    assert (turn.asked, turn.is_cut, turn.has_worked) == (Stage.TESTING, False, True)
    assert shallow < stop_input.LIMIT + 70_000
    assert deep < shallow + 4_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel counts what is read on Linux only")
def test_a_line_without_end_is_given_up(tmp_path: Path) -> None:
    """A file of one endless line costs a bounded look, and the bytes of it are not kept."""
    path = tmp_path / "endless"
    path.touch()
    os.truncate(path, 400_000_000)
    before = _read_bytes()
    tracemalloc.start()
    assert not stop_input.read(str(path), CODED, deep=stop_input.DEEP).is_there
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert _read_bytes() - before < LONGEST + stop_input.DEEP * 1.1
    assert peak < 8_000_000


def test_the_deeper_look_finds_what_lies_further_back(tmp_path: Path) -> None:
    """The last instruction or marker, past lines that only quote one; nothing without the look."""
    quote = Written().human("x").bash("cat", f"{TESTING} ::: WORKFLOW_STAGE: TESTS_PASSING :::")
    filler = Written().says("y" * 50_000)
    log = Written().feedback(TESTING)
    log.lines += filler.lines * 20 + quote.lines + filler.lines * 60
    turn = read(log, tmp_path)
    assert (turn.asked, turn.kind) == (None, Prompt.NONE)
    turn = read(log, tmp_path, deep=stop_input.DEEP)
    assert (turn.asked, turn.texts[-1]) == (Stage.TESTING, "y" * 50_000)
    assert read(log, tmp_path, deep=100_000).asked is None
    marked = Written().says(CODED)
    marked.lines += filler.lines * 60
    assert read(marked, tmp_path, deep=stop_input.DEEP).markers == (Detected.CODING_COMPLETE,)


def test_the_deeper_look_finds_the_instruction_behind_a_question(tmp_path: Path) -> None:
    """The question and the markers since are found as well; what a person said in between is not."""
    log = Written().feedback(TESTING).says(CODED).feedback(instructions.question())
    filler = Written().says("y" * 50_000)
    log.lines += filler.lines * 60
    turn = read(log, tmp_path, deep=stop_input.DEEP)
    assert (turn.asked, turn.is_question, turn.markers) == (Stage.TESTING, True, ())
    log.feedback(instructions.question())
    log.lines += filler.lines
    turn = read(log, tmp_path, deep=stop_input.DEEP)
    assert (turn.asked, turn.is_question, turn.is_cut) == (Stage.TESTING, True, False)


def test_the_deeper_look_finds_what_took_a_task_up(tmp_path: Path) -> None:
    """A claim, a start that was typed and the project's own start: named, and no steps of this turn."""
    typed = "<command-message>x</command-message>\n<command-name>/bd-start</command-name>"
    log = Written().human(f"{typed}\n<command-args>bd-1</command-args>")
    log.bash("bd update bd-2 --claim").bash("cd x && make begin ID=bd-3").bash(
        "cat a", "claim bd-4"
    )
    log.lines += Written().says("y" * 50_000).lines * 60
    turn = read(log, tmp_path, deep=stop_input.DEEP, starts=("make begin ID={id}",))
    assert turn.named == ("/bd-start bd-1", "bd update bd-2 --claim", "cd x && make begin ID=bd-3")
    assert [call.text for call in turn.calls if call.tool] == []
    assert read(log, tmp_path).named == ()


def test_what_took_the_task_up_stays_named_over_many_commands(tmp_path: Path) -> None:
    """Of all that a long turn did only the last commands are kept, but every claim."""
    log = Written().human("/bd-start bd-1").bash("bd update bd-1 --claim")
    for number in range(stop_input.NAMED + 50):
        log.bash(f"ls {number}")
    named = read(log, tmp_path).named
    assert named[:2] == ("/bd-start bd-1", "bd update bd-1 --claim")
    assert len(named) == stop_input.NAMED + 2


def test_a_whole_transcript_is_not_cut(tmp_path: Path) -> None:
    """Read to its beginning it is known to have no instruction; else only the deeper look tells."""
    assert not read(Written().human("x").says("y"), tmp_path).is_cut
    log = Written().human("x")
    log.lines += Written().says("y" * 50_000).lines * 60
    assert read(log, tmp_path).is_cut
    assert not read(log, tmp_path, deep=stop_input.DEEP).is_cut
    assert read(log, tmp_path, deep=100_000).is_cut


def test_a_file_that_grows_or_shrinks_meanwhile_is_read(tmp_path: Path) -> None:
    """The client writes while the hook reads: there is always an answer."""
    path = Path(Written().feedback(TESTING).says("x" * 100_000).says(CODED).at(tmp_path))
    content = path.read_bytes()
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            path.write_bytes(content * 3)
            path.write_bytes(content[:70_000])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(200):
            assert isinstance(stop_input.read(str(path), CODED), Turn)
    finally:
        is_over.set()
        writer.join()


@given(st.binary(), st.text())
def test_any_bytes_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, last_message: str
) -> None:
    """No content breaks the reading."""
    path = tmp_path_factory.getbasetemp() / "bytes.jsonl"
    path.write_bytes(content)
    turn = stop_input.read(str(path), last_message, deep=1000)
    assert turn.is_there or not turn.steps


ENTRIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "message",
                    "content",
                    "text",
                    "name",
                    "input",
                    "id",
                    "attachment",
                    "isMeta",
                    "command",
                ]
            ),
            inner
            | st.sampled_from(
                ["user", "assistant", "attachment", "tool_use", "tool_result", "text"]
            ),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.lists(ENTRIES, max_size=4))
def test_any_json_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, entries: list[object]
) -> None:
    """No shape of a line breaks the reading, or changes what the turn that begins behind it is."""
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    turn = stop_input.read(str(path))
    assert isinstance(turn, Turn)
    assert detect(turn, ANY_PROJECT).state in Detected
    after = Written().human("Do it.").says("One moment.").bash("ls", "code.py")
    with path.open("ab") as file:
        file.writelines(line + b"\n" for line in after.lines)
    words, call = stop_input.read(str(path)).steps
    assert words == "One moment."
    assert isinstance(call, ToolCall)
    assert (call.tool, call.text) == ("Bash", "ls")
