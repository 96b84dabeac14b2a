"""Hooks of a workflow, killed before each thing that others could see of them: nothing is lost.

A hook that is killed counts as one that said nothing: the client drops what it printed. After each kill the
session goes on with hooks that nobody kills.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lifecycle.workflow.documents.workflow_documents import view_of
from tests.conftest import Place
from tests.e2e.client import SECONDS, Session
from tests.e2e.killer import KILL_AT, KILL_NOTE
from tests.e2e.test_workflow_hooks import (
    ONE,
    VIEW,
    begin,
    compact,
    launched,
    now_is,
    other,
)
from tests.repeated import soaked

FOLDERS = (".lifecycle", ".claude", "untracked")
TOLD = 'Workflow "User auth", phase 1/3'


@pytest.fixture
def session(place: Place) -> Session:
    """A session in a worktree without a board, with a workflow whose first phase an agent works on."""
    session = Session(place, ONE, {"LIFECYCLE_PROJECT_NUMBER": ""})
    begin(session)
    launched(session, "designer", "phase_0", "a1")
    return session


def kills(session: Session, folder: Path, hook: str, event: str, **more: Any) -> Iterator[str]:
    """Kill the hook before each of its moments, from the same files each time; that moment's name."""
    root, note = session.place.root, folder / "note"
    for name in FOLDERS:
        shutil.copytree(root / name, folder / name, symlinks=True)
    for number in range(1, 60):
        for name in FOLDERS:
            shutil.rmtree(root / name)
            shutil.copytree(folder / name, root / name, symlinks=True)
        note.unlink(missing_ok=True)
        staged = other(session, ONE, **{KILL_AT: str(number), KILL_NOTE: str(note)})
        process = staged.launch(hook, event, **more)
        process.communicate(timeout=SECONDS)
        moments = note.read_text().splitlines()
        assert len(moments) == number
        yield moments[-1]
        if moments[-1] == "end":
            return
    raise AssertionError(f"{hook} has no end")


@pytest.mark.parametrize("is_prepared", [True, False], ids=["prepared", "anew"])
def test_a_start_that_is_killed_is_made_good_by_the_next_prompt(
    session: Session, tmp_path: Path, is_prepared: bool
) -> None:
    """Until its text was printed the next prompt brings it, once; after its end nothing is said twice."""
    compact(session)
    if not is_prepared:
        (session.place.root / ".lifecycle/recovery.json").unlink()
    before, seen = now_is(session).phases, []
    for moment in kills(session, tmp_path, "session-start", "SessionStart", source="compact"):
        seen.append(moment)
        told = session.prompt().model
        if "print" not in seen[:-1]:
            assert TOLD in told, seen
        assert (TOLD in told) or "print" in seen[:-1]
        assert moment != "end" or told == ""
        assert session.prompt().is_silent, seen
        assert now_is(session).phases == before
        seen = seen if moment == "end" else [*seen]
    assert "print" in seen


@pytest.mark.parametrize(
    "is_prepared", [pytest.param(True, id="prepared"), soaked(False, id="anew")]
)
def test_a_compaction_that_is_killed_costs_the_start_after_it_nothing(
    session: Session, tmp_path: Path, is_prepared: bool
) -> None:
    """The start tells all, whatever the compaction came to, and its prompt nothing more."""
    if not is_prepared:
        (session.place.root / ".lifecycle/recovery.json").unlink()
    before = now_is(session).phases
    moments = []
    for moment in kills(session, tmp_path, "pre-compact", "PreCompact", trigger="auto"):
        moments.append(moment)
        assert TOLD in session.start("compact").model, moments
        assert session.prompt().is_silent
        assert now_is(session).phases == before
    assert "print" in moments


def test_an_agents_end_that_is_killed_leaves_the_old_phase_or_the_new_one(
    session: Session, tmp_path: Path
) -> None:
    """Documents and view are whole and in step after the next start, which tells what is so."""
    event = {"agent_id": "a1", "agent_type": "designer", "agent_transcript_path": "/none"}
    seen = set()
    for _ in kills(session, tmp_path, "workflow-agent", "SubagentStop", **event):
        told = session.start("compact").model
        workflow = now_is(session)
        status = workflow.phases[0].status.value
        seen.add(status)
        number = 1 if status == "active" else 2
        assert f'Workflow "User auth", phase {number}/3' in told
        assert (session.place.root / VIEW).read_text() == view_of(workflow)
        (checkpoint,) = (session.place.root / "untracked/workflow-state").glob("*/*.json")
        assert not list(checkpoint.parent.glob("*.tmp"))
    assert seen == {"active", "completed"}
