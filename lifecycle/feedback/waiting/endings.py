"""What ends a wait for a pull request, and with which exit status. Pure.

What is told has a key, whose first word is the event: `EVENTS` says what of it ends which wait. What was
told before is no news, and may end a wait all the same: `standing_ends` says which states leave nothing to
wait for. Whoever makes another event adds its row to `endings.toml`; one that is for an agent and has
none needs somebody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.values.checks import Verdict
from lifecycle.settings import resources


class WaitFor(StrEnum):
    """The thing that a waiter waits for."""

    CI = "ci"
    REVIEW = "review"
    MERGE = "merge"
    ANY = "any"


class Ending(StrEnum):
    """How a wait ended; the gravest first."""

    CREDENTIALS = "credentials"
    CLOSED = "closed"
    CONFLICT = "conflict"
    RED = "red"
    THROWN_OUT = "thrown_out"
    REVIEW = "review"
    BLOCKED = "blocked"
    PERSON = "person"
    GOOD = "good"
    TIME_OUT = "time_out"


_TABLE = resources.texts("feedback/waiting/endings.toml")

STATUSES: Mapping[Ending, tuple[int, str]] = {
    Ending(name): (status, meaning) for name, status, meaning in _TABLE["statuses"]
}
"""How a wait ended → the exit status of `lifecycle wait`, and what it means."""

EVENTS: Mapping[str, Mapping[WaitFor, Ending]] = {
    event: {WaitFor(wanted): Ending(name) for wanted, name in row.items()}
    for event, row in _TABLE["events"].items()
}
"""The event that a sentence tells → what it ends, by what is waited for."""

_FOR_AGENTS = (Audience.ACT, Audience.NEXT, Audience.NEWS, Audience.ASK)


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a pull request at the last read.

    Attributes:
        is_merged, is_closed: it is over; closed is without a merge.
        verdict: of the checks of its head, None if they were not read.
        is_over: none of its checks runs any more.
        is_conflicting: it conflicts with its base.
        is_approved: GitHub's own verdict over its reviews.
        is_held: what its checks wait for is somebody's.
        is_unchecked: its head has no checks, and none is waited for.
        is_current: its head is what was pushed last from here, as far as is known.
    """

    is_merged: bool = False
    is_closed: bool = False
    verdict: Verdict | None = None
    is_over: bool = False
    is_conflicting: bool = False
    is_approved: bool = False
    is_held: bool = False
    is_unchecked: bool = False
    is_current: bool = True


def event_of(key: str) -> str:
    """The event that a notice's key names, as in `42@1738000000/failed:46:abc`."""
    whose, _, told_key = key.partition("/")
    event, _, rest = (told_key if ":" not in whose else key).partition(":")
    return "behind" if event == "green" and rest.endswith(":behind") else event


def news_ends(notice: Notice, wanted: WaitFor) -> Ending | None:
    """How a notice that nobody was told yet ends this wait; None if it does not."""
    event = event_of(notice.key)
    if event in EVENTS:
        return EVENTS[event].get(wanted)
    return Ending.PERSON if notice.audience in _FOR_AGENTS else None


def standing_ends(standing: Standing, wanted: WaitFor) -> Ending | None:
    """How a state ends this wait by itself, told before or not; None if something may come of waiting.

    Green ends a wait for checks alone: whoever waits for anything is told of it once, and goes on.
    """
    if standing.is_merged:
        return Ending.GOOD
    if standing.is_closed:
        return Ending.CLOSED
    if not standing.is_current:
        return None
    if wanted is WaitFor.REVIEW:
        return Ending.GOOD if standing.is_approved else None
    if standing.is_conflicting:
        return Ending.CONFLICT
    if (standing.is_held and standing.is_over) or (standing.is_unchecked and wanted is WaitFor.CI):
        return Ending.PERSON
    if standing.verdict is Verdict.FAILED and standing.is_over:
        return Ending.RED
    return Ending.GOOD if standing.verdict is Verdict.GREEN and wanted is WaitFor.CI else None


def gravest(endings: Iterable[Ending | None]) -> Ending | None:
    """The gravest of the endings, which decides the exit status; None if there is none."""
    kinds = set(endings)
    return next((ending for ending in Ending if ending in kinds), None)


def events_of(wanted: Iterable[str]) -> frozenset[str]:
    """The events that end a wait for one of these, which its command tells; other words mean nothing."""
    waits = set(WaitFor) & set(wanted)
    names = {event for event in EVENTS if waits & {*EVENTS[event]}}
    return frozenset(names | {"green"} if "behind" in names else names)
