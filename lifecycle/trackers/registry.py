"""Which trackers there are, and which one a worktree has.

A fourth one is a module and a line here; `docs/trackers.md` says how. Nothing is imported before it
is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from lifecycle.core.errors import BadConfig
from lifecycle.core.tracker import Tracker
from lifecycle.core.values.configured import AUTO, Settings
from lifecycle.trackers.tracker_place import TrackerPlace

GITHUB = "github"


@dataclass(frozen=True, slots=True)
class TrackerEntry:
    """One tracker, by the names of its functions: `module:function`.

    Attributes:
        opens: takes a `TrackerPlace` and gives the `Tracker`; asks nobody anything yet.
        finds: takes root, environment and configured folder; True if this worktree has such a
            tracker, and its program is there and may run. "" if it is never found, only chosen by name.
        lacks: takes the same; half a sentence if this worktree has such a tracker and cannot use it, and
            the way out; "" twice otherwise.
        sees: takes the same; True if the tracker and its program are there, whether it may run or not.
        wants: takes root and configured folder; the program that the user has to allow here, or "".
        program: the same, where the tracker is chosen by name.
        start: the client's command that begins with one of its tasks.
    """

    opens: str
    finds: str = ""
    lacks: str = ""
    sees: str = ""
    wants: str = ""
    program: str = ""
    start: str = ""


TRACKERS: dict[str, TrackerEntry] = {
    "beads": TrackerEntry(
        "lifecycle.trackers.beads.bd_tracker:open_tracker",
        "lifecycle.trackers.beads.bd_here:is_here",
        "lifecycle.trackers.beads.bd_here:lacking",
        "lifecycle.trackers.beads.bd_here:is_present",
        "lifecycle.trackers.beads.bd_here:wanted",
        "lifecycle.trackers.beads.bd_here:PROGRAM",
        "lifecycle.trackers.beads.bd_commands:START",
    ),
    GITHUB: TrackerEntry("lifecycle.trackers.github.github_issues:open_tracker"),
    "memory": TrackerEntry("lifecycle.trackers.memory:open_tracker"),
}
"""By the name that `tracker.use` takes, in the order in which they are looked for."""


def open_tracker(name: str, place: TrackerPlace) -> Tracker:
    """The tracker of this name at this place.

    Raises:
        BadConfig: there is no tracker of this name; the sentence names those that there are.
    """
    entry = TRACKERS.get(name)
    if entry is None:
        names = ", ".join(f'"{known}"' for known in (AUTO, *TRACKERS))
        raise BadConfig(
            f'There is no tracker "{name}", so no task was looked for; set tracker.use in '
            f".lifecycle.toml to one of {names}."
        )
    tracker: Tracker = _function(entry.opens)(place)
    return tracker


def detect(place: TrackerPlace) -> str:
    """The name of the tracker that is found here: the first one that finds itself, else GitHub's."""
    return _detected(place.root, place.environment, place.folder)


def _detected(root: Path, environment: Mapping[str, str], folder: str) -> str:
    for name, entry in TRACKERS.items():
        if entry.finds and _function(entry.finds)(root, environment, folder):
            return name
    return GITHUB


def chosen(place: TrackerPlace) -> str:
    """The name of this place's tracker: as configured, or the one that is found."""
    use = place.settings.tracker_use
    return detect(place) if use == AUTO else use


def lacking(root: Path, environment: Mapping[str, str], settings: Settings) -> tuple[str, str]:
    """Why GitHub's tracker would serve a worktree that has another one: half a sentence, and the way out.

    "" twice where a tracker is configured by name, or where one was found: nothing is lacking then.
    """
    around = (root, environment, settings.tracker_folder)
    if settings.tracker_use != AUTO or _detected(*around) != GITHUB:
        return "", ""
    said = (_function(entry.lacks)(*around) for entry in TRACKERS.values() if entry.lacks)
    return next((found for found in said if found[0]), ("", ""))


def program(root: Path, settings: Settings) -> str:
    """The program that this worktree's tasks need, and that the user has to allow here; "" if none."""
    if settings.tracker_use != AUTO:
        entry = TRACKERS.get(settings.tracker_use)
        return str(_function(entry.program)) if entry is not None and entry.program else ""
    wants = (entry.wants for entry in TRACKERS.values() if entry.wants)
    found = (str(_function(one)(root, settings.tracker_folder)) for one in wants)
    return next(filter(None, found), "")


def start(root: Path, environment: Mapping[str, str], settings: Settings) -> str:
    """The client's command that begins with a task, as the tracker calls it that is here; "" if none."""
    around = (root, environment, settings.tracker_folder)
    for name, entry in TRACKERS.items():
        is_auto = settings.tracker_use == AUTO and entry.sees and _function(entry.sees)(*around)
        if entry.start and (is_auto or settings.tracker_use == name):
            return str(_function(entry.start))
    return ""


def _function(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)
