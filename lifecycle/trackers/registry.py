"""Which trackers there are, and which one a worktree has.

A fourth one is a module and a line here; `docs/trackers.md` says how. Nothing is imported before it
is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from lifecycle.core.errors import BadConfig
from lifecycle.core.ports import Clock
from lifecycle.core.tracker import Note, Task, Tracker
from lifecycle.core.values.configured import AUTO, Settings
from lifecycle.storage import journal, journal_entry
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
        "lifecycle.trackers.beads.bd_here:START",
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


WRITES = {
    "create": "task",
    "claim": "claim",
    "claim_next": "claim",
    "release": "given back",
    "close": "closed",
    "reopen": "reopened",
    "edit": "text",
    "edit_labels": "labels",
    "comment": "comment",
    "add_dependency": "dependency",
    "publish": "published",
}
"""The verbs that change something that people see, and what the journal calls that. Renewing a claim is
no news."""


def noting(tracker: Tracker, root: Path, clock: Clock, session: str = "") -> Tracker:
    """The same tracker; from now on each of its writes that came about is a line in the journal.

    A write that found everything as it was wanted has the key of the one that made it so, and is none.

    Args:
        tracker: is changed, and keeps its type: whoever asks what it is gets the same answer as before.
        root: of the worktree whose clone keeps the journal.
        clock: time.
        session: the client's session, or "".
    """

    def noted(name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(verb)
        def run(*args: Any, **kwargs: Any) -> Any:
            made = verb(*args, **kwargs)
            if made is not None or name == "publish":
                task = made if isinstance(made, Task) else None
                named = task.id if task is not None else str(args[0]) if args else ""
                journal.note(
                    root,
                    journal_entry.JournalEntry(
                        clock.now(),
                        journal.TRACKER,
                        journal.WRITE,
                        task=f"#{named}" if named and tracker.name == GITHUB else named,
                        actor=tracker.actor,
                        session=session,
                        target=WRITES[name],
                        key=_key(tracker.name, name, named, made),
                        detail={"tracker": tracker.name},
                    ),
                )
            return made

        return run

    for name in WRITES:
        setattr(tracker, name, noted(name, getattr(tracker, name)))
    return tracker


def _key(tracker: str, verb: str, task: str, made: object) -> str:
    """What the same write has again, or "" where nothing tells it from the next one."""
    start = f"{tracker}:{task}/{WRITES[verb]}"  # taking the next one is made of taking one
    if verb == "create":
        return start
    if isinstance(made, Note):
        return f"{start}/{made.id}"
    if isinstance(made, Task) and made.updated_at is not None:
        return f"{start}/{made.updated_at}"
    return ""
