"""What ends a wait for a pull request, and with which exit status. Pure.

The first word of a notice's key is its event; `EVENTS` says which waits each event ends. A notice that was
said before is no news, but its state may still end a wait: `STATES` has those of an open pull request that
leave nothing to wait for. A new kind of event needs a row in `endings.toml`; without one, a notice for an
agent means that somebody is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from lifecycle.core.plan import Audience, Notice
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

EVENTS, STATES = (
    {
        name: {WaitFor(wanted): Ending(ending) for wanted, ending in row.items()}
        for name, row in _TABLE[kind].items()
    }
    for kind in ("events", "states")
)
"""An event, or a state of an open pull request → how it ends a wait, by the thing that is waited for."""

_FOR_AGENTS = (Audience.ACT, Audience.NEXT, Audience.NEWS, Audience.ASK)


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


def states_end(states: Collection[str], wanted: WaitFor) -> Ending | None:
    """How the states of an open pull request end this wait, by the first one in `STATES`.

    It does not matter whether that was said before. None if waiting may still bring something.
    """
    ends = (row[wanted] for state, row in STATES.items() if state in states and wanted in row)
    return next(ends, None)


def events_of(wanted: Iterable[str]) -> frozenset[str]:
    """The events that end a wait for one of these, for its help; unknown words are ignored."""
    waits = set(WaitFor) & set(wanted)
    names = {event for event in EVENTS if waits & {*EVENTS[event]}}
    return frozenset(names | {"green"} if "behind" in names else names)
