"""Workflows of each type from start to archive, as processes: commands, documents, view and journal."""

from __future__ import annotations

import re

import pytest

from tests.cli.outcome import refused
from tests.cli.workflow.workflow_ground import ARCHIVE, CHECKPOINTS, VIEW, WorkflowGround

TYPES = {"planning": 6, "qa-loop": 3, "implementation": 4}


@pytest.mark.parametrize("kind", TYPES)
def test_a_type_brings_its_phases_and_goes_to_the_archive(
    ground: WorkflowGround, kind: str
) -> None:
    """Each phase is advanced through; at the end only archive and view are left, which say completed."""
    begun = ground.data("start", "Plan 001", "--type", kind, "--task", "Do it")
    assert re.fullmatch(r"wf_\d{8}_\d{6}", begun["id"])
    assert (begun["workflow_type"], len(begun["phases"])) == (kind, TYPES[kind])
    (checkpoint,) = ground.checkpoints()
    assert checkpoint.parent.name == "plan-001"
    created = ground.document(str(checkpoint.relative_to(ground.root)))["created_at"]
    for number in range(1, TYPES[kind] + 1):
        shown = ground.document(str(checkpoint.relative_to(ground.root)))
        assert shown["phase"]["current"] == number
        assert (shown["phase"]["status"], shown["created_at"]) == ("in_progress", created)
        moved = ground.data("advance", "--deliverable", f"part {number}")
        assert moved["phase"]["deliverables"] == [f"part {number}"]
        assert moved["progress"] == {"done": number, "total": TYPES[kind]}
    assert moved["is_over"] is True
    assert not (ground.root / CHECKPOINTS / "plan-001").exists()
    archived = ground.document(f"{ARCHIVE}/{begun['id']}.json")
    assert {phase["status"] for phase in archived["phases"]} == {"completed"}
    assert "Status: completed | Current Phase: none" in (ground.root / VIEW).read_text()
    assert ground.data("list")["workflows"] == []
    assert [one["id"] for one in ground.data("list", "--all")["workflows"]] == [begun["id"]]
    assert len(ground.data("history")["entries"]) == 2 * TYPES[kind] + 1  # and its end


def test_a_workflow_of_ones_own_with_all_moves(ground: WorkflowGround) -> None:
    """Block, retry, fail, retry, skip and complete: documents, view and history tell each of them."""
    ground.write("docs/plan.md", "the plan")
    words = ["--phase", "Design:architect", "--phase", "Build", "--phase", "Verify:tester"]
    words += ["--reading", "docs/plan.md", "--reminder", "Be kind", "--context", "plan=1=2"]
    words += ["--criterion", "it works", "--constraint", "no new dependency"]
    begun = ground.data("start", "User Auth", "--task", "Let users\nlog in", *words)
    assert begun["required_reading"] == ["@docs/plan.md"]
    assert begun["context"] == {"plan": "1=2"}
    assert [phase["agent"] for phase in begun["phases"]] == ["architect", None, "tester"]
    moved = ground.said("advance", "--deliverable", "a.md", "--context-for-next", "Sessions")
    assert 'Phase 1 of 3, "Design", is completed.' in moved
    assert "  | Sessions" in moved
    assert ground.data("phase")["phase"]["handed_on"] == "Sessions"
    assert "is blocked" in ground.said("block", "--reason", "No database")
    assert "- [ ] Phase 1: Build (blocked: No database)" in (ground.root / VIEW).read_text()
    assert ground.document()["phases"][1]["status"] == "active"
    ground.said("retry")
    assert '"Build", failed: "It broke".' in ground.said("fail", "build", "--reason", "It broke")
    assert ground.document()["phases"][1]["status"] == "failed"
    again = ground.data("retry", "2")
    assert again["phase"]["attempts"] == 3
    assert [one["text"] for one in again["phase"]["errors"]] == ["It broke"]
    ground.said("advance", "phase_1")
    over = ground.data("skip", "--reason", "Nothing to verify")
    assert over["is_over"] is True
    assert over["phases"][2]["reason"] == "Nothing to verify"
    shown = ground.data("show", "--workflow", "User Auth")
    assert shown["status"] == "completed"
    told = ground.said("history")
    for words_told in (
        "began by architect",
        'is blocked: "No database"',
        'failed: "It broke"',
        'was skipped: "Nothing to verify"',
        "the workflow  is over",
    ):
        assert words_told in told
    assert ground.checkpoints() == []


