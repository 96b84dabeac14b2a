"""Documents that somebody edited by hand: read, kept, and never a way past a gate."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.errors import Refused
from lifecycle.workflow.documents.hand_edits import with_edits
from lifecycle.workflow.documents.workflow_documents import DocumentKind, content_of, read_document
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.steps.workflow_steps import StepDone
from lifecycle.workflow.store.document_files import DocumentFiles
from lifecycle.workflow.store.found_workflows import found_workflows
from lifecycle.workflow.table import OVER, PhaseStatus
from tests.workflow.workflow_ground import NOW, VALUES, WorkflowGround, workflows


@pytest.fixture
def ground(tmp_path: Path) -> WorkflowGround:
    """A worktree with a workflow of three phases, of which the second has a gate."""
    made = WorkflowGround.made(tmp_path / "tree")
    gated = WorkflowPhase("Build", gate="file:never.txt", reading=("@b.md",))
    made.start("Design", gated, "Ship", reading=("@a.md",), task="do it")
    return made


def edited(ground: WorkflowGround, which: str, change: Any) -> tuple[Workflow, tuple[str, ...]]:
    """What the workflow is, and what is told, after a change of one document; the same once settled."""
    path = ground.document() if which == "document" else ground.checkpoints()[0]
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    read = ground.store.read()
    (found,) = read.unfinished
    ground.store.settle()
    (settled,) = ground.store.read().unfinished
    assert settled.workflow.phases == found.workflow.phases
    assert settled.is_in_step
    assert settled.remarks == ()
    return settled.workflow, read.troubles


def test_an_edit_of_the_document_wins(ground: WorkflowGround) -> None:
    """Titles, agents, deliverables, the task, statuses, an added phase and fields of others are kept."""

    def change(data: dict[str, Any]) -> None:
        data["task"] = "do it well"
        data["mine"] = {"a": 1}
        data["phases"][0] |= {"status": "completed", "deliverables": ["d.md"], "note": "mine"}
        data["phases"][1] |= {"status": "active", "agent": "builder"}
        data["phases"].append({"title": "Tell", "agent": "x"})
        data["current_phase"] = "phase_1"

    workflow, told = edited(ground, "document", change)
    assert told == ()
    assert workflow.task == "do it well"
    assert [phase.title for phase in workflow.phases] == ["Design", "Build", "Ship", "Tell"]
    assert workflow.phases[0].status is PhaseStatus.COMPLETED
    assert workflow.phases[0].deliverables == ("d.md",)
    assert workflow.phases[1].agent == "builder"
    assert workflow.phases[1].gate == "file:never.txt"
    assert (workflow.current, workflow.phases[1].attempts) == (1, 1)
    data = json.loads(ground.document().read_text())
    assert (data["mine"], data["phases"][0]["note"]) == ({"a": 1}, "mine")
    assert json.loads(ground.checkpoints()[0].read_text())["phase"]["current"] == 2


def test_an_edit_of_the_checkpoint_wins(ground: WorkflowGround) -> None:
    """The transition that the design has an agent write by hand is made, and is in the other document."""

    def change(data: dict[str, Any]) -> None:
        data["phase"] = {"current": 2, "total": 4, "name": "Build it", "status": "blocked"}
        data["required_reading"] = ["c.md", "@/etc/passwd"]
        data["key_reminders"] = ["new"]
        data["context"] = {"n": 1}

    workflow, told = edited(ground, "checkpoint", change)
    assert [phase.status.value for phase in workflow.phases] == [
        "completed",
        "blocked",
        "pending",
        "pending",
    ]
    assert workflow.phases[1].title == "Build it"
    assert workflow.reading == ("@c.md",)
    assert (workflow.reminders, workflow.context) == (("new",), {"n": 1})
    assert len(told) == 1
    assert "leads out of the project" in told[0]
    assert json.loads(ground.document().read_text())["phases"][0]["status"] == "completed"


def test_a_phases_own_reading_stays_its_own(ground: WorkflowGround) -> None:
    """What a checkpoint lists for the current phase goes with that phase, and comes back to it."""
    ground.advance()
    reading = json.loads(ground.checkpoints()[0].read_text())["required_reading"]
    assert reading == ["@a.md", "@b.md"]

    def change(data: dict[str, Any]) -> None:
        data["required_reading"] = ["@b.md", "@c.md"]

    workflow, _ = edited(ground, "checkpoint", change)
    assert (workflow.reading, workflow.phases[1].reading) == (("@c.md",), ("@b.md",))


@pytest.mark.parametrize(
    ("which", "change"),
    [
        ("document", {"phases.1.status": "completed"}),
        ("document", {"phases.2.status": "active"}),
        ("document", {"phases.2.status": "completed"}),
        ("document", {"current_phase": "phase_2"}),
        ("document", {"phases.1": None}),
        ("checkpoint", {"phase.current": 3, "phase.name": "Ship"}),
        ("checkpoint", {"phase.status": "completed"}),
        ("checkpoint", {"phase.total": 1}),
    ],
    ids=str,
)
def test_an_edit_passes_no_gate(ground: WorkflowGround, which: str, change: dict[str, Any]) -> None:
    """Completing, passing by or taking out a gated phase by hand changes nothing, and is told."""
    ground.advance()
    before = ground.one()

    def edit(data: dict[str, Any]) -> None:
        for place, value in change.items():
            *way, last = [int(word) if word.isdigit() else word for word in place.split(".")]
            target: Any = data
            for word in way:
                target = target[word]
            if value is None:
                del target[last]
            else:
                target[last] = value

    workflow, told = edited(ground, which, edit)
    assert workflow.phases == before.phases
    assert workflow.current == before.current
    assert told


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("phases", "none", "is no list"),
        ("phases", [1], "not all objects"),
        ("task", 7, "is no text"),
        ("current_phase", "phase_9", "names no phase"),
        ("status", "completed", "follows from its phases"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_and_passed_over(
    ground: WorkflowGround, field: str, value: object, words: str
) -> None:
    """What was known counts, and the sentence names the file and the field."""
    before = ground.one()
    workflow, told = edited(ground, "document", lambda data: data.update({field: value}))
    assert workflow == before
    assert workflow.phases == before.phases
    assert any(words in sentence and "workflow.json" in sentence for sentence in told)


def test_a_workflow_whose_phases_were_all_removed_says_so(tmp_path: Path) -> None:
    """Each step of it names what can be done; a phase that is added by hand can be completed."""
    ground = WorkflowGround.made(tmp_path / "tree")
    ground.start("Design", name="Two words")
    ground.edit(ground.document(), phases=[])
    steps = ground.steps
    moves: list[Callable[[], StepDone]] = [
        partial(steps.set_status, PhaseStatus.COMPLETED),
        steps.complete,
        lambda: steps.set_status(PhaseStatus.COMPLETED, "1"),
        lambda: steps.set_status(PhaseStatus.BLOCKED, reason="why"),
    ]
    for move in moves:
        with pytest.raises(Refused, match=r"no phases any more.* complete 'Two words' --give-up"):
            move()
    ground.edit(ground.document(), phases=[{"title": "Build"}])
    assert steps.set_status(PhaseStatus.COMPLETED).workflow.is_over
    ground.start("Design", name="Two words")
    ground.edit(ground.document(), phases=[])
    assert steps.complete(give_up="over").workflow.given_up == "over"


def test_a_status_that_is_a_placeholder_is_told(ground: WorkflowGround) -> None:
    """`pending|active|completed|failed` is the design's list of words, and no status."""

    def change(data: dict[str, Any]) -> None:
        data["phases"][0]["status"] = "pending|active|completed|failed"

    workflow, told = edited(ground, "document", change)
    assert workflow.phases[0].status is PhaseStatus.ACTIVE
    assert "pending|active|completed|failed" in told[0]


