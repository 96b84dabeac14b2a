"""The charts of the page, as the charting library reads them. Pure; nothing of a stranger's is in them.

Source: https://plotly.com/python/reference/ (figures are plain dictionaries)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lifecycle.views.stats import stats_words
from lifecycle.views.stats.summary import StatsRow, Summary

DARK, LIGHT, GOOD, BAD = "#2f6fdb", "#8fb4f0", "#2a9d78", "#e0703a"
"""Readable on white and on black, and apart for those who see no red or green."""

_UNITS = ((172_800.0, 86_400.0, "days"), (7_200.0, 3_600.0, "hours"), (120.0, 60.0, "minutes"))
"""From so many seconds on the axis is in units of so many, called so."""

_TICKS = 5
"""About so many numbers stand beside an axis of counts."""

_BAR, _FRAME = 46, 120
"""Pixels for each bar's row, and for what is around."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart.

    Attributes:
        name: its id in the page.
        title: what a person reads above it.
        alt: what it shows, for who does not see it.
        figure: for the library.
    """

    name: str
    title: str
    alt: str
    figure: dict[str, Any]


def charts(summary: Summary) -> tuple[Chart, ...]:
    """Every chart that the numbers are enough for."""
    found = [
        _times("stage-times", "Time in each stage", summary.stages),
        _attempts("stage-attempts", "Attempts in each stage", summary.stages),
        _times("phase-times", "Time in each phase of a claim", summary.phases),
        _done(summary),
    ]
    return tuple(chart for chart in found if chart is not None)


def _times(name: str, title: str, rows: Sequence[StatsRow]) -> Chart | None:
    timed = [row for row in rows if row.times.count]
    if not timed:
        return None
    longest = max(row.times.p90 for row in timed)
    unit, called = next(
        ((s, word) for most, s, word in _UNITS if longest >= most), (1.0, "seconds")
    )
    bars = [
        _bar(
            "half of the visits took at most",
            DARK,
            timed,
            [row.times.median for row in timed],
            unit,
        ),
        _bar("nine of ten took at most", LIGHT, timed, [row.times.p90 for row in timed], unit),
    ]
    said = (f"{row.name}: half took at most {stats_words.span(row.times.median)}" for row in timed)
    layout = _layout(len(timed), called, barmode="group")
    return Chart(name, title, f"{title}. {'; '.join(said)}.", {"data": bars, "layout": layout})


def _bar(
    name: str, color: str, rows: Sequence[StatsRow], seconds: Sequence[float], unit: float
) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": [row.name for row in rows],
        "x": [round(one / unit, 3) for one in seconds],
        "text": [stats_words.span(one) for one in seconds],
        "textposition": "auto",
        "hovertemplate": f"%{{y}}: {name} %{{text}}<extra></extra>",
        "marker": {"color": color},
    }


def _attempts(name: str, title: str, rows: Sequence[StatsRow]) -> Chart | None:
    tried = [row for row in rows if row.attempts]
    if not tried:
        return None
    parts = [
        ("led onward", GOOD, [row.passed for row in tried]),
        ("failed", BAD, [row.attempts - row.passed for row in tried]),
    ]
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": part,
            "y": [row.name for row in tried],
            "x": counts,
            "text": [str(count or "") for count in counts],
            "hovertemplate": f"%{{y}}: %{{x}} {part}<extra></extra>",
            "marker": {"color": color},
        }
        for part, color, counts in parts
    ]
    said = (f"{row.name}: {row.passed} of {row.attempts} led onward" for row in tried)
    layout = _layout(len(tried), "attempts", barmode="stack")
    return Chart(name, title, f"{title}. {'; '.join(said)}.", {"data": bars, "layout": layout})


def _done(summary: Summary) -> Chart | None:
    days = Counter(datetime.fromtimestamp(at, UTC).date() for at in summary.done.values())
    if not days:
        return None
    ordered = sorted(days)
    bars: dict[str, Any] = {
        "type": "bar",
        "x": [day.isoformat() for day in ordered],
        "y": [days[day] for day in ordered],
        "hovertemplate": "%{x}: %{y}<extra></extra>",
        "marker": {"color": DARK},
    }
    layout = _layout(4, "", barmode="group")
    layout["xaxis"] |= {"type": "date", "tickformat": "%d %b %Y", "nticks": 5}
    step = math.ceil(max(days.values()) / _TICKS)  # whole tasks, and none twice
    layout["yaxis"] |= {"autorange": True, "rangemode": "tozero", "tickformat": "d", "dtick": step}
    if len(ordered) == 1:  # else the one bar is as wide as the page, and the axis counts hours
        layout["xaxis"] |= {"type": "category"}
        bars["width"] = 0.2
    title = "Tasks done each day"
    said = "; ".join(f"{day.isoformat()}: {days[day]}" for day in ordered)
    return Chart("tasks-done", title, f"{title} (UTC). {said}.", {"data": [bars], "layout": layout})


def _layout(rows: int, unit: str, *, barmode: str) -> dict[str, Any]:
    """The look that all charts share; colors of text and lines are the page's, and set there."""
    return {
        "barmode": barmode,
        "height": rows * _BAR + _FRAME,
        "margin": {"l": 8, "r": 8, "t": 36, "b": 40},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "dragmode": False,
        "xaxis": {
            "title": {"text": unit},
            "automargin": True,
            "fixedrange": True,
            "rangemode": "tozero",
        },
        "yaxis": {"automargin": True, "fixedrange": True, "autorange": "reversed"},
    }
