"""The page: tables, and charts that a browser draws without any network.

The charting library is an extra of its own (`agent-lifecycle[charts]`), since it is larger than all of
the product; what it draws with goes into the page.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lifecycle.core.errors import Refused
from lifecycle.views.stats import stats_words
from lifecycle.views.stats.charts import Chart, charts
from lifecycle.views.stats.summary import Summary

if TYPE_CHECKING:
    from jinja2 import Environment

MOST = 200
"""Tasks that are named, the newest."""

_SCRIPT = re.compile(r"</(?=script)", re.IGNORECASE)
"""What would end a script where it stands."""


def write(path: Path, summary: Summary, about: str) -> None:
    """Write the page.

    Args:
        path: the file; one that is there is replaced.
        summary: the numbers.
        about: what they are about, in words.

    Raises:
        Refused: the charting library is not installed; nothing was written.
        OSError: the file cannot be written.
    """
    path.write_text(render(summary, about), encoding="utf-8")


def render(summary: Summary, about: str) -> str:
    """The page as HTML; raises Refused if the charting library is not installed."""
    try:
        from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]  # has no types
    except ImportError:
        raise Refused(
            "The page's charts are drawn by plotly, which is not installed, so no page was written; "
            "install it beside the command with: pipx inject agent-lifecycle plotly (or leave out --html)."
        ) from None
    page = _templates().get_template("page.html")
    return page.render(
        summary=summary,
        about=about,
        drawn=[(chart, _markup(chart)) for chart in charts(summary)],
        library=_SCRIPT.sub(r"<\/", get_plotlyjs()),
        tables=(("Stages", summary.stages), ("Phases of a claim", summary.phases)),
        tasks=list(summary.tasks.items())[: -MOST - 1 : -1],
        groups=(("Labels", "label", summary.labels), ("Agents", "agent", summary.agents)),
    )


def _markup(chart: Chart) -> str:
    from plotly.io import to_html  # type: ignore[import-untyped]  # has no types

    markup = to_html(
        chart.figure,
        config={"displayModeBar": False, "responsive": True},
        include_plotlyjs=False,
        full_html=False,
        validate=False,
        default_height=f"{chart.figure['layout']['height']}px",
        div_id=chart.name,
    )
    return str(markup)


def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("lifecycle.views.stats", "templates")
    found = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        span=stats_words.span, part=stats_words.part, day=_day, many=stats_words.count
    )
    return found


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M")