def test_a_document_that_was_written_without_our_part_keeps_the_detail(
    ground: WorkflowGround,
) -> None:
    """An agent that writes the design's fields alone loses neither gates nor times nor reading."""
    before = ground.one()

    def change(data: dict[str, Any]) -> None:
        del data["lifecycle"]
        data["phases"][0]["status"] = "completed"

    workflow, told = edited(ground, "document", change)
    assert told == ()
    assert workflow.phases[1] == before.phases[1]
    assert workflow.phases[0].started_at == before.phases[0].started_at
    assert workflow.phases[0].status is PhaseStatus.COMPLETED


@pytest.mark.parametrize("count", [2, 3])
def test_documents_that_both_lost_our_part_complete_no_gated_phase(
    ground: WorkflowGround, count: int
) -> None:
    """Whatever they say: the gates are remembered beside them, and a phase behind one is not over."""
    ground.advance()
    for path in (ground.document(), *ground.checkpoints()):
        data = json.loads(path.read_text())
        del data["lifecycle"]
        for phase in data.get("phases", ()):
            phase["status"] = "completed"
        if "phases" in data:
            data |= {"status": "completed", "current_phase": None, "phases": data["phases"][:count]}
        else:
            data["phase"] |= {"current": count, "total": count, "status": "completed"}
        path.write_text(json.dumps(data))
    (found,) = ground.store.read().found
    assert not found.workflow.is_over
    assert (found.workflow.current, found.workflow.phases[1].gate) == (1, "file:never.txt")
    assert found.workflow.phases[1].status is PhaseStatus.ACTIVE
    assert any("file:never.txt" in told for told in found.remarks)
    ground.store.settle()
    (settled,) = ground.store.read().unfinished
    assert settled.workflow.phases[1].is_gated
    assert settled.remarks == ()


