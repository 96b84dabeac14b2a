"""The bench of logs judges what it measures."""

from __future__ import annotations

from tests.bench.job_logs import LogCost, judge_logs, log_rows


def test_memory_that_grows_with_a_log_is_found() -> None:
    """A log ten times as long may take ten times as long, and no more memory."""
    small = LogCost(5, 1.0, 30_000)
    assert judge_logs([small, LogCost(50, 10.0, 33_000)]) == []
    (fault,) = judge_logs([small, LogCost(50, 10.0, 60_000)])
    assert "50 MB is 2.00" in fault


def test_a_log_is_measured() -> None:
    """Each size in a process of its own, which took time and memory."""
    (row,) = log_rows([1])
    assert (row.size, row.seconds > 0, row.memory > 0) == (1, True, True)
