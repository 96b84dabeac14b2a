"""The page of all worktrees: first what waits for a person, then who holds what and its state.

Jinja2 escapes all values, since titles, names and paths are anybody's. Times are passed as moments: the
page's script updates ages, and without it they are as of the moment at which the page was made.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lifecycle.core.light_dataclass import replace
from lifecycle.core.timing import parse_time, render_time
from lifecycle.settings.resources import templates
from lifecycle.views.overview.overview_values import Overview, OverviewEvent
from lifecycle.views.overview.overview_words import STANDINGS
from lifecycle.views.web.all_worktrees import AllOverviews, digest, is_in_use

ASSETS = {"watch.css": "text/css", "watch.js": "text/javascript"}
"""The files that the page loads: name and type."""

EVENTS = 12
"""Journal entries that are shown, the newest."""

OWN_EVENTS = 3
"""The most of these on the card of their task."""


class PageCard:
    """One worktree that is in use.

    Attributes:
        key: an id for the page's script, which does not change.
        overview: the worktree's overview.
        heading: its subject.
        clone, place: the clone's name, and the worktree's path as a person writes it.
        events: the newest journal entries about its task.
    """

    def __init__(self, overview: Overview, home: str) -> None:
        self.overview = overview
        self.key = f"at-{digest(overview.worktree.root)[:12]}"
        self.clone, self.place = _clone(overview), _place(overview, home)
        claim, run = overview.claim, overview.run
        workflow, stage = overview.workflow, overview.stage
        headings = (
            claim and f"#{claim.issue} {claim.title}".rstrip(),
            run and run.goal,
            workflow and (workflow.name or workflow.task),
            stage and stage.task,
        )
        # The first existing part, even if it has no name.
        self.heading = next((text for text in headings if text is not None), "") or self.place
        events = [event for event in overview.events if event.task in overview.tasks]
        self.events = events[: -OWN_EVENTS - 1 : -1]

    @property
    def is_over(self) -> bool:
        """True if nothing is in progress there, and it waits for nobody."""
        overview = self.overview
        is_run_over = overview.run is None or overview.run.status == "completed"
        is_stage_over = overview.stage is None or overview.stage.is_over or overview.stage.is_off
        is_rest_over = not is_in_use(replace(overview, run=None, stage=None))
        return is_run_over and is_stage_over and is_rest_over


def render(name: str, world: AllOverviews, environment: Mapping[str, str]) -> str:
    """The page (`watch.html`) or its changing part (`live.html`)."""
    pages = templates("views/web/templates", clock=clock_time, quoted=shlex.quote)
    return pages.get_template(name).render(values(world, environment))


def values(world: AllOverviews, environment: Mapping[str, str]) -> dict[str, Any]:
    """The values that the templates draw, by name."""
    home = environment.get("HOME", "")
    cards = [PageCard(overview, home) for overview in world.overviews if is_in_use(overview)]
    cards.sort(key=lambda card: _order(card, world.at))
    idle = [overview for overview in world.overviews if not is_in_use(overview)]
    awaited = [(card, *pair) for card in cards for pair in enumerate(card.overview.awaited)]
    # An item without a known time comes last: the others have a reason to be first.
    awaited.sort(key=lambda row: row[2].since or world.at)
    return {
        "world": world,
        "cards": [card for card in cards if not card.is_over],
        "over": [card for card in cards if card.is_over],
        "awaited": awaited,
        "idle": [(_place(overview, home), overview.worktree.branch) for overview in idle],
        "events": _latest(world.overviews),
        "standings": STANDINGS,
    }


def _order(card: PageCard, now: float) -> tuple[int, float, str, str]:
    """The sort key of cards: the longest wait comes first, the others by clone and place."""
    awaited = card.overview.awaited
    since = min((wait.since or now for wait in awaited), default=0.0)
    return (0 if awaited else 1, since, card.clone, card.place)


def _latest(overviews: tuple[Overview, ...]) -> list[tuple[str, OverviewEvent]]:
    """The newest entries of all journals, each with its clone: a clone's worktrees share a journal."""
    journals: dict[str, dict[OverviewEvent, str]] = {}
    for overview in overviews:
        names = dict.fromkeys(reversed(overview.events), _clone(overview))
        journals.setdefault(overview.worktree.clone, {}).update(names)
    entries = [(name, event) for events in journals.values() for event, name in events.items()]
    return sorted(entries, key=lambda entry: -entry[1].at)[:EVENTS]


def _clone(overview: Overview) -> str:
    """The clone's name for a person: the name of its main folder."""
    path = Path(overview.worktree.clone)
    return (path.parent if path.name == ".git" else path).name.removesuffix(".git")


def _place(overview: Overview, home: str) -> str:
    root = overview.worktree.root
    return f"~{root.removeprefix(home)}" if home and root.startswith(f"{home}/") else root


def clock_time(at: float, now: float) -> str:
    """A moment on this machine's clock: `14:05`, on another day `Mon 23 Nov 14:05`."""
    # Through text: a number in an edited file may be no moment, or one in milliseconds.
    moment, today = (time.localtime(parse_time(render_time(each))) for each in (at, now))
    return time.strftime("%H:%M" if moment[:3] == today[:3] else "%a %d %b %H:%M", moment)