def test_of_two_edits_both_count(ground: WorkflowGround) -> None:
    """One document says a new task, the other a new reminder: the workflow has both."""
    ground.edit(ground.document(), task="other")
    ground.edit(ground.checkpoints()[0], key_reminders=["r"])
    assert (ground.one().task, ground.one().reminders) == ("other", ("r",))


NAMES = [
    *("id", "task", "status", "current_phase", "phases"),
    *("workflow", "phase", "required_reading", "context", "key_reminders", "created_at"),
    *("workflow_type", "lifecycle", "x"),
]
FIELDS = st.sampled_from(NAMES)


@given(
    workflows(),
    st.dictionaries(FIELDS, VALUES, min_size=1, max_size=3),
    st.sampled_from(DocumentKind),
)
def test_no_edit_completes_a_gated_phase_or_breaks_anything(
    workflow: Workflow, changes: dict[str, Any], kind: DocumentKind
) -> None:
    """Whatever values stand in whatever fields: it is read, and each gate stands where it stood."""
    documents = []
    for one in DocumentKind:
        content = content_of(workflow, one)
        if one is kind:
            content = json.dumps({**json.loads(content), **changes}).encode()
        try:
            documents.append(read_document(content, one, one.value, NOW))
        except ValueError:
            continue
    assert documents
    every = found_workflows(DocumentFiles(Path(), documents), {})
    same = [found for found in every if found.workflow.id == workflow.id]
    assert same
    for found in same:
        gates = [phase.gate for phase in workflow.phases if phase.gate and phase.status not in OVER]
        left = [
            phase.gate for phase in found.workflow.phases if phase.gate and phase.status not in OVER
        ]
        assert left == gates


@given(workflows())
def test_what_was_not_edited_is_no_edit(workflow: Workflow) -> None:
    """The documents of a record change nothing of it, nor of a newer one of the same workflow."""
    for kind in DocumentKind:
        document = read_document(content_of(workflow, kind), kind, "a", NOW)
        assert with_edits(workflow, document) == (workflow, ())
