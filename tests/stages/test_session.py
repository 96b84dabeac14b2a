"""What is kept of each session: whole, apart from every other, and gone when it is old."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.light_dataclass import asdict
from lifecycle.core.stage_names import LINE, Stage
from lifecycle.stages.decisions.decide import Memory
from lifecycle.stages.decisions.instructions import Facts, instruction, question
from lifecycle.stages.session import session_record
from lifecycle.stages.session.session_record import OLD_SECONDS, SessionRecord
from lifecycle.stages.stop import staged_stop
from lifecycle.storage.workflow_files import WorkflowFiles

NOW = 1_795_000_000.0

MEMORIES = st.builds(
    Memory,
    position=st.text(max_size=40),
    blocks=st.integers(0, 60),
    idle=st.integers(0, 9),
    is_let_go=st.booleans(),
    set_stage=st.none() | st.sampled_from(list(Stage)),
    told=st.text(max_size=40),
)
KEPT = st.builds(
    SessionRecord,
    session=st.text(max_size=80),
    memory=MEMORIES,
    task=st.text(max_size=20),
    labels=st.lists(st.text(max_size=9), max_size=3).map(tuple),
    holder=st.text(max_size=9),
    is_set=st.booleans(),
    ended=st.text(max_size=20),
    actor=st.text(max_size=9),
    spelled=st.text(max_size=20),
    stage=st.sampled_from(["", *Stage]).map(str),
    transcript=st.text(max_size=20),
    client=st.integers(0, 99_999),
    at=st.floats(0, 2e9),
)


@given(kept=KEPT)
def test_what_is_read_is_what_was_kept(
    tmp_path_factory: pytest.TempPathFactory, kept: SessionRecord
) -> None:
    """Every field, whatever the client calls its session."""
    shelf = WorkflowFiles(tmp_path_factory.mktemp("tree"))
    with shelf.locked():
        session_record.save(shelf, kept)
    assert session_record.load(shelf, kept.session) == kept
    assert session_record.all_of(shelf) == [kept]
    assert session_record.load(shelf, f"{kept.session}x") is None


@pytest.mark.parametrize(("named", "task"), [("", "42"), ("43", "43")])
def test_a_stage_that_waits_leaves_the_task_if_none_was_named(
    tmp_path: Path, named: str, task: str
) -> None:
    """The session that stops next is at that stage, with the task that it had or that a person named."""
    shelf = WorkflowFiles(tmp_path)
    with shelf.locked():
        session_record.save(shelf, SessionRecord("", Memory(set_stage=Stage.TESTING), named))
    kept = staged_stop._kept(shelf, SessionRecord("s", task="42"))
    assert (kept.memory.set_stage, kept.task) == (Stage.TESTING, task)
    assert kept.is_set is bool(named)


@pytest.mark.parametrize("stage", [None, Stage.TESTING])
def test_a_session_in_mid_task_is_led_on_after_an_upgrade(
    tmp_path: Path, stage: Stage | None
) -> None:
    """An earlier version's record, with the memory's fields beside the others, is read as it was meant."""
    record = SessionRecord("s", Memory("a:b", 3, 1, set_stage=stage), "42", ("auto",), "me", at=NOW)
    own = {**asdict(record), **asdict(record.memory), "set_stage": stage or ""}
    del own["memory"]
    shelf = WorkflowFiles(tmp_path)
    with shelf.locked():
        shelf.path("s.json").write_text(json.dumps(own))
    assert session_record.load(shelf, "s") == record
    assert session_record.all_of(shelf) == [record]


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "7", '{"session": "s"}', '{"session": 7}', '{"session": "s", "blocks": []}'],
)
def test_a_broken_file_is_nothing(tmp_path: Path, content: str) -> None:
    """The session begins anew: its transcript says the rest."""
    shelf = WorkflowFiles(tmp_path)
    with shelf.locked():
        shelf.path("s.json").write_text(content)
        assert session_record.load(shelf, "s") is None
        assert session_record.all_of(shelf) == []
        session_record.save(shelf, SessionRecord("s", at=NOW))
    assert session_record.load(shelf, "s") == SessionRecord("s", at=NOW)


def test_another_session_under_the_same_name_is_not_this_one(tmp_path: Path) -> None:
    """A file says whose it is; one that was copied is nobody's."""
    shelf = WorkflowFiles(tmp_path)
    with shelf.locked():
        session_record.save(shelf, SessionRecord("one", at=NOW))
        shelf.path("two.json").write_bytes(shelf.path("one.json").read_bytes())
    assert session_record.load(shelf, "two") is None


def test_old_sessions_and_what_was_killed_are_swept_away(tmp_path: Path) -> None:
    """A new session takes away what is older than two weeks, and halves of files; the rest stays."""
    shelf = WorkflowFiles(tmp_path)
    with shelf.locked():
        for name in ("old", "young", "runs", "tasks"):
            session_record.save(shelf, SessionRecord(name, at=NOW))
            age = OLD_SECONDS + 60 if name == "old" else 60
            os.utime(shelf.path(f"{name}.json"), (NOW - age, NOW - age))
        shelf.path("young.json.abc.lifecycle.tmp").write_text("half")
        session_record.save(shelf, SessionRecord("new", at=NOW))
    assert {path.name for path in shelf.path("x").parent.iterdir()} == {
        "young.json",
        "runs.json",
        "tasks.json",
        "new.json",
    }


def test_another_task_begins_anew() -> None:
    """The same task keeps what is known of it; another one, or none, begins anew; an end is kept."""
    kept = SessionRecord("s", task="1", labels=("a",), holder="me", is_set=True, actor="me")
    assert kept.on("1", (), "x") == kept
    assert kept.on("1", ("b",), "x").labels == ("b",)
    assert SessionRecord("s", task="1").on("1", (), "x").holder == "x", "taken since"
    other = kept.on("2", ("b",), "you")
    assert (other.task, other.labels, other.holder) == ("2", ("b",), "you")
    assert (other.is_set, other.actor) == (False, "me")
    over = kept.after()
    assert (over.task, over.labels, over.holder, over.is_set) == ("", (), "", False)
    assert (over.ended, over.actor) == ("1", "me")
    assert SessionRecord("s").after().ended == "the task"


@given(line=st.permutations(LINE[:5]).map(lambda p: tuple(p[:3])), stage=st.sampled_from(LINE[1:5]))
def test_the_line_of_stages_is_read_from_the_instruction(
    line: tuple[Stage, ...], stage: Stage
) -> None:
    """As it was told; without an instruction, or with a strange one, it is the whole line."""
    facts = Facts(line=line)
    assert session_record.line_told(instruction(stage, facts, "Done.")) == line
    assert session_record.line_told(question(line)) == line
    assert session_record.line_told("") == LINE
    assert session_record.line_told("WORKFLOW STAGES: CODING → DANCING") == LINE


def test_a_file_is_plain_json_that_a_person_can_read(tmp_path: Path) -> None:
    """One object, with the counts by name."""
    shelf = WorkflowFiles(tmp_path)
    with shelf.locked():
        session_record.save(shelf, SessionRecord("s", memory=Memory(blocks=3), at=NOW))
    assert json.loads(shelf.path("s.json").read_text())["memory"]["blocks"] == 3
