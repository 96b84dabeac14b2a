"""States that releases wrote stay readable: a file here is never changed, others come beside it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from lifecycle.run import run_store, state
from lifecycle.run.table import CheckState, CriterionState, Gate, RunStatus, StoryCheck, TddPhase

RECORDED = Path(__file__).with_name("recorded")

DIGESTS = {
    "workflow-state-1.json": "2ab67dd5d87100000c05d59beef5dadbff38f4c0ff13496c07a52bf1252c26b1",
}
"""What each recorded file holds, so that nobody renews one."""


@pytest.mark.parametrize("name", DIGESTS)
def test_a_recorded_state_is_read_and_kept(name: str) -> None:
    """It is what it was, and what is written of it is read as the same run."""
    content = (RECORDED / name).read_bytes()
    assert hashlib.sha256(content).hexdigest() == DIGESTS[name]
    run = run_store.decoded(content)
    assert run_store.decoded(state.encoded(run)) == run


def test_every_version_has_a_recorded_state() -> None:
    """A release that raises the version records one."""
    versions = {json.loads((RECORDED / name).read_bytes())["version"] for name in DIGESTS}
    assert versions == set(range(1, state.VERSION + 1))
    assert {path.name for path in RECORDED.iterdir()} == set(DIGESTS)


def test_version_1_means_what_it_meant() -> None:
    """One value of each kind of record."""
    run = run_store.decoded((RECORDED / "workflow-state-1.json").read_bytes())
    first, second = run.stories[:2]
    assert (run.id, run.status, run.session) == ("abc12345", RunStatus.AWAITING_USER, "two")
    assert run.fix is not None
    assert (run.fix.blocker, run.fix.check_command) == ("B2", ("dotnet", "build"))
    assert [blocker.id for blocker in run.standing_blockers] == ["B2"]
    assert [record.gate for record in run.gates] == [Gate.G1, Gate.G7]
    assert run.gates[1].parts[0].state is CheckState.FAIL
    assert run.checkpoints[0].story == "S1"
    assert run.clarifications[0].answer == "Stripe"
    assert first.reviews[0].check is StoryCheck.REVIEW_APPROVED
    assert (second.tdd, second.criteria[1].state) == (TddPhase.GREEN, CriterionState.MANUAL)
    assert second.dependencies is not None
    assert second.dependencies[0].type == "payment"
    assert second.green is not None
    assert second.green.tests == ("tests/test_pay.py::test_kept",)
    assert second.words[0]["details"] == "85%"
    assert run.stories[3].waived == "documentation"
