"""The tables of a workflow, and what a move makes of its record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.errors import IllegalMove, Refused
from lifecycle.workflow import state, table
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.table import PhaseStatus, WorkflowStatus

NOW = 1_795_000_000.0


def workflow(*statuses: PhaseStatus, current: int = 0) -> Workflow:
    """A workflow whose phases have these statuses."""
    phases = [WorkflowPhase(f"Phase {n}", status=status) for n, status in enumerate(statuses)]
    return Workflow("wf_20261123_100000", "QA", phases=tuple(phases), current=current)


def test_every_status_has_its_words() -> None:
    """Each status has a word in both documents, and each word that they know is read as a status."""
    assert set(table.WORDS) == set(PhaseStatus) == set(table.PHASES.table)
    assert [*map(str, WorkflowStatus)] == ["pending", "active", "completed", "failed"]
    assert table.PHASES.name == "phase"
    assert {words.checkpoint for words in table.WORDS.values()} == set(table.FROM_CHECKPOINT)
    assert {words.document for words in table.WORDS.values()} == set(table.FROM_DOCUMENT)
    for word, status in table.FROM_CHECKPOINT.items():
        assert table.WORDS[status].checkpoint == word
    for word, status in table.FROM_DOCUMENT.items():
        assert table.WORDS[status].document == word


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], WorkflowStatus.PENDING),
        (["pending", "pending"], WorkflowStatus.PENDING),
        (["active", "pending"], WorkflowStatus.ACTIVE),
        (["completed", "pending"], WorkflowStatus.ACTIVE),
        (["completed", "blocked"], WorkflowStatus.ACTIVE),
        (["completed", "failed"], WorkflowStatus.FAILED),
        (["failed", "active"], WorkflowStatus.ACTIVE),
        (["completed", "skipped"], WorkflowStatus.COMPLETED),
    ],
)
def test_a_workflow_is_what_its_phases_are(statuses: list[str], expected: WorkflowStatus) -> None:
    """Its status follows from theirs alone."""
    assert workflow(*map(PhaseStatus, statuses)).status is expected


@given(st.data())
def test_a_move_is_made_or_refused_with_the_legal_ones(data: st.DataObject) -> None:
    """What the table lacks is refused and names what it has; what it has is made, and the pointer fits."""
    statuses = data.draw(st.lists(st.sampled_from(PhaseStatus), min_size=1, max_size=6))
    index = data.draw(st.integers(0, len(statuses) - 1))
    wanted = data.draw(st.sampled_from(PhaseStatus))
    before = workflow(*statuses, current=index)
    legal = table.PHASES.legal(statuses[index])
    if wanted not in legal:
        with pytest.raises(IllegalMove, match=" or ".join(legal[-1:]) or "is the end"):
            state.moved(before, index, wanted, NOW, "why")
        return
    after = state.moved(before, index, wanted, NOW, "why")
    assert after.phases[index].status is wanted
    assert [p for n, p in enumerate(after.phases) if n != index] == [
        p for n, p in enumerate(before.phases) if n != index
    ]
    assert after.phase is None if after.is_over else after.phase is not None
    if wanted in table.OVER and after.phase is not None:
        assert after.phase.status not in table.OVER


def test_attempts_errors_and_times_are_kept() -> None:
    """A phase that fails and is tried again keeps when it began, what went wrong, and how often."""
    tried = state.moved(workflow(PhaseStatus.PENDING), 0, PhaseStatus.ACTIVE, NOW)
    failed = state.moved(tried, 0, PhaseStatus.FAILED, NOW + 5, "no network")
    again = state.moved(failed, 0, PhaseStatus.ACTIVE, NOW + 9)
    done = state.moved(again, 0, PhaseStatus.COMPLETED, NOW + 20).phases[0]
    assert [error.text for error in done.errors] == ["no network"]
    assert (done.attempts, done.started_at, done.ended_at) == (2, NOW, NOW + 20)
    assert done.reason == ""


@pytest.mark.parametrize(
    ("name", "index"), [("", 0), ("phase_1", 1), ("1", 0), ("2", 1), ("phase 1", 1)]
)
def test_a_phase_is_named_by_id_number_or_title(name: str, index: int) -> None:
    """`phase_N` counts from 0, a number from 1; none is the current one."""
    assert workflow(PhaseStatus.ACTIVE, PhaseStatus.PENDING).index_of(name) == index


def test_a_phase_that_is_not_there_is_refused_with_those_that_are() -> None:
    """The sentence lists the phases, and says that nothing was changed."""
    with pytest.raises(Refused, match='no phase "9", so nothing was changed; it has 1 Phase 0'):
        workflow(PhaseStatus.ACTIVE).index_of("9")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Feature Implementation (User Auth)", "feature-implementation-user-auth"),
        ("../../etc/passwd", "etc-passwd"),
        ("QA_Loop", "qa-loop"),
        ("Übersicht 2", "übersicht-2"),
        ("a" * 200, "a" * 80),
    ],
)
def test_a_name_makes_a_file_name(name: str, expected: str) -> None:
    """Small letters, digits and hyphens; nothing that leads out of a folder."""
    assert state.slug(name) == expected


def test_a_name_of_signs_alone_is_refused() -> None:
    """Nothing could be named for it."""
    with pytest.raises(Refused, match="no letter or digit"):
        state.slug("--- ***")


def test_the_to_do_list_is_the_designs() -> None:
    """Content, status and activeForm for each phase, in order."""
    assert state.todos(workflow(*PhaseStatus))[:3] == [
        {"content": "Phase 0", "status": "pending", "activeForm": "Working on Phase 0"},
        {"content": "Phase 1", "status": "in_progress", "activeForm": "Working on Phase 1"},
        {"content": "Phase 2", "status": "in_progress", "activeForm": "Working on Phase 2"},
    ]
