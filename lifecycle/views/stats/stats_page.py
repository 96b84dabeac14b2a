"""The page of `lifecycle stats --html`: tables, and charts that a browser draws without any network.

The charting library is an extra of its own (`agent-lifecycle[charts]`), since it is larger than all of
the product; what it draws with goes into the page.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from lifecycle.core.errors import Refused
from lifecycle.core.messages import figures
from lifecycle.settings.resources import install_line, packaged, templates
from lifecycle.views.stats.summary import StatsRow, Summary

MOST = 200
"""The most tasks, labels and agents that are named (the newest), and flakes (the most frequent)."""

_SCRIPT = re.compile(r"</(?=script)", re.IGNORECASE)
"""The beginning of an end tag, which ends a script even inside a string."""


def render(summary: Summary, about: str) -> str:
    """The page as HTML; `about` describes its data. Refused if the charting library is not installed."""
    try:
        from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]  # has no types
    except ImportError:
        raise Refused(
            "The page's charts are drawn by plotly, which is not installed, so no page was written; "
            f"install it beside the command with: {install_line('add', 'plotly')} (or leave out --html)."
        ) from None
    pages = templates("views/stats/templates", part=figures.part, day=figures.minute)
    return pages.get_template("page.html").render(
        summary=summary,
        about=about,
        charts=charts(summary),
        library=_SCRIPT.sub(r"<\/", get_plotlyjs()),
        most=MOST,
    )


DARK, LIGHT, GOOD, BAD = "#2f6fdb", "#8fb4f0", "#2a9d78", "#e0703a"
"""Readable on white and on black, and distinct for people who cannot tell red from green."""

_UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
"""Units of a time axis, each used from twice its seconds on; the last also for less."""

_TICKS = 5
"""The approximate number of labels of a count axis."""

_BAR, _FRAME = 46, 120
"""Pixels for each bar's row, and for the frame."""


class Chart(NamedTuple):
    """One chart.

    Attributes:
        name: its id in the page.
        title: its heading.
        sentences: its content, for people who do not see it.
        bars, layout: what the library draws.
    """

    name: str
    title: str
    sentences: list[str]
    bars: list[dict[str, Any]]
    layout: dict[str, Any]


def charts(summary: Summary) -> tuple[Chart, ...]:
    """Every chart for which there are enough numbers."""
    drawn = [
        _times("stage-times", "Time in each stage", summary.stages),
        _attempts("stage-attempts", "Attempts in each stage", summary.stages),
        _times("phase-times", "Time in each phase of a claim", summary.phases),
        _done_chart(summary),
    ]
    return tuple(chart for chart in drawn if chart is not None)


def _times(name: str, title: str, rows: Sequence[StatsRow]) -> Chart | None:
    timed = [row for row in rows if row.times.count]
    if not timed:
        return None
    longest = max(row.times.p90 for row in timed)
    unit, called = next((row for row in _UNITS if longest >= 2 * row[0]), _UNITS[-1])
    parts = (
        ("half of the visits took at most", DARK, [row.times.median for row in timed]),
        ("nine of ten took at most", LIGHT, [row.times.p90 for row in timed]),
    )
    bars = [
        _bar(part, color, timed)
        | {"x": [round(value / unit, 3) for value in seconds]}
        | {"text": [figures.span(value) for value in seconds]}
        for part, color, seconds in parts
    ]
    sentences = [f"{row.name}: half took at most {figures.span(row.times.median)}" for row in timed]
    return Chart(name, title, sentences, bars, _layout(len(timed), called, barmode="group"))


def _bar(name: str, color: str, rows: Sequence[StatsRow]) -> dict[str, Any]:
    """A bar for each row, without its length."""
    bar = {"type": "bar", "orientation": "h", "textposition": "auto", "hoverinfo": "y+text+name"}
    return {**bar, "name": name, "marker": {"color": color}, "y": [row.name for row in rows]}


def _attempts(name: str, title: str, rows: Sequence[StatsRow]) -> Chart | None:
    tried = [row for row in rows if row.attempts]
    if not tried:
        return None
    parts = (
        ("led onward", GOOD, [row.passed for row in tried]),
        ("failed", BAD, [row.attempts - row.passed for row in tried]),
    )
    bars = [
        _bar(part, color, tried) | {"x": counts, "text": [str(count or "") for count in counts]}
        for part, color, counts in parts
    ]
    sentences = [f"{row.name}: {row.passed} of {row.attempts} led onward" for row in tried]
    return Chart(name, title, sentences, bars, _layout(len(tried), "attempts", barmode="stack"))


def _done_chart(summary: Summary) -> Chart | None:
    days = Counter(datetime.fromtimestamp(at, UTC).date() for at in summary.done.values())
    if not days:
        return None
    ordered = sorted(days)
    bars: dict[str, Any] = {
        "type": "bar",
        "x": [day.isoformat() for day in ordered],
        "y": [days[day] for day in ordered],
        "marker": {"color": DARK},
    }
    layout = _layout(4, "", barmode="group")
    layout["xaxis"] |= {"type": "date", "tickformat": "%d %b %Y", "nticks": 5}
    step = math.ceil(max(days.values()) / _TICKS)  # whole tasks, without duplicates
    layout["yaxis"] |= {"autorange": True, "rangemode": "tozero", "tickformat": "d", "dtick": step}
    if len(ordered) == 1:  # else the only bar is as wide as the page, and the axis counts hours
        layout["xaxis"] |= {"type": "category"}
        bars["width"] = 0.2
    sentences = [f"{day.isoformat()}: {days[day]}" for day in ordered]
    return Chart("tasks-done", "Tasks done each day (UTC)", sentences, [bars], layout)


def _layout(rows: int, unit: str, *, barmode: str) -> dict[str, Any]:
    """The look that all charts share; the page sets the colours of text and lines."""
    layout = json.loads(packaged("views/stats/templates/layout.json"))
    layout["xaxis"] = {"title": {"text": unit}, **layout["xaxis"]}
    return {"barmode": barmode, "height": rows * _BAR + _FRAME, **layout}
