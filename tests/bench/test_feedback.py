"""The bench of feedback judges what it measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.feedback import MOST, PACKET, AskedPath, feedback_rows, judge_feedback


def test_a_path_that_asks_more_than_it_may_is_found() -> None:
    """A packet costs one request and one for each log."""
    assert judge_feedback([AskedPath(PACKET, 4, 1)]) == []
    (fault,) = judge_feedback([AskedPath(PACKET, 5, 1)])
    assert fault == "the packet of 3 failed jobs takes 5 requests, and may take 4"


@pytest.mark.soak(
    "bench/test_feedback.py::test_a_path_that_asks_more_than_it_may_is_found",
    "github/test_check_reports.py::test_a_log_costs_one_request_and_its_storage_sees_no_token",
)
def test_each_path_is_measured_and_keeps_to_its_requests(tmp_path: Path) -> None:
    """By its command, on a GitHub of its own."""
    rows = feedback_rows(tmp_path)
    assert [row.name for row in rows] == [*MOST]
    assert judge_feedback(rows) == []
    assert all(row.requests for row in rows)
