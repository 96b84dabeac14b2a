"""The bench of waiting judges what it measures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.app.test_light_paths import LIBRARIES, OTHERS, SLOW
from tests.bench.waits import (
    WaitCost,
    WaiterHour,
    judge_hour,
    judge_waits,
    wait_rows,
    waiter_hour,
)

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


def test_a_waiter_that_holds_or_computes_too_much_is_found() -> None:
    """Memory counts against what any client of HTTPS holds, CPU by the hour, a poll against gh's."""
    fine = WaiterHour(22_000_000, 17_000_000, 2.9, 30, 0.12, frozenset())
    assert judge_hour(fine, 0.15) == judge_hour(fine) == []
    (holds,) = judge_hour(replace(fine, resident=24_000_000))
    (computes,) = judge_hour(replace(fine, seconds=3.5))
    assert holds == "a waiter holds 1.41 of what json, http.client and ssl do"
    assert judge_hour(fine, 0.11) == ["a poll takes a waiter 120 ms, and gh 110"]
    assert computes == "a waiter computes 3.5 s an hour"


@pytest.mark.started  # the process is what is tested
def test_a_quiet_waiter_rests_and_still_asks(tmp_path: Path) -> None:
    """An hour of waiting ends in the small process; it asked every two minutes, and looked now and then."""
    hour = waiter_hour(tmp_path)
    assert hour.rests
    assert 28 <= hour.requests <= 40
    assert {"http.client", "ssl"} <= hour.modules
    assert (
        hour.modules & (LIBRARIES | SLOW | {"click", "dataclasses", "sqlite3", "shutil"}) == set()
    )
    assert {name for name in hour.modules if name.startswith((*OTHERS, "lifecycle.claim"))} == set()
