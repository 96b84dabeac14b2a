"""Which tasks are the workflow's, how long an answer is believed, and which one a session works on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.core.stage_names import LINE
from lifecycle.core.values.configured import StageSettings
from lifecycle.stages.session import workflow_tasks
from lifecycle.stages.session.workflow_tasks import FRESH_SECONDS, INACTIVE_SECONDS
from lifecycle.storage import regular_files, workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.trackers.memory import MemoryTasks, MemoryTracker

NOW = 1_795_000_000.0
SETTINGS = StageSettings(use=True, workflows={"auto-workflow:quick-fix": LINE, "other": LINE})


@pytest.fixture
def tracker() -> MemoryTracker:
    """An empty tracker."""
    return MemoryTracker(MemoryTasks(lambda: NOW), "me")


@pytest.fixture
def shelf(tmp_path: Path) -> WorkflowFiles:
    """A worktree's files."""
    return WorkflowFiles(tmp_path)


def test_every_open_task_of_the_label_and_its_family_counts(tracker: MemoryTracker) -> None:
    """Ready, blocked, begun, of a family with a sequence or without one; not closed, not of others.

    A begun task of a family without a sequence counts once the family was seen.
    """
    made = {
        name: tracker.create(f"key-{name}", title=name, labels=labels).id
        for name, labels in {
            "ready": ("auto-workflow",),
            "blocked": ("auto-workflow",),
            "begun": ("auto-workflow:feature",),
            "family": ("auto-workflow:quick-fix", "bug"),
            "unnamed": ("auto-workflow:later",),
            "closed": ("auto-workflow",),
            "other": ("other", "auto-workflows"),
        }.items()
    }
    tracker.add_dependency(made["blocked"], made["other"])
    tracker.claim(made["begun"])
    tracker.close(made["closed"])
    before = workflow_tasks.ask(tracker, SETTINGS, NOW, None)
    names = {task.title for task in before.tasks}
    assert names == {"ready", "blocked", "family", "unnamed"}
    tracker.release(made["begun"])
    found = workflow_tasks.ask(tracker, SETTINGS, NOW, None)
    tracker.claim(made["begun"])
    tracker.claim(made["unnamed"])
    found = workflow_tasks.ask(tracker, SETTINGS, NOW, found)
    names = {task.title for task in found.tasks}
    assert names == {"ready", "blocked", "begun", "family", "unnamed"}
    assert found.find(made["closed"]) is None
    assert {task.title for task in found.startable} == {"ready", "family"}


def test_a_begun_task_of_a_family_that_nobody_has_seen_is_found_where_nothing_else_is(
    tracker: MemoryTracker,
) -> None:
    """Without an earlier answer and without any other task: the workflow is active all the same."""
    begun = tracker.create("one", title="One", labels=("auto-workflow:later",)).id
    tracker.create("two", title="Two", labels=("bug",))
    tracker.claim(begun)
    assert [task.id for task in workflow_tasks.ask(tracker, SETTINGS, NOW, None).tasks] == [begun]
    tracker.close(begun)
    assert workflow_tasks.ask(tracker, SETTINGS, NOW, None).tasks == ()


def test_an_answer_is_believed_for_a_minute_and_kept_whole(
    tracker: MemoryTracker, shelf: WorkflowFiles
) -> None:
    """All but the description is read again; another label, or another tracker, is another question."""
    tracker.create("one", title="One <b>\n", labels=("auto-workflow",), priority=1, description="D")
    asked = workflow_tasks.ask(tracker, SETTINGS, NOW, None)
    with shelf.locked():
        workflow_tasks.keep(shelf, asked)
    plain = tuple(replace(task, description="") for task in asked.tasks)
    assert plain != asked.tasks
    assert b'"D"' not in shelf.path(workflow_tasks.TASKS).read_bytes()
    assert workflow_tasks.known(shelf, tracker, SETTINGS) == replace(asked, tasks=plain)
    assert workflow_tasks.known(shelf, tracker, replace(SETTINGS, label="another")) is None
    assert asked.is_fresh(NOW + FRESH_SECONDS - 1)
    assert not asked.is_fresh(NOW + FRESH_SECONDS)
    assert not asked.is_fresh(NOW - 1)


