"""The workflow of a worktree in its overview, and what of it waits for a person."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle.storage.store import CLAIM_FILE
from lifecycle.views.overview.overview_reading import overview, watched
from lifecycle.workflow.state import WorkflowPhase
from lifecycle.workflow.table import PhaseStatus
from tests.factories import EXAMPLE
from tests.views.overview.overview_ground import OverviewGround


def test_a_workflow_with_its_phases(ground: OverviewGround) -> None:
    """Name, phase x of y, each phase with its status and agent, and what has to be read."""
    ground.workflow()
    seen = ground.seen().workflow
    assert seen is not None
    assert (seen.name, seen.status, seen.current, len(seen.phases)) == ("bug-hunt", "active", 2, 3)
    assert [(one.title, one.status) for one in seen.phases] == [
        ("Look", "completed"),
        ("Mend", "active"),
        ("Check", "pending"),
    ]
    assert (seen.phases[1].agent, seen.reading, seen.others) == ("coder", ("@README.md",), ())


def test_the_current_one_is_shown_and_the_others_are_named(ground: OverviewGround) -> None:
    """One that is over is neither."""
    over = (WorkflowPhase("Done", status=PhaseStatus.COMPLETED),)
    for name in ("first", "second"):
        ground.workflow(name=name)
    ground.workflow(name="third", phases=over, current=-1)
    seen = ground.seen().workflow
    assert seen is not None
    assert (seen.name, seen.others) == ("second", ("first",))


def test_a_session_is_shown_its_own(ground: OverviewGround) -> None:
    """By the one rule of whose a workflow is; a person at a terminal gets the one that changed last."""
    ground.workflow(name="mine", session="session-1")
    ground.workflow(name="another", session="session-2")
    client = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "session-1"}
    mine = overview(ground.root, {**ground.environment, **client}, ground.deadline).workflow
    assert mine is not None
    assert (mine.name, mine.others) == ("mine", ("another",))
    persons = ground.seen().workflow
    assert persons is not None
    assert persons.name == "another"


@pytest.mark.parametrize(
    ("phase", "what", "where"),
    [
        (
            WorkflowPhase("Mend", status=PhaseStatus.ACTIVE, gate="person", asked_at=70.0),
            "Phase 1, Mend, waits for a person's yes",
            "lifecycle workflow advance",
        ),
        (
            WorkflowPhase("Mend", status=PhaseStatus.BLOCKED, reason="no key", since=70.0),
            "Phase 1, Mend, is blocked: no key",
            "lifecycle workflow show",
        ),
        (
            WorkflowPhase("Mend", status=PhaseStatus.FAILED, reason="no luck", since=70.0),
            "Phase 1, Mend, failed: no luck",
            "lifecycle workflow retry",
        ),
    ],
)
def test_a_phase_that_goes_on_only_with_a_person(
    ground: OverviewGround, phase: WorkflowPhase, what: str, where: str
) -> None:
    """It is said what it waits for, since when, and with which command it goes on."""
    ground.workflow(phases=(phase,), current=0)
    (awaited,) = ground.seen().awaited
    assert (awaited.part, awaited.what, awaited.since, awaited.where) == (
        "workflow",
        what,
        70.0,
        where,
    )


def test_a_document_that_cannot_be_read_is_told(ground: OverviewGround) -> None:
    """The rest of the overview is shown, and the file is kept."""
    ground.everything()
    path = ground.root / ".claude/state/workflow.json"
    path.parent.mkdir()
    path.write_text("{")
    seen = ground.seen()
    assert seen.workflow is None
    assert "workflow.json" in seen.troubles["workflow"]
    assert seen.claim is not None
    assert path.read_text() == "{"


def test_its_documents_are_watched(ground: OverviewGround) -> None:
    """Both of them, so that a change of either is seen."""
    ground.workflow()
    named = {str(path.relative_to(ground.root)) for path in watched(ground.root)}
    assert ".claude/state/workflow.json" in named
    assert "untracked/workflow-state/bug-hunt" in named


def test_without_one_nothing_of_it_is_imported(tmp_path: Path) -> None:
    """A claim alone pays for no workflow and no run."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / CLAIM_FILE).write_text(json.dumps(EXAMPLE))
    program = (
        "import sys; sys.argv = ['lifecycle', 'status']\n"
        "from lifecycle.__main__ import main\nassert main() == 0\n"
        "print(*(name for name in sys.modules if name.startswith('lifecycle.')), 'msgspec' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = done.stdout.splitlines()[-1].split()
    assert loaded.pop() == "False"
    assert "lifecycle.views.overview.overview_reading" in loaded
    for room in ("run", "workflow", "stages", "github", "hooks"):
        assert not [name for name in loaded if name.startswith(f"lifecycle.{room}.")], room
    assert "rich" not in loaded
