"""A worktree with workflows in it: real files, a real git, and a clock that the test moves."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from lifecycle.core.timing import Deadline
from lifecycle.settings.persons import Presence
from lifecycle.workflow.state import (
    PassedGate,
    PhaseError,
    Workflow,
    WorkflowPhase,
)
from lifecycle.workflow.steps.workflow_steps import StepDone, WorkflowSteps
from lifecycle.workflow.store.document_files import CURRENT, VIEW
from lifecycle.workflow.store.workflow_store import WorkflowStore
from lifecycle.workflow.table import OVER, PhaseStatus
from lifecycle.workflow.whose import Asker
from tests.conftest import ManualClock

DESIGNS = Path(__file__).with_name("designs")
"""The example files of both designs, as they stand there."""

NOW = 1_795_000_000.0


@dataclass
class WorkflowGround:
    """One worktree; `presence` is who runs its commands, `asker` whose they are."""

    root: Path
    clock: ManualClock = field(default_factory=ManualClock)
    presence: Presence = field(default_factory=lambda: Presence(is_inside=True))
    asker: Asker = field(default_factory=Asker)

    @classmethod
    def made(cls, root: Path) -> WorkflowGround:
        """A worktree of a new repository."""
        root.mkdir(exist_ok=True)
        subprocess.run(["git", "init", "--quiet", root], check=True)
        return cls(root)

    @property
    def store(self) -> WorkflowStore:
        """Its workflows."""
        return WorkflowStore(self.root, {}, Deadline.after(self.clock, 60))

    @property
    def steps(self) -> WorkflowSteps:
        """Its steps."""
        return WorkflowSteps(self.store, self.asker, lambda: self.presence)

    def start(self, *phases: WorkflowPhase | str, name: str = "Feature X", **more: Any) -> StepDone:
        """Begin a workflow."""
        listed = (one if isinstance(one, WorkflowPhase) else WorkflowPhase(one) for one in phases)
        return self.steps.start(Workflow("", name, phases=tuple(listed), **more))

    def advance(self, phase: str = "", **more: Any) -> StepDone:
        """Complete a phase through its gate, and begin the next one."""
        return self.steps.set_status(PhaseStatus.COMPLETED, phase, **more)

    def one(self) -> Workflow:
        """The record of the one workflow that is unfinished."""
        (found,) = self.store.read().unfinished
        return found.workflow

    def checkpoints(self) -> list[Path]:
        """The checkpoints that there are."""
        return sorted(self.root.glob("untracked/workflow-state/*/*"))

    def document(self) -> Path:
        """Where `workflow.json` lies."""
        return self.root / CURRENT

    def view(self) -> str:
        """The Markdown view."""
        return (self.root / VIEW).read_text("utf-8")

    def write(self, path: str, content: str | bytes) -> Path:
        """Put a file there."""
        whole = self.root / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(content.encode() if isinstance(content, str) else content)
        return whole

    def edit(self, path: Path, **changes: Any) -> dict[str, Any]:
        """Change fields of a document by hand; what it says then."""
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
        data.update(changes)
        path.write_text(json.dumps(data, indent=4), "utf-8")
        return data

    def documents(self) -> dict[str, bytes]:
        """All files of workflows with their content, but for locks and marks."""
        folders = (".claude", "untracked")
        paths = [path for folder in folders for path in (self.root / folder).rglob("*")]
        files = (path for path in paths if path.is_file())
        return {str(path.relative_to(self.root)): path.read_bytes() for path in files}


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TIMES = st.sampled_from([0.0, NOW, NOW + 0.123456])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
EXTRA = st.dictionaries(TEXTS.map(lambda text: f"x{text}"), VALUES, max_size=2)
PATHS = st.lists(
    st.sampled_from(["@a.md", "@docs/b c.md", "@.claude/ü.md"]), unique=True, max_size=3
)
LISTS = st.lists(TEXTS, max_size=3).map(tuple)
PHASES = st.builds(
    WorkflowPhase,
    title=TEXTS,
    agent=TEXTS,
    status=st.sampled_from(PhaseStatus),
    deliverables=LISTS,
    context_for_next=TEXTS,
    reading=PATHS.map(tuple),
    reminders=LISTS,
    gate=st.sampled_from(["", "check:test", "file:a.txt", "person"]),
    reason=TEXTS,
    attempts=st.integers(0, 3),
    errors=st.lists(st.builds(PhaseError, at=TIMES, text=TEXTS), max_size=2).map(tuple),
    passed=st.none() | st.builds(PassedGate, at=TIMES, how=TEXTS),
    asked_at=TIMES,
    agent_id=TEXTS,
    since=TIMES,
    started_at=TIMES,
    ended_at=TIMES,
    extra=EXTRA,
)


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    """Any record that the product could have written."""
    phases = draw(st.lists(PHASES, min_size=1, max_size=5))
    left = [at for at, phase in enumerate(phases) if phase.status not in OVER]
    begun = any(phase.status is not PhaseStatus.PENDING for phase in phases)
    current = draw(st.sampled_from(left)) if left and begun else -1
    places = {"checkpoint": EXTRA, "checkpoint.phase": EXTRA, "document": EXTRA}
    extra = {name: values for name, made in places.items() if (values := draw(made))}
    return Workflow(
        "wf_20261118_120640",
        draw(TEXTS.map(lambda text: f"a{text}".strip())),
        type=draw(st.sampled_from(["custom", "qa-loop", "release"])),
        task=draw(TEXTS),
        phases=tuple(phases),
        current=current,
        reading=tuple(draw(PATHS)),
        context=draw(st.dictionaries(TEXTS, VALUES, max_size=3)),
        reminders=draw(LISTS),
        criteria=draw(LISTS),
        constraints=draw(LISTS),
        created_at=draw(st.sampled_from(["2025-12-09T14:30:52.123456Z", "yesterday"])),
        updated_at=draw(TIMES),
        session=draw(TEXTS),
        client=draw(st.integers(0, 9)),
        branch=draw(TEXTS),
        source=draw(st.sampled_from(["", "CLAUDE.local.md"])),
        is_foreign=draw(st.booleans()),
        compactions=draw(st.integers(0, 3)),
        revision=draw(st.integers(1, 9)),
        extra=extra,
    )
