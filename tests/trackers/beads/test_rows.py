"""bd's issues as tasks."""

from __future__ import annotations

import json

import pytest

from lifecycle.core.errors import AlreadyClaimed, ProtocolError, Rejected
from lifecycle.core.timing import parse_time
from lifecycle.core.tracker import Note, Task, TaskStatus
from lifecycle.trackers.beads.bd_decode import IssueRow, failure, note_of, row_of, unknown
from tests.trackers.beads import simulated


@pytest.mark.parametrize("profile", simulated.PROFILES)
def test_a_recorded_issue_is_a_task(profile: str) -> None:
    """Texts, labels, priority and open blockers, from each build."""
    lines = (simulated.RECORDED / f"{profile}.jsonl").read_text().splitlines()
    steps = {step["name"]: step for step in map(json.loads, lines)}
    first, second = (row_of(raw) for raw in json.loads(steps["show_two"]["stdout"]))
    assert first.task.description == 'Line1\nLine2 "quoted" ünïcode'
    assert first.task.labels == ("auto-workflow", "backend")
    assert (first.task.priority, first.task.status) == (1, TaskStatus.OPEN)
    assert second.task.blocked_by == (first.task.id,)
    assert second.blockers == (first.task.id,)
    (closed,) = (row_of(raw).task for raw in json.loads(steps["show_closed"]["stdout"]))
    assert (closed.close_reason, closed.assignee) == ("again", "agent-1")
    assert closed.closed_at
    assert closed.created_at
    assert closed.closed_at > closed.created_at


@pytest.mark.parametrize("profile", simulated.PROFILES)
def test_the_most_urgent_is_told_by_all(profile: str) -> None:
    """The oldest build leaves a priority of 0 out."""
    lines = (simulated.RECORDED / f"{profile}.jsonl").read_text().splitlines()
    (made,) = (step for step in map(json.loads, lines) if step["name"] == "create3")
    assert row_of(json.loads(made["stdout"])).task.priority == 0


def test_a_closed_blocker_blocks_nothing() -> None:
    """`show` names it still, and a list names the edge alone."""
    edge = {"id": "a-2", "status": "closed", "dependency_type": "blocks"}
    parent = {"id": "a-3", "status": "open", "dependency_type": "parent-child"}
    row = row_of({"id": "a-1", "dependencies": [edge, parent]})
    assert row.task.blocked_by == ()
    assert row.blockers == ("a-2",)
    listed = row_of({"id": "a-1", "dependencies": [{"depends_on_id": "a-2", "type": "blocks"}]})
    assert (listed.task.blocked_by, listed.blockers) == ((), ("a-2",))


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("deferred", TaskStatus.DEFERRED),
        ("blocked", TaskStatus.BLOCKED),
        ("hooked", TaskStatus.OTHER),
    ],
)
def test_a_status_keeps_its_own_word(word: str, status: TaskStatus) -> None:
    """One that nobody knows is OTHER, and its word is kept."""
    task = row_of({"id": "a-1", "status": word}).task
    assert (task.status, task.raw_status) == (status, word)


def test_moments_have_up_to_nine_digits() -> None:
    """Nanoseconds, whole seconds, other zones, and what is none."""
    assert parse_time("2026-11-20T12:42:08Z") == 1795178528.0
    assert parse_time("2026-11-20T12:42:08.725691480Z") == pytest.approx(
        1795178528.72569148, rel=0, abs=1e-6
    )
    assert parse_time("2026-11-20T13:42:08+01:00") == 1795178528.0
    assert parse_time(None) is None
    assert parse_time("soon") is None


def test_the_hidden_line_is_no_text() -> None:
    """It is taken off the end of a text, and only there."""
    mark = "<!-- lifecycle:a/1 -->"
    row = row_of({"id": "a-1", "description": f"About {mark} it\n\n{mark}"})
    assert (row.task.description, row.mark) == (f"About {mark} it", mark)
    note, found = note_of({"id": 1, "author": "a", "text": mark})
    assert (note.id, note.text, found) == ("1", "", mark)


@pytest.mark.parametrize("raw", [None, [], "a-1", {}, {"id": 3}, {"id": ""}])
def test_what_is_no_issue_is_refused(raw: object) -> None:
    """One sentence, no traceback."""
    with pytest.raises(ProtocolError, match="something that is not a task"):
        row_of(raw)
    with pytest.raises(ProtocolError):
        note_of(raw if not isinstance(raw, dict) else {})


