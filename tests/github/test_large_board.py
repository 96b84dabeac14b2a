"""One repository on a large board of others: its own issues are read, and not every card."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lifecycle.reconcile.scope import Policy
from tests.reconcile.conftest import Make, make
from tests.reconcile.ground import HOME, Given, numbered, scope_of, states

__all__ = ["make"]

THEIRS = "octo-org/theirs"
CARDS = 400


def theirs(count: int) -> list[Given]:
    """So many cards of another repository, whose issues nobody has."""
    free = Given(repository=THEIRS, leased_by="", assignees=(), agent="", status="Todo")
    return numbered([free] * count)


def test_a_repository_on_a_large_board_costs_its_own_pages(make: Make) -> None:
    """One page shows how large the board is; then the repository's issues are read, 100 a request."""
    own = numbered([Given()] * 119)
    closed = replace(
        Given(number=200, leased_by="", pull="merged", taken=900.0, set_at=800.0),
        is_open=False,
        closed=13 * 24.0,
    )
    older = replace(closed, number=201, closed=15 * 24.0)
    one = make(*theirs(CARDS), *own, closed, older)
    report = one.run(Policy(), dry_run=True)
    asked = [request.operation for request in one.control.requests()]
    assert report.requests == len(asked)
    assert asked.count("SurveyCards") == 1
    assert len(asked) <= 1.3 * (1 + 2 + 2), asked  # more than 100 leases, and than 100 issues
    assert report.tasks == 120
    assert [(f.issue, f.kind) for f in report.findings] == [(200, "closed-on-board")]
    (note,) = report.notes
    assert f"{CARDS + 121} cards" in note
    assert "14 days" in note


@pytest.mark.parametrize("is_owner", [False, True], ids=["repository", "owner"])
def test_what_is_found_there_is_repaired(make: Make, *, is_owner: bool) -> None:
    """A handful of tasks: three requests to read them, or the whole board for the owner's own run."""
    one = make(
        *theirs(CARDS),
        Given(number=1, agent=""),
        Given(number=2, leased_by="", agent="", is_open=False, closed=48.0, set_at=60.0),
    )
    report = one.run(scope=scope_of(owner="octo-org") if is_owner else None)
    assert [(f.repository, f.issue, f.state.value) for f in report.findings] == [
        (HOME, 1, "applied"),
        (HOME, 2, "applied"),
    ]
    asked = [request.operation for request in one.control.requests()]
    read = [name for name in asked if name and name.startswith("Survey")]
    assert len(read) <= 1.3 * (1 + (5 if is_owner else 2))
    assert bool(report.notes) != is_owner
    one.clear()
    assert one.run().findings == ()
    assert one.written() == []


def test_a_board_that_is_mostly_the_repositories_own_is_read_whole(make: Make) -> None:
    """What is claimed in the repositories says how many cards are worth reading: then nothing is missed."""
    own = numbered([Given()] * 120)
    old = replace(Given(number=500, leased_by=""), is_open=False, closed=30 * 24.0, taken=900.0)
    one = make(*theirs(200), *own, replace(old, set_at=899.0))
    report = one.run(Policy(), dry_run=True)
    assert report.notes == ()
    assert states(report) == {"closed-on-board": "planned"}
