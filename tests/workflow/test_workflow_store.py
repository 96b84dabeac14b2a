"""The files of workflows: written in one commit, restored from each other, and trusted or not."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import LockBusy, Refused
from lifecycle.storage import journal
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.store.document_files import CURRENT, OTHERS
from lifecycle.workflow.store.workflow_store import LOCK, WorkflowStore
from lifecycle.workflow.table import PhaseStatus
from tests.workflow.workflow_ground import DESIGNS, WorkflowGround


@pytest.fixture
def ground(tmp_path: Path) -> WorkflowGround:
    """A worktree without workflows."""
    return WorkflowGround.made(tmp_path / "tree")


def test_one_commit_writes_checkpoint_document_and_view(ground: WorkflowGround) -> None:
    """A workflow that begins lies in both documents, the view and no other place, and git ignores it."""
    done = ground.start("Design", "Build", name="Feature X (Auth)", task="do it", reading=("a.md",))
    stamp = done.workflow.id.removeprefix("wf_")
    assert sorted(ground.documents()) == [
        ".claude/state/workflow.json",
        ".claude/workflow_state_system.md",
        f"untracked/workflow-state/feature-x-auth/state-feature-x-auth-{stamp}.json",
    ]
    checkpoint = json.loads(ground.checkpoints()[0].read_text())
    assert checkpoint["required_reading"] == ["@a.md"]
    assert ground.view().splitlines()[2] == "Status: active | Current Phase: Design"
    status = ["git", "-C", str(ground.root), "status", "--porcelain", "--ignored=no"]
    assert subprocess.run(status, check=True, capture_output=True).stdout == b""


def test_reading_writes_nothing(ground: WorkflowGround) -> None:
    """A look at the workflows changes no file, makes no folder and takes no lock."""
    before = sorted(str(path) for path in ground.root.rglob("*"))
    assert ground.store.read().found == ()
    assert sorted(str(path) for path in ground.root.rglob("*")) == before


@pytest.mark.parametrize("gone", ["checkpoint", "document", "view", "all but the checkpoint"])
def test_what_is_deleted_is_written_anew(ground: WorkflowGround, gone: str) -> None:
    """Each document is restored from the other and the view from either, byte for byte."""
    ground.start(
        "Design", WorkflowPhase("Build", gate="file:a"), context={"n": 1}, reminders=("b",)
    )
    ground.advance(deliverables=["x"], context_for_next="y")
    before = ground.documents()
    if gone != "checkpoint":
        for path in ground.documents():
            is_view = path.endswith(".md")
            if "untracked" not in path and (gone.startswith("all") or is_view is (gone == "view")):
                (ground.root / path).unlink()
    else:
        ground.checkpoints()[0].unlink()
    assert ground.documents() != before
    record = ground.store.read()
    assert ground.store.settle().troubles == []
    assert ground.documents() == before
    assert ground.store.read().found[0].workflow == record.found[0].workflow


def test_an_edited_view_is_rendered_anew(ground: WorkflowGround) -> None:
    """The view is nobody's to edit: JSON and view cannot drift apart."""
    ground.start("Design")
    before = ground.view()
    ground.write(".claude/workflow_state_system.md", "done!")
    ground.store.settle()
    assert ground.view() == before


def test_nothing_is_written_twice(ground: WorkflowGround) -> None:
    """A commit without a change leaves every file as it is, its date too."""
    ground.start("Design")
    before = {path: (ground.root / path).stat().st_mtime_ns for path in ground.documents()}
    ground.store.settle()
    assert {path: (ground.root / path).stat().st_mtime_ns for path in ground.documents()} == before


def test_of_several_one_is_current_and_none_is_lost(ground: WorkflowGround) -> None:
    """The one that was moved last is in `workflow.json`, the others lie beside it, with checkpoints."""
    one, two = ground.start("A", name="One").workflow, ground.start("A", name="Two").workflow
    assert json.loads(ground.document().read_text())["id"] == two.id
    assert (ground.root / OTHERS / f"{one.id}.json").is_file()
    ground.steps.set_status(PhaseStatus.ACTIVE, name="One", is_report=True)
    ground.steps.set_status(PhaseStatus.BLOCKED, "1", reason="no key", name="One")
    assert json.loads(ground.document().read_text())["id"] == one.id
    assert not (ground.root / OTHERS / f"{one.id}.json").exists()
    assert (ground.root / OTHERS / f"{two.id}.json").is_file()
    assert len(ground.checkpoints()) == 2
    names = {found.workflow.name for found in ground.store.read().unfinished}
    assert names == {"One", "Two"}