def test_a_gate_is_passed_by_what_is_there(ground: WorkflowGround) -> None:
    """A file's gate refuses until the file is there; what was refused changed nothing but the journal."""
    ground.data("start", "Gated", "--phase", "Plan", "--phase", "Do", "--gate", "1=file:plan.md")
    before = ground.files()
    sentence = refused(ground.run("advance", "--deliverable", "plan.md"))
    assert '"plan.md", which the project does not have; nothing was changed' in sentence
    assert ground.files() == before
    ground.write("plan.md", "x")
    assert ground.data("advance")["phase"]["passed"]["how"] == "file:plan.md"
    told = ground.said("history")
    assert "its gate file:plan.md is not passed" in told
    assert "its gate file:plan.md is passed" in told


def test_a_checks_gate_wants_the_check_on_these_files(ground: WorkflowGround) -> None:
    """It passes once the project's check passed on the very files, and not after an edit of them."""
    ground.write(".lifecycle.toml", '[checks.commands]\ntest = "true"\n')
    ground.write("a.py", "1")
    ground.data("start", "Gated", "--phase", "Do", "--phase", "More", "--gate", "Do=check:test")
    assert "which was not run" in refused(ground.run("advance"))


def test_a_persons_gate_takes_a_person(ground: WorkflowGround) -> None:
    """In a client's session an agent neither passes nor skips it; in a terminal a person does."""
    inside = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
    ground.begun("Design", "Build")
    gated = ("start", "Asked", "--phase", "Agree", "--phase", "Build", "--gate", "1=person")
    ground.data(*gated, **inside)
    for words in (["advance"], ["skip", "--reason", "no need"]):
        sentence = refused(ground.run(*words, "--workflow", "Asked", **inside))
        assert "Only a person may say this" in sentence
    assert ground.data("phase", "--workflow", "Asked")["phase"]["status"] == "active"
    assert ground.data("complete", "Asked", "--give-up", "no time")["given_up"] == "no time"


def test_several_workflows_lie_beside_each_other(ground: WorkflowGround) -> None:
    """A session goes on with its own, a terminal with the one that was changed last: it is current."""
    one = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "session-one"}
    two = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "session-two"}
    first = ground.begun("A", "B", name="First", **one)
    second = ground.begun("C", "D", name="Second", **two)
    assert ground.data("phase", **one)["id"] == first["id"]
    assert ground.data("phase", **two)["id"] == second["id"]
    listed = {row["workflow"]: row for row in ground.data("list", **one)["workflows"]}
    assert {name: row["is_own"] for name, row in listed.items()} == {"First": True, "Second": False}
    assert len(ground.checkpoints()) == 2
    ground.data("advance", "--workflow", first["id"])
    assert ground.document()["id"] == first["id"]
    current = {row["workflow"]: row["is_current"] for row in ground.data("list")["workflows"]}
    assert current == {"First": True, "Second": False}
    assert ground.data("complete", "second", "--give-up", "enough")["workflow"] == "Second"
    assert [row["workflow"] for row in ground.data("list")["workflows"]] == ["First"]


def test_the_last_phase_is_completed_by_complete(ground: WorkflowGround) -> None:
    """With one phase left `complete` ends it; a second time it says so and changes nothing."""
    ground.begun("Design", "Build")
    sentence = refused(ground.run("complete"))
    assert '2 phases are left to do (1 "Design", 2 "Build")' in sentence
    ground.said("advance")
    assert "is completed, 2 of 2 phases done. Archived:" in ground.said("complete")
    before = ground.files()
    assert "is completed" in ground.said("complete", "User Auth")
    assert ground.files() == before


def test_nothing_of_it_is_seen_by_git(ground: WorkflowGround) -> None:
    """What is local is excluded from the first command on."""
    ground.begun()
    ground.begun(name="Another")
    assert ground.git("status", "--porcelain", "--untracked-files=all") == ""
