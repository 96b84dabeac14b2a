"""The bench of waiting judges what it measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.waits import WaitCost, judge_waits, wait_rows

if TYPE_CHECKING:
    from pathlib import Path


def test_waiting_that_grows_with_the_worktrees_is_found() -> None:
    """Fifty may cost what one costs, and no more."""
    assert judge_waits([WaitCost(1, 1.0, 1.0, 0.1), WaitCost(50, 2.0, 2.0, 0.2)]) == []
    (fault,) = judge_waits([WaitCost(1, 1.0, 1.0, 0.1), WaitCost(50, 50.0, 50.0, 0.2)])
    assert fault == "50 waiting worktrees take 50.0 requests in two minutes"


def test_waiting_is_measured(tmp_path: Path) -> None:
    """One request for two quiet minutes of three worktrees, which cost points."""
    (row,) = wait_rows(tmp_path, [3])
    assert (row.count, row.requests, row.points >= 1, row.seconds > 0) == (3, 1.0, True, True)
