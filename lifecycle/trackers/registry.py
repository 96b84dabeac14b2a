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

from lifecycle.errors import BadConfig
from lifecycle.settings import AUTO, Settings
from lifecycle.tracker import Tracker
from lifecycle.trackers.place import Place

GITHUB = "github"


@dataclass(frozen=True, slots=True)
class Entry:
    """One tracker, by the names of its functions: `module:function`.

    Attributes:
        opens: takes a `Place` and gives the `Tracker`; asks nobody anything yet.
        finds: takes root, environment and configured folder; True if this worktree has such a
            tracker and its program is there. "" if it is never found, only chosen by name.
        lacks: takes the same; half a sentence if this worktree has such a tracker and its program is
            not there, else "".
    """

    opens: str
    finds: str = ""
    lacks: str = ""


TRACKERS: dict[str, Entry] = {
    "beads": Entry(
        "lifecycle.trackers.beads.adapter:open_tracker",
        "lifecycle.trackers.beads.here:is_here",
        "lifecycle.trackers.beads.here:lacking",
    ),
    GITHUB: Entry("lifecycle.trackers.github_issues:open_tracker"),
    "memory": Entry("lifecycle.trackers.memory:open_tracker"),
}
"""By the name that `tracker.use` takes, in the order in which they are looked for."""


def open_tracker(name: str, place: Place) -> Tracker:
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


def detect(place: Place) -> str:
    """The name of the tracker that is found here: the first one that finds itself, else GitHub's."""
    return _detected(place.root, place.environment, place.folder)


def _detected(root: Path, environment: Mapping[str, str], folder: str) -> str:
    for name, entry in TRACKERS.items():
        if entry.finds and _function(entry.finds)(root, environment, folder):
            return name
    return GITHUB


def chosen(place: Place) -> str:
    """The name of this place's tracker: as configured, or the one that is found."""
    use = place.settings.tracker_use
    return detect(place) if use == AUTO else use


def lacking(root: Path, environment: Mapping[str, str], settings: Settings) -> str:
    """Why GitHub's tracker would serve a worktree that has another one: half a sentence, "" if none.

    Nothing is lacking where a tracker is configured by name, or where one was found.
    """
    around = (root, environment, settings.tracker_folder)
    if settings.tracker_use != AUTO or _detected(*around) != GITHUB:
        return ""
    said = (_function(entry.lacks)(*around) for entry in TRACKERS.values() if entry.lacks)
    return next((why for why in said if why), "")


def _function(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)