def test_a_text_of_empty_lines_is_read_once() -> None:
    """A task's text of many line breaks holds nothing up: else this ends by its time."""
    text = "\n" * 200_000 + "x"
    assert row_of({"id": "b-1", "title": "t", "description": text}).task.description == text


@pytest.mark.parametrize(
    ("kind", "waits"),
    [
        *(("blocks", True), ("conditional-blocks", True), ("waits-for", True)),
        *(("parent-child", False), ("related", False), ("discovered-from", False), (None, False)),
    ],
)
def test_which_edges_a_task_waits_for(kind: str | None, *, waits: bool) -> None:
    """bd has three that block, in `show` and in a list; the others only tell of each other."""
    shown = {"id": "a-2", "status": "open", "dependency_type": kind}
    row = row_of({"id": "a-1", "dependencies": [shown]})
    assert (row.task.blocked_by, row.blockers) == (("a-2",) * waits, ("a-2",) * waits)
    listed = row_of({"id": "a-1", "dependencies": [{"depends_on_id": "a-2", "type": kind}]})
    assert listed.blockers == ("a-2",) * waits


@pytest.mark.parametrize("begin", ["", "Error: ", "Error claiming a-1: "])
@pytest.mark.parametrize("before", ["", "Warning: no daemon\n"])
def test_a_known_error_is_known_by_the_line_that_begins_with_it(before: str, begin: str) -> None:
    """With and without the word before it, and behind lines that say something else."""
    error = failure(f"{before}{begin}already claimed by bob", "update")
    assert isinstance(error, AlreadyClaimed)
    assert error.by == "bob"
    assert isinstance(failure(f"{before}it was already claimed by bob", "update"), Rejected)


@pytest.mark.parametrize(("name", "named"), [("", "such task"), ("a-1", "task 'a-1'")])
def test_a_task_that_is_not_there_is_named_if_it_is_known(name: str, named: str) -> None:
    """Not every build of bd names it."""
    begin = f"bd knows no {named}, so nothing was done; "
    assert unknown(name).sentence == f"{begin}lifecycle tracker list shows all tasks."


def test_a_note_without_a_mark_is_all_text() -> None:
    """Only the hidden last line is taken off."""
    mark = "<!-- lifecycle:note id=1 -->"
    raw = {"id": 3, "author": "maria", "created_at": "2026-01-31T10:00:00Z"}
    note, none = note_of({**raw, "text": "Hello"})
    assert (note.text, none) == ("Hello", "")
    signed, kept = note_of({**raw, "text": f"Hello\n\n{mark}\n"})
    assert (signed.text, kept) == ("Hello", mark)
    _, amid = note_of({**raw, "text": f"{mark}\nHello"})
    assert amid == ""


def test_every_field_of_an_issue_is_one_of_the_task() -> None:
    """And what is not there, or is of another kind, is empty: a task is open unless bd says otherwise."""
    mark = "<!-- lifecycle:a/1 -->"
    edges = [
        "a-9",
        {"id": "a 2/3", "status": "open", "dependency_type": "blocks"},
        {"status": "open", "dependency_type": "blocks"},
        {"depends_on_id": "a-4", "type": "waits-for"},
    ]
    raw = {
        "id": "a-1",
        "title": "Add",
        "description": f"All of it\n\n{mark}",
        "status": "closed",
        "priority": 2,
        "labels": ["a", "b"],
        "assignee": "maria",
        "dependencies": edges,
        "external_ref": "gh-7",
        "close_reason": "done",
        "created_at": "2026-11-20T12:42:08Z",
        "updated_at": "2026-11-20T12:42:09Z",
        "closed_at": "2026-11-20T12:42:10Z",
    }
    task = Task(
        id="a-1",
        title="Add",
        description="All of it",
        status=TaskStatus.CLOSED,
        raw_status="closed",
        priority=2,
        labels=("a", "b"),
        assignee="maria",
        blocked_by=("a_2_3",),
        external="gh-7",
        close_reason="done",
        created_at=1795178528.0,
        updated_at=1795178529.0,
        closed_at=1795178530.0,
    )
    assert row_of(raw) == IssueRow(task, mark, ("a 2/3", "", "a-4"))
    bare = IssueRow(Task(id="a-1", title="", status=TaskStatus.OPEN, raw_status="open", priority=0))
    assert row_of({"id": "a-1"}) == bare
    assert row_of({"id": "a-1", "title": 7, "labels": "a", "status": None}) == bare
    note = {"id": 3, "author": "maria", "created_at": "2026-11-20T12:42:08Z", "text": "Hello"}
    assert note_of(note) == (Note("3", "maria", "Hello", 1795178528.0), "")