def test_completion_archives_and_takes_the_checkpoint_away(ground: WorkflowGround) -> None:
    """A completed workflow stays in sight and in the archive, and is never unfinished again."""
    first = ground.start("A").workflow
    done = ground.steps.complete().workflow
    assert ground.checkpoints() == []
    assert not (ground.root / "untracked/workflow-state/feature-x").exists()
    assert json.loads(ground.document().read_text())["status"] == "completed"
    assert ground.store.read().unfinished == ()
    second = ground.start("B").workflow
    assert first.id != second.id
    every = {found.workflow.id: found.workflow for found in ground.store.read(archived=True).found}
    assert every[first.id] == done
    assert [found.workflow.id for found in ground.store.read().unfinished] == [second.id]


def test_several_that_begin_and_end_in_one_second_are_all_archived(ground: WorkflowGround) -> None:
    """None has the id of another, also where that lies in the archive alone."""
    names = ["One", "Two", "Three", "Four"]
    for name in names:
        ground.start("A", name=name)
        ground.steps.complete(name)
    every = ground.store.read(archived=True).found
    assert sorted(found.workflow.name for found in every) == sorted(names)
    assert len({found.workflow.id for found in every}) == len(names)


def test_what_was_begun_by_hand_in_the_second_of_an_archived_one_is_another(
    ground: WorkflowGround,
) -> None:
    """A checkpoint that nobody wrote with lifecycle has no id: it gets one that the archive has not."""
    begun = ground.start("A", name="One").workflow.created_at
    ground.steps.complete("One")
    ground.start("B", name="Two")
    mine = {"workflow": "Mine", "created_at": begun}
    ground.write("untracked/workflow-state/mine/state-mine.json", json.dumps(mine))
    shown = {found.workflow.id: found.workflow.name for found in ground.store.read().found}
    assert sorted(shown.values()) == ["Mine", "Two"]
    ground.store.settle()
    every = {found.workflow.id: found.workflow for found in ground.store.read(archived=True).found}
    assert shown.items() <= {id_: workflow.name for id_, workflow in every.items()}.items()
    (done,) = [workflow for workflow in every.values() if workflow.is_over]
    assert (done.name, len(every)) == ("One", 3)


def test_a_checkpoint_is_found_by_its_name_and_not_by_its_path(ground: WorkflowGround) -> None:
    """A checkpoint that lies elsewhere is the workflow's own, and is written where it lies."""
    ground.start("A", "B")
    (path,) = ground.checkpoints()
    other = ground.write(
        "untracked/workflow-state/elsewhere/state-x-20200101_000000.json", path.read_bytes()
    )
    path.unlink()
    ground.advance()
    assert ground.checkpoints() == [other.parent / other.name]
    assert json.loads(other.read_text())["phase"]["current"] == 2


def test_a_design_checkpoint_becomes_a_workflow_with_its_time_kept(ground: WorkflowGround) -> None:
    """An agent's own checkpoint, written by hand, gets its document; `created_at` stays for ever."""
    content = (DESIGNS / "feature-phase-2.json").read_bytes()
    path = "untracked/workflow-state/feature/state-feature-20251209_143052.json"
    whole = ground.write(path, content)
    assert ground.one().name == "Feature Implementation (User Auth)"
    ground.store.settle()
    document = json.loads(ground.document().read_text())
    assert document["id"] == "wf_20251209_143052"
    assert document["current_phase"] == "phase_1"
    assert ground.checkpoints() == [whole]
    assert json.loads(whole.read_text())["created_at"] == "2025-12-09T14:30:52.123456Z"
    ground.edit(whole, created_at="2030-01-01T00:00:00Z")
    ground.store.settle()
    assert json.loads(whole.read_text())["created_at"] == "2025-12-09T14:30:52.123456Z"


