"""What ends a wait for a pull request, and with which exit status. Pure.

The first word of a notice's key is its event; `EVENTS` says which waits each event ends. A notice that was
said before is no news, but its state may still end a wait: `standing_ends` lists the states that leave
nothing to wait for. A new kind of event needs a row in `endings.toml`; without one, a notice for an agent
means that somebody is needed.
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
    """How a wait ended; the most serious first."""

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
"""How a wait ended → the exit status of `lifecycle wait`, and its meaning."""

EVENTS: Mapping[str, Mapping[WaitFor, Ending]] = {
    event: {WaitFor(wanted): Ending(name) for wanted, name in row.items()}
    for event, row in _TABLE["events"].items()
}
"""An event → how it ends a wait, by the thing that is waited for."""

_FOR_AGENTS = (Audience.ACT, Audience.NEXT, Audience.NEWS, Audience.ASK)


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a pull request at the last read.

    Attributes:
        is_merged, is_closed: it is over; closed means without a merge.
        verdict: of the checks of its head, None if they were not read.
        is_over: none of its checks is running any more.
        is_conflicting: it conflicts with its base.
        is_approved: GitHub's own verdict on its reviews.
        is_held: its checks wait for somebody.
        is_unchecked: its head has no checks, and none are expected.
        is_current: its head is the last commit that was pushed from here, as far as is known.
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
    """The event in a notice's key, as `failed` in `42@1738000000/failed:46:abc`."""
    whose, _, told_key = key.partition("/")
    event, _, rest = (told_key if ":" not in whose else key).partition(":")
    return "behind" if event == "green" and rest.endswith(":behind") else event


def news_ends(notices: Iterable[Notice], wanted: WaitFor) -> Ending | None:
    """How notices that were not said yet end this wait, by the most serious of them; None if none does."""
    ends: set[Ending | None] = set()
    for notice in notices:
        by_table = EVENTS.get(event_of(notice.key))
        other = Ending.PERSON if notice.audience in _FOR_AGENTS else None
        ends.add(other if by_table is None else by_table.get(wanted))
    return next((ending for ending in Ending if ending in ends), None)


def standing_ends(standing: Standing, wanted: WaitFor) -> Ending | None:
    """How a state ends this wait, said before or not; None if waiting may still bring something.

    Green checks end only a wait for checks: a wait for anything gets that news once, and continues.
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


def events_of(wanted: Iterable[str]) -> frozenset[str]:
    """The events that end a wait for one of these, for its help; unknown words are ignored."""
    waits = set(WaitFor) & set(wanted)
    names = {event for event in EVENTS if waits & {*EVENTS[event]}}
    return frozenset(names | {"green"} if "behind" in names else names)
