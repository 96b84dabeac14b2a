"""Hundreds of compaction cycles: whatever happens in between, nothing of a workflow is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.workflow.sources.following import observe
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.table import PhaseStatus
from lifecycle.workflow.whose import Asker
from tests.repeated import soaked
from tests.workflow.workflow_ground import TEXTS, WorkflowGround

ACTS = st.sampled_from(
    [
        "advance",
        "blocked",
        "active",
        "failed",
        "edit",
        "no document",
        "no checkpoint",
        "no view",
        "half",
        "bare",
    ]
)


def same(workflow: Workflow) -> Workflow:
    """A record without what a compaction counts."""
    return replace(workflow, compactions=0, revision=0, updated_at=0.0, session="", client=0)


def act(ground: WorkflowGround, name: str, text: str) -> None:
    """One thing that happens between two compactions."""
    document, checkpoints = ground.document(), ground.checkpoints()
    if name == "no document":
        document.unlink()
    elif name == "no checkpoint":
        checkpoints[0].unlink()
    elif name == "no view":
        ground.write(".claude/workflow_state_system.md", text)
    elif name == "half":
        document.write_bytes(document.read_bytes()[:-20])
    elif name == "edit":
        ground.edit(document, task=text)
        assert ground.one().task == text
    elif name == "bare":
        data = json.loads(checkpoints[0].read_text("utf-8"))
        del data["lifecycle"]
        checkpoints[0].write_text(json.dumps({**data, "key_reminders": [text]}), "utf-8")
        assert ground.one().reminders == (text,)
    else:
        steps, reason = ground.steps, "" if name == "active" else text or "x"
        try:
            if name == "advance":
                steps.set_status(PhaseStatus.COMPLETED)
            else:
                steps.set_status(PhaseStatus(name), reason=reason)
        except Refused:
            return


@pytest.mark.timeout(900)  # three examples of 300 cycles: some 2,000 commits
@pytest.mark.parametrize("cycles", [12, soaked(300)])
@settings(max_examples=3)
@given(data=st.data())
def test_cycles_lose_nothing(
    cycles: int, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Steps, edits, deletions and half files between compactions: each finds what the last one left."""
    root: Path = tmp_path_factory.mktemp("cycles")
    ground = WorkflowGround.made(root / "tree")
    phases = [
        WorkflowPhase(f"P{n}", reading=(f"@{n}.md",), reminders=(f"r{n}",)) for n in range(50)
    ]
    begun = ground.start(*phases, task="t", context={"n": 1}, reading=("@a.md",)).workflow
    for cycle in range(cycles):
        act(ground, data.draw(ACTS), data.draw(TEXTS))
        if not ground.store.read().unfinished:
            break  # every phase was advanced
        before = ground.one()
        ground.clock.offset += 10
        found, _ = observe(ground.store, Asker(f"session {cycle % 3}"))
        assert found.workflow is not None
        assert same(found.workflow) == same(before)
        assert ground.one() == found.workflow
        assert found.workflow.created_at == begun.created_at
        assert found.workflow.compactions == cycle + 1
        assert len([path for path in ground.checkpoints() if path.suffix == ".json"]) == 1
    shutil.rmtree(root)
