"""Counts, times and parts as a person reads them."""

from __future__ import annotations

import pytest

from lifecycle.core.errors import Refused
from lifecycle.core.messages import figures

NOW = 1_800_000_000.0
MINUTE, HOUR = 60.0, 3_600.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (90, "2 min"),
        (3_569, "59 min"),
        (3_599, "1.0 h"),
        (5_400, "1.5 h"),
        (24 * HOUR, "1.0 d"),
        (26 * HOUR, "1.1 d"),
    ],
)
def test_spans_are_read_at_a_glance(seconds: float, text: str) -> None:
    """A length of time in its largest unit."""
    assert figures.span(seconds) == text


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1m", NOW - MINUTE),
        ("90m", NOW - 90 * MINUTE),
        ("24h", NOW - 24 * HOUR),
        ("7d", NOW - 7 * 24 * HOUR),
        (" 2w ", NOW - 14 * 24 * HOUR),
        ("100000d", NOW - 100_000 * 24 * HOUR),
        ("2026-01-31", 1_769_817_600.0),
        ("2026-01-31T12:00:00Z", 1_769_860_800.0),
    ],
)
def test_periods_and_dates(text: str, moment: float) -> None:
    """A number with a unit counts back from now; a date is the moment itself."""
    assert figures.moment(text, NOW) == moment


@pytest.mark.parametrize(
    "text", ["", "7", "d", "0d", "7y", "-7d", "100001d", "9999999d", "soon", "2026-99-99", "7 d"]
)
def test_what_is_no_period_is_refused(text: str) -> None:
    """One sentence says what was not understood and what would be."""
    with pytest.raises(Refused, match="is no period, so nothing was counted"):
        figures.moment(text, NOW)


def test_a_part_and_a_count() -> None:
    """There is no part of nothing; one of a thing is one, and thousands are set apart."""
    assert (figures.part(None), figures.part(0.255)) == ("-", "26 %")
    assert [figures.part(value) for value in (0, 0.001, 0.999, 1)] == [
        "0 %",
        "1 %",
        "99 %",
        "100 %",
    ]
    assert [
        figures.count(1, "entry", "entries"),
        figures.count(0, "entry", "entries"),
        figures.count(1, "task"),
        figures.count(1200, "task"),
    ] == ["1 entry", "0 entries", "1 task", "1,200 tasks"]


def test_a_moment_is_read_to_the_minute() -> None:
    """In UTC, without a zone that nobody asked for."""
    assert figures.minute(1_769_846_745.9) == "2026-01-31 08:05"
