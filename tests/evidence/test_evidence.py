"""Test runs that were seen, and what they say of the tree as it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.evidence.outcomes import Counts, Outcome, Reading
from lifecycle.evidence.records import (
    KEPT,
    OUTPUTS,
    RECORDS,
    VERSION,
    Evidence,
    EvidenceRoom,
    RunRecord,
    record_of,
    standing,
)
from lifecycle.stages.session import background_run
from lifecycle.stages.session.background_run import BEGUN, OVER, PATIENCE
from tests.batches import each_row


def runs(*said: str) -> tuple[RunRecord, ...]:
    """Runs as `green@tree`, one second apart."""
    found = []
    for number, text in enumerate(said):
        outcome, _, tree = text.partition("@")
        found.append(RunRecord(float(number), "pytest", Outcome(outcome), tree, str(number)))
    return tuple(found)


@each_row(
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


@each_row(
    ("said", "expected"),
    [
        ([], Evidence.MISSING),
        (["passed@now make unit"], Evidence.OTHER),
        (["passed@now make unit", "passed@now make api"], Evidence.GREEN),
        (["passed@now make unit", "failed@now make api"], Evidence.RED),
        (["failed@now make api", "passed@now make unit"], Evidence.RED),
        (["failed@now make api", "passed@now make unit make api"], Evidence.GREEN),
        (["failed@now make api", "passed@now"], Evidence.RED),
        (["failed@now", "passed@now make unit"], Evidence.RED),
        (["passed@now make unit make api", "passed@old make unit"], Evidence.GREEN),
        (["passed@now"], Evidence.OTHER),
        (["passed@old make api", "passed@now make unit"], Evidence.CHANGED),
        (["passed@now make unit make api"], Evidence.GREEN),
    ],
)
def test_of_several_commands_each_has_to_pass(said: list[str], expected: Evidence) -> None:
    """A green run of one, or of none of them, says nothing of another, and takes no red one away."""
    suites = ("make unit", "make api")
    records = [
        replace(
            run,
            suites=tuple(suite for suite in suites if suite in text),
        )
        for text, run in zip(said, runs(*(text.split()[0] for text in said)), strict=True)
    ]
    assert standing(tuple(records), "now", suites=suites) is expected
    assert standing(tuple(records), "now", suites=suites[:1]) is standing(tuple(records), "now")


def test_without_a_tree_nothing_is_proven() -> None:
    """A tree that git cannot name is no tree on which a run was seen."""
    assert standing(runs("passed@"), "") is Evidence.CHANGED


def test_runs_are_kept_in_bounds_once_each_and_without_secrets(tmp_path: Path) -> None:
    """The newest ones; a second copy of one event is none; a token in any field is stars."""
    room = EvidenceRoom(tmp_path)
    for run in runs(*["passed@now"] * (KEPT + 3)):
        assert room.add(run)
    secret = "pytest --token ghp_abcdefghijklmnopqrst0123\n" + "x" * 900
    words = (("pytest", "--token=ghp_abcdefghijklmnopqrst0123", "https://me:hunter2@a.example/x"),)
    last = RunRecord(99.0, secret, Outcome.FAILED, "now", "one", why=secret, commands=words)
    assert room.add(last)
    assert not room.add(last)
    kept = room.records()
    assert len(kept) == KEPT
    assert kept[-1].command.startswith("pytest --token *** x")
    assert len(kept[-1].command) <= 200
    assert kept[-1].commands == (("pytest", "--token=***", "https://***@a.example/x"),)
    text = (room.folder.path / RECORDS).read_text()
    assert "ghp_" not in text
    assert "hunter2" not in text
    assert (room.folder.path / RECORDS).stat().st_size < 20_000


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"{}", b"7", b'[{"at": 1}]', b"[7]", b"\xff"),
        *(b'{"version": 1, "records": 7}', b'{"version": 1, "records": [{"at": 1}], "outputs": 7}'),
    ],
)
def test_a_broken_file_is_no_evidence(tmp_path: Path, content: bytes) -> None:
    """It is learned again with the next run."""
    room = EvidenceRoom(tmp_path)
    room.folder.make()
    (room.folder.path / RECORDS).write_bytes(content)
    assert room.records() == ()
    assert room.outputs() == {}
    assert room.add(runs("passed@now")[0])
    assert standing(room.records(), "now") is Evidence.GREEN


def test_a_record_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    """Every field of it, and beside it what it left; of a file the last word counts."""
    whole = RunRecord(
        *(9.0, "make test", Outcome.FAILED, "tree", "one", "test", "test", "2 failed"),
        commands=(("make", "test"), ("tox",)),
        folder="/here",
        status=2,
        started=3.0,
        tree_before="before",
        tree_after="after",
        changed=("a.py",),
        made=("coverage.xml",),
        counts=Counts(3, 2, 1),
        failures=("t.py::test_a",),
        log=".lifecycle/checks/a.log",
        tail="2 failed",
        session="s",
    )
    room = EvidenceRoom(tmp_path)
    assert room.add(whole, {"coverage.xml": "1", "junit.xml": "2"})
    (back,) = room.records()
    assert back.counts is not None
    assert (back.counts.passed, back.counts.failed, back.counts.total) == (3, 2, 6)
    assert replace(back, counts=None) == replace(whole, counts=None)
    assert room.add(replace(whole, id="two"), {"coverage.xml": "3"})
    assert room.outputs() == {"coverage.xml": "3", "junit.xml": "2"}


def test_every_field_of_a_record_is_kept_and_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    """The file says only what differs from nothing; an entry without a field reads as that nothing."""
    room, bare = EvidenceRoom(tmp_path), RunRecord(1.5, "make", Outcome.PASSED, "tree")
    assert bare.data == {"at": 1.5, "command": "make", "outcome": "passed", "tree": "tree"}
    whole = replace(
        bare,
        id="one",
        asserted=("a",),
        passed=("b",),
        percent=0.0,
        files=(("a.py", "1f"), ("b.py", "2f")),
        status=0,
    )
    assert whole.data | {"files": 0, "asserted": 0, "passed": 0} == bare.data | {
        "id": "one",
        "percent": 0.0,
        "status": 0,
        "files": 0,
        "asserted": 0,
        "passed": 0,
    }
    assert room.add(bare)
    assert room.add(whole)
    assert room.add(replace(whole, id="", asserted=()))
    assert room.records() == (bare, whole, replace(whole, id="", asserted=()))


def test_what_checks_left_is_kept_in_bounds(tmp_path: Path) -> None:
    """The newest files; what stands in their place and is no list of files is learned again."""
    room, run = EvidenceRoom(tmp_path), RunRecord(1.0, "make", Outcome.PASSED, "tree")
    many = {f"f{number}": "1" for number in range(OUTPUTS + 2)}
    assert room.add(run, many)
    assert room.outputs() == dict([*many.items()][2:])
    data = json.loads((room.folder.path / RECORDS).read_text())
    assert (data["version"], len(data["records"])) == (VERSION, 1)
    for version, outputs in ((VERSION, ["a"]), (VERSION + 1, {"a": "1"})):
        text = json.dumps({**data, "version": version, "outputs": outputs})
        (room.folder.path / RECORDS).write_text(text)
        assert room.outputs() == {}
        assert len(room.records()) == (version == VERSION)
        assert room.add(run, {"b": "2"})
        assert room.outputs() == {"b": "2"}


def test_a_reading_becomes_a_record() -> None:
    """With all that was read, beside what is known of the run."""
    counts = Counts(1, 2)
    reading = Reading(Outcome.FAILED, counts, ("a", "b"), "why", ("a",))
    run = RunRecord(1.0, "make", Outcome.UNKNOWN, "tree", why="before")
    found = record_of(reading, run)
    assert found == replace(
        run, outcome=Outcome.FAILED, counts=counts, failures=("a", "b"), asserted=("a",)
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["nothing_ran@now"], Evidence.NOTHING),
        (["failed@now", "partial@now"], Evidence.PARTIAL),
        (["passed@now", "nothing_ran@now", "unknown@now"], Evidence.GREEN),
        (["passed@now", "failed@now", "nothing_ran@now"], Evidence.NOTHING),
    ],
)
def test_what_says_nothing_takes_nothing_back(said: list[str], expected: Evidence) -> None:
    """Green stays green behind a run that shows nothing; red is asked again."""
    assert standing(runs(*said), "now") is expected


def test_only_a_whole_run_that_changed_nothing_is_evidence() -> None:
    """One of a part, or one that changed files itself, is said as what it is; another kind is none."""
    part = RunRecord(1.0, "pytest", Outcome.PARTIAL, "now")
    spoiled = RunRecord(2.0, "pytest", Outcome.PASSED, "", changed=("a.py",))
    lint = RunRecord(3.0, "ruff check", Outcome.PASSED, "now", kind="lint")
    assert standing((part, lint), "now") is Evidence.PARTIAL
    assert standing((part, spoiled, lint), "now") is Evidence.SPOILED
    assert standing((lint,), "now") is Evidence.MISSING
    assert standing((lint, part), "now", "lint") is Evidence.GREEN


def begun(task: str, at: float = 100.0) -> RunRecord:
    """A run in the background."""
    return RunRecord(at, "pytest", Outcome.UNKNOWN, "tree", f"{BEGUN}{task}", line="pytest")


def test_a_run_in_the_background_is_waited_for_until_its_end_is_told(tmp_path: Path) -> None:
    """Each by itself, in the order in which they began; a second copy of an event is no second run."""
    room = EvidenceRoom(tmp_path)
    for run in (begun("b1"), begun("b2", 200.0), begun("b1")):
        room.add(run)
    assert background_run.awaited(tmp_path, 200.0) == [begun("b1"), begun("b2", 200.0)]
    room.add(replace(begun("b1", 300.0), id=f"{OVER}b1"))
    assert background_run.awaited(tmp_path, 300.0) == [begun("b2", 200.0)]


def test_an_end_that_never_comes_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    """After some hours it is forgotten, whoever asks; and a broken file is nothing that is waited for."""
    room = EvidenceRoom(tmp_path)
    room.add(begun("b1"))
    room.add(begun("b2", 200.0 + PATIENCE))
    waiting = background_run.awaited(tmp_path, 200.0 + PATIENCE)
    assert waiting == [begun("b2", 200.0 + PATIENCE)]
    assert background_run.awaited(tmp_path, 300.0 + 2 * PATIENCE) == []
    for content in (b"{", b"[7]", b'[{"at": 1}]', b"{}"):
        (room.folder.path / "records.json").write_bytes(content)
        assert background_run.awaited(tmp_path, 200.0) == []