BROKEN = {
    "half": b'{"workflow": "a", "pha',
    "empty": b"",
    "large": b"x" * 10_000_000,
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("which", ["document", "checkpoint"])
def test_a_broken_document_is_kept_and_the_other_one_counts(
    ground: WorkflowGround, which: str, content: bytes
) -> None:
    """Corrupt, half-written, 10 MB: one sentence, the workflow goes on, the broken file is kept beside."""
    before = ground.start("A", "B").workflow
    path = ground.document() if which == "document" else ground.checkpoints()[0]
    path.write_bytes(content)
    read = ground.store.read()
    assert [found.workflow for found in read.found] == [before]
    (trouble,) = read.troubles
    assert str(path.relative_to(ground.root)) in trouble
    assert "Traceback" not in trouble
    done = ground.advance()
    assert done.workflow.current == 1
    assert path.with_name(f"{path.name}.unreadable").read_bytes() == content
    assert ground.store.read().troubles == ()
    assert ground.store.read().found[0].is_in_step


def test_a_document_of_a_later_release_is_never_replaced(ground: WorkflowGround) -> None:
    """Its file stays as it is, whatever is done; a workflow of this release lies beside it."""
    later = b'{"id": "wf_1", "lifecycle": {"version": 2, "record": {}}}'
    ground.write(CURRENT, later)
    (trouble,) = ground.store.read().troubles
    assert "a later release" in trouble
    done = ground.start("A")
    assert ground.document().read_bytes() == later
    assert (ground.root / OTHERS / f"{done.workflow.id}.json").is_file()
    assert ground.one() == done.workflow


@pytest.mark.parametrize("place", ["file", "folder", "top"])
def test_what_is_reached_through_a_link_is_not_read(
    ground: WorkflowGround, tmp_path: Path, place: str
) -> None:
    """A link in the place of a checkpoint or a folder leads to a file that is not ours."""
    path = "untracked/workflow-state/qa-loop/state-qa-loop-20251209_150000.json"
    foreign = WorkflowGround(tmp_path / "foreign").write(
        path, (DESIGNS / "qa-loop.json").read_bytes()
    )
    link = {"file": path, "folder": str(Path(path).parent), "top": "untracked"}[place]
    (ground.root / link).parent.mkdir(parents=True, exist_ok=True)
    (ground.root / link).symlink_to(tmp_path / "foreign" / link)
    read = ground.store.read()
    assert read.found == ()
    assert len(read.troubles) == 1
    assert "link" in read.troubles[0]
    done = ground.start("A", name="QA Loop")
    assert foreign.read_bytes() == (DESIGNS / "qa-loop.json").read_bytes()
    assert ground.one() == done.workflow


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_another_users_file_is_not_read(ground: WorkflowGround) -> None:
    """A checkpoint that belongs to another user is told, and neither read nor written."""
    path = ground.write(
        "untracked/workflow-state/qa-loop/state-qa-loop-20251209_150000.json",
        (DESIGNS / "qa-loop.json").read_bytes(),
    )
    os.chown(path, 12345, -1)
    read = ground.store.read()
    assert read.found == ()
    assert "belongs to another user" in read.troubles[0]


def test_what_git_tracks_is_marked_as_strangers_words(ground: WorkflowGround) -> None:
    """A tracked checkpoint is read and marked for ever, also where it was copied; nothing rewrites it."""
    path = ground.write(
        "untracked/workflow-state/qa-loop/state-qa-loop-20251209_150000.json",
        (DESIGNS / "qa-loop.json").read_bytes(),
    )
    subprocess.run(["git", "-C", ground.root, "add", "-f", path], check=True)
    assert ground.one().is_foreign
    ground.store.settle()
    assert path.read_bytes() == (DESIGNS / "qa-loop.json").read_bytes()
    ground.steps.set_status(PhaseStatus.ACTIVE, "3", is_report=True)
    subprocess.run(["git", "-C", ground.root, "rm", "-q", "--cached", "-f", path], check=True)
    assert ground.one().is_foreign


def test_a_checkpoint_that_was_copied_and_renamed_is_another_workflow(
    ground: WorkflowGround,
) -> None:
    """It takes over neither the first one's name nor its place; a file of another name is none."""
    ground.start("A", "B")
    (path,) = ground.checkpoints()
    fields = json.loads(path.read_text())
    for name, file in (("Copy", "state-z.json"), ("Snapshot", "snapshot.json")):
        path.with_name(file).write_text(json.dumps({**fields, "workflow": name}))
    names = [entry.workflow.name for entry in ground.store.read().found]
    assert sorted(names) == ["Copy", "Feature X"]


def test_a_busy_lock_is_one_sentence(ground: WorkflowGround) -> None:
    """Whoever finds another process at it is told so, and nothing is changed."""
    ground.start("A")
    before = ground.documents()
    store = WorkflowStore(ground.root, {}, ground.store.deadline)
    with store.changing():
        short = WorkflowStore(ground.root, {}, type(store.deadline).after(ground.clock, 0.1))
        with pytest.raises(LockBusy, match="Another lifecycle process"), short.changing():
            pytest.fail("two had the lock")
    assert ground.documents() == before
    assert (ground.root / ".lifecycle" / LOCK).exists()


def test_what_an_agent_writes_meanwhile_is_kept(ground: WorkflowGround) -> None:
    """An edit between the read and the write of a commit is taken over, and the commit's change too."""
    ground.start("A", "B")
    with ground.store.changing() as change:
        (found,) = change.workflows.found
        data = ground.edit(ground.document(), mine="kept")
        data["phases"][1]["title"] = "B, renamed"
        ground.document().write_text(json.dumps(data))
        change.put(replace(found.workflow, context={"ours": 1}))
    after = ground.one()
    assert after.context == {"ours": 1}
    assert after.phases[1].title == "B, renamed"
    assert json.loads(ground.document().read_text())["mine"] == "kept"
    assert ground.store.read().found[0].is_in_step


def test_an_archived_workflow_is_changed_while_another_is_edited(ground: WorkflowGround) -> None:
    """What is read again then is what was read before: the archived ones, too."""
    ground.start("A", name="One")
    ground.steps.complete("One")
    ground.start("B", name="Two")
    with ground.store.changing(archived=True) as change:
        found = change.workflows.get("One")
        assert found is not None
        ground.edit(ground.document(), mine="kept")
        change.put(replace(found.workflow, reminders=("told later",)))
    every = {found.workflow.name: found for found in ground.store.read(archived=True).found}
    assert every["One"].workflow.reminders == ("told later",)
    assert all(found.is_in_step for found in every.values())


def test_what_is_edited_while_its_workflow_gives_way_is_kept(ground: WorkflowGround) -> None:
    """Its document lies elsewhere then, as it was read before: the edit is taken from where it was made."""
    ground.start("A", name="One")
    ground.start("B", name="Two")
    with ground.store.changing() as change:
        found = change.workflows.get("One")
        assert found is not None
        ground.edit(ground.document(), mine="kept")
        change.put(replace(found.workflow, reminders=("ours",)))
    every = {found.workflow.name: found.workflow for found in ground.store.read().found}
    assert every["One"].reminders == ("ours",)
    assert every["Two"].extra == {"document": {"mine": "kept"}}


def test_what_is_edited_where_a_workflow_moves_away_from_is_kept(ground: WorkflowGround) -> None:
    """Its document is taken away only as it was read."""
    one = ground.start("A", name="One").workflow
    ground.start("B", name="Two")
    place = ground.root / OTHERS / f"{one.id}.json"
    with ground.store.changing() as change:
        ground.edit(place, mine="kept")
        change.put(replace(one, reminders=("ours",)))
    every = {found.workflow.name: found.workflow for found in ground.store.read().found}
    assert every["One"].extra == {"document": {"mine": "kept"}}
    assert (every["One"].reminders, place.exists()) == (("ours",), False)


def test_another_workflow_that_is_written_over_ours_costs_neither(ground: WorkflowGround) -> None:
    """An agent that follows the design writes its own `workflow.json`: both are there afterwards."""
    ours = ground.start("A").workflow
    ground.document().write_bytes((DESIGNS / "workflow.json").read_bytes())
    ground.store.settle()
    every = {found.workflow.id: found for found in ground.store.read().unfinished}
    assert set(every) == {ours.id, "wf_20250105_143022"}
    assert all(found.is_in_step for found in every.values())
    assert json.loads(ground.document().read_text())["id"] == "wf_20250105_143022"


def test_each_transition_is_in_the_journal(ground: WorkflowGround) -> None:
    """Begin, complete, skip, a gate that was tried, and the end: each is one entry of the journal."""
    ground.start("A", WorkflowPhase("B", gate="file:b.txt"), "C")
    ground.advance()
    with pytest.raises(Refused, match=r"b\.txt"):
        ground.advance()
    ground.write("b.txt", "")
    ground.advance()
    ground.steps.set_status(PhaseStatus.SKIPPED, reason="not needed")
    entries = journal.read(ground.root)
    moves = [(one.source, one.target) for one in entries if one.kind == journal.TRANSITION]
    assert sorted(moves) == sorted(
        [
            ("1 pending", "1 active"),
            ("1 active", "1 completed"),
            ("2 pending", "2 active"),
            ("2 active", "2 completed"),
            ("3 pending", "3 active"),
            ("3 active", "3 skipped"),
            ("", journal.CLOSED),
        ]
    )
    gates = [one.detail["outcome"] for one in entries if one.kind == journal.CHECK]
    assert sorted(gates) == ["green", "red"]


def test_a_view_that_cannot_be_written_costs_the_view_alone(ground: WorkflowGround) -> None:
    """A folder in the place of the view is told; both documents are written."""
    (ground.root / ".claude/workflow_state_system.md").mkdir(parents=True)
    done = ground.start("A")
    assert ground.one() == done.workflow
    assert any("workflow_state_system.md" in trouble for trouble in done.troubles)


def test_a_name_that_is_taken_is_refused_while_it_is_unfinished(ground: WorkflowGround) -> None:
    """Two unfinished workflows of one name could not be told apart by it."""
    ground.start("A")
    with pytest.raises(Refused, match="already"):
        ground.start("B")
    assert len(ground.checkpoints()) == 1


def test_a_checkpoint_of_a_completed_workflow_does_not_bring_it_back(
    ground: WorkflowGround,
) -> None:
    """What a crash left between archive and removal is taken away, and is never unfinished."""
    ground.start("A")
    (path,) = ground.checkpoints()
    content = path.read_bytes()
    ground.steps.complete()
    ground.write(str(path.relative_to(ground.root)), content)
    assert ground.store.read().unfinished == ()
    ground.store.settle()
    assert ground.checkpoints() == []


def test_an_over_long_or_foreign_name_makes_a_sound_path(ground: WorkflowGround) -> None:
    """Names of any script and length become paths that a file system takes; 🎉 alone is refused."""
    done = ground.start("A", name="数据库" * 60)
    (path,) = ground.checkpoints()
    assert 40 < len(path.name.encode()) <= 255
    assert ground.one() == done.workflow
    with pytest.raises(Refused, match="no letter or digit"):
        ground.start("A", name="🎉 !!")


def test_a_name_by_hand_that_no_path_can_have_leaves_the_checkpoint_where_it_is(
    ground: WorkflowGround,
) -> None:
    """No path has to be made for a checkpoint that is there, so the workflow goes on."""
    ground.start("A", "B")
    (path,) = ground.checkpoints()
    ground.edit(path, workflow="🎉 !!")
    ground.edit(ground.document(), name="🎉 !!")
    ground.advance()
    assert (ground.one().name, ground.one().current) == ("🎉 !!", 1)
    assert ground.checkpoints() == [path]


def test_gates_that_are_taken_out_of_both_documents_stand(ground: WorkflowGround) -> None:
    """What both documents are made to say of a gate is compared with what is remembered outside of them."""
    ground.start(WorkflowPhase("A", gate="file:never"), "B")
    for path in (ground.document(), *ground.checkpoints()):
        data = json.loads(path.read_text())
        phase = data["lifecycle"]["record"]["phases"][0]
        phase |= {"status": "completed", "passed": {"at": 1.0, "how": "me"}}
        del phase["gate"]
        path.write_text(json.dumps(data))
    workflow = ground.one()
    assert workflow.phases[0].gate == "file:never"
    assert workflow.phases[0].status is PhaseStatus.ACTIVE
    assert any("the gate stays" in trouble for trouble in ground.store.read().troubles)


def test_put_of_what_is_there_changes_nothing(ground: WorkflowGround) -> None:
    """A change that changes nothing raises no revision."""
    before: Workflow = ground.start("A").workflow
    with ground.store.changing() as change:
        assert change.put(change.workflows.found[0].workflow) == before
    assert ground.one() == before