PART = b'"version": 1, "at": 9.0, "of": "memory/auto-workflow"'


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"7", b'{"version": 1}', b"\xff", b"[" * 100_000),
        *(b"{" + PART + b"}", b"{" + PART + b', "tasks": [], "ready": []}'),
        b'[9.0, "memory/auto-workflow", [], [], [], false]',
    ],
)
def test_a_broken_answer_is_no_answer(
    tracker: MemoryTracker, shelf: WorkflowFiles, content: bytes
) -> None:
    """The tracker is asked again."""
    with shelf.locked():
        shelf.path(workflow_tasks.TASKS).write_bytes(content)
    assert workflow_tasks.known(shelf, tracker, SETTINGS) is None


def test_the_guards_are_told_what_the_answer_means(
    tracker: MemoryTracker, shelf: WorkflowFiles
) -> None:
    """With a task every stop is looked at; without one none is, for a while."""
    due = shelf.folder.path / workflow_marks.DUE
    with shelf.locked():
        workflow_tasks.keep(shelf, workflow_tasks.ask(tracker, SETTINGS, NOW, None))
    assert due.stat().st_mtime == NOW + INACTIVE_SECONDS
    assert not workflow_marks.is_due(str(shelf.root), workflow_marks.DUE, NOW)
    tracker.create("one", title="One", labels=("auto-workflow",))
    with shelf.locked():
        workflow_tasks.keep(shelf, workflow_tasks.ask(tracker, SETTINGS, NOW, None))
    assert workflow_marks.is_due(str(shelf.root), workflow_marks.DUE, NOW)


def test_switching_off_is_this_worktrees_and_is_undone(shelf: WorkflowFiles) -> None:
    """Off: no stop is looked at. On: the next one is."""
    shelf.switch(off=True)
    states = [shelf.is_off, (shelf.folder.path / workflow_marks.DUE).exists()]
    shelf.switch(off=False)
    assert [*states, shelf.is_off] == [True, False, False]
    assert workflow_marks.is_due(str(shelf.root), workflow_marks.DUE, 2.0)


def test_settings_are_kept_with_the_date_of_their_file(shelf: WorkflowFiles) -> None:
    """The guards compare the dates; a file that was written just now is read once more."""
    settings = shelf.root / regular_files.CONFIG_FILE
    settings.write_text("[stages]\n")
    moment = regular_files.mtime_ns(str(settings), follow=True)
    shelf.note_settings({"use": True}, ["test"], moment, moment / 1e9 + 1)
    assert not workflow_marks.is_known(str(shelf.root))
    shelf.note_settings({"use": True}, ["test"], moment, moment / 1e9 + 3)
    assert workflow_marks.is_known(str(shelf.root))
    assert json.loads((shelf.folder.path / workflow_marks.STAGED).read_text()) == {"use": True}
    settings.unlink()
    assert not workflow_marks.is_known(str(shelf.root))


def test_each_session_has_a_name_of_its_own() -> None:
    """A client's id is its own name; anything else gets one that leads nowhere else."""
    one = "11111111-aaaa-4bbb-8ccc-000000000001"
    assert workflow_marks.session_name(one) == one
    strange = ["", "../../x", "a/b", "\N{SNOWMAN}", "x" * 65, "runs.json", "\ud800"]
    names = {workflow_marks.session_name(text) for text in strange}
    assert len(names) == len(strange)
    assert all(name.replace("-", "").isalnum() for name in names)


def test_what_a_command_of_ours_changed_is_asked_anew(
    tracker: MemoryTracker, shelf: WorkflowFiles
) -> None:
    """An answer from before is not believed, whatever its age, and stops are looked at again at once."""
    workflow_tasks.drop(shelf, NOW)
    assert not shelf.path(workflow_tasks.CHANGED).exists()
    with shelf.locked():
        workflow_tasks.keep(shelf, workflow_tasks.ask(tracker, SETTINGS, NOW, None))
    before = workflow_tasks.known(shelf, tracker, SETTINGS)
    assert before is not None
    assert before.is_fresh(NOW + 1)
    workflow_tasks.drop(shelf, NOW + 2)
    after = workflow_tasks.known(shelf, tracker, SETTINGS)
    assert after is not None
    assert (after.is_stale, after.is_fresh(NOW + 3)) == (True, False)
    assert workflow_marks.is_due(str(shelf.root), workflow_marks.DUE, NOW + 3)
    with shelf.locked():
        workflow_tasks.keep(shelf, workflow_tasks.ask(tracker, SETTINGS, NOW + 4, None))
    again = workflow_tasks.known(shelf, tracker, SETTINGS)
    assert again is not None
    assert again.is_fresh(NOW + 5)
