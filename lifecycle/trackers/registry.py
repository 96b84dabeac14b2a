"""Which trackers exist, which one a worktree uses, how it is opened, how its writes are journalled.

A further tracker is a module and a line here; `docs/trackers.md` says how. No tracker is imported before
it is opened. A tracker is opened for a worktree, with its settings, under an actor's name.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lifecycle.core.errors import BadConfig, LifecycleError
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.ports import Clock
from lifecycle.core.tracker import GITHUB, Note, Task, Tracker, Wording
from lifecycle.core.values.configured import AUTO, Settings
from lifecycle.core.world import World
from lifecycle.storage import journal
from lifecycle.trackers import refusals

if TYPE_CHECKING:
    from lifecycle.core.values.shapes import CardWords
    from lifecycle.github.client.rest import Calls

TRACKERS = {
    "beads": "lifecycle.trackers.beads.bd_tracker",
    GITHUB: "lifecycle.trackers.github.github_issues",
    "memory": "lifecycle.trackers.memory",
}
"""The module of each tracker, by the name that `tracker.use` takes. Its `open_tracker` takes a
`TrackerPlace` and returns the `Tracker`, without a request to anybody."""

FOUND = {"beads": "lifecycle.trackers.beads.bd_here"}
"""By name, in the order of the search, each tracker that can be detected in a worktree, and the module
that detects it. The module has, with root, environment and configured folder as arguments:

- `is_here`: the tracker is here, and its program may run;
- `is_present`: both exist, whether the program may run or not;
- `lacking`: half a sentence and the way out if it is here but cannot be used, else ("", "");
- `wanted`, without the environment: there is something of this tracker;
- `PROGRAM`, which the user has to allow here; `START`, the client's command that begins a task."""


def open_tracker(name: str, place: TrackerPlace) -> Tracker:
    """The tracker of this name at this place.

    Raises:
        BadConfig: there is no tracker of this name; the sentence lists the existing names.
    """
    if name not in TRACKERS:
        names = ", ".join(f'"{choice}"' for choice in (AUTO, *TRACKERS))
        raise BadConfig(refusals.sentence("no-tracker", name=name, names=names))
    tracker: Tracker = import_module(TRACKERS[name]).open_tracker(place)
    return tracker


def _found(use: str = AUTO) -> dict[str, Any]:
    """The modules in `FOUND` of the trackers that this setting allows in a worktree."""
    return {name: import_module(path) for name, path in FOUND.items() if use in (AUTO, name)}


def chosen(world: World) -> str:
    """The name of this worktree's tracker: the configured one, else the one that is here, else GitHub."""
    settings = world.settings
    if settings.tracker_use != AUTO:
        return settings.tracker_use
    around = (world.root, world.environment, settings.tracker_folder)
    return next((name for name, signs in _found().items() if signs.is_here(*around)), GITHUB)


def lacking(world: World) -> tuple[str, str]:
    """Why GitHub's tracker would be used although another one is here: half a sentence, and the way out.

    ("", "") if a tracker is configured by name, or one was detected: nothing is missing then.
    """
    if world.settings.tracker_use != AUTO or chosen(world) != GITHUB:
        return "", ""
    around = (world.root, world.environment, world.settings.tracker_folder)
    return next(filter(any, (signs.lacking(*around) for signs in _found().values())), ("", ""))


def program(root: Path, settings: Settings) -> str:
    """The program that this worktree's tasks need, and that the user has to allow here; "" if none."""
    use, folder = settings.tracker_use, settings.tracker_folder
    needed = (s for s in _found(use).values() if use != AUTO or s.wanted(root, folder))
    return next((str(signs.PROGRAM) for signs in needed), "")


def start(root: Path, environment: Mapping[str, str], settings: Settings) -> str:
    """The client's command that begins a task, by the name of the tracker here; "" if it has none."""
    use, around = settings.tracker_use, (root, environment, settings.tracker_folder)
    there = (s for s in _found(use).values() if use != AUTO or s.is_present(*around))
    return next((str(signs.START) for signs in there), "")


def is_alone(world: World) -> bool:
    """True if all tasks are another tracker's: no repository is configured, and there is no remote."""
    settings = world.settings
    if settings.repository is not None or not program(world.root, settings):
        return False
    return world.git.remote_url(settings.remote) is None


def to_claim(world: World) -> str:
    """The command that claims a task here, for a person to read."""
    try:
        is_other = is_alone(world)
    except LifecycleError:  # unreadable settings are reported by whoever needs them
        is_other = False
    return f"lifecycle {'tracker claim <id>' if is_other else 'claim <number>'}"


WRITES = {
    "create": "task",
    "claim": "claim",
    "claim_next": "claim",
    "release": "released",
    "close": "closed",
    "reopen": "reopened",
    "edit": "text",
    "edit_labels": "labels",
    "comment": "comment",
    "add_dependency": "dependency",
    "publish": "published",
}
"""The verbs whose change people see, and the journal's words for them. Renewing a claim is not listed:
it is not news."""


def noting(tracker: Tracker, root: Path, clock: Clock, session: str = "") -> Tracker:
    """Make the tracker note each successful write in the journal; returns the tracker.

    A write that changed nothing has the same key as the write that did, so it gets no entry of its own.

    Args:
        tracker: is changed, and keeps its type, so that checks of its type still hold.
        root: the root of the worktree whose clone has the journal.
        clock: the clock.
        session: the client's session, or "".
    """

    def noted(name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(verb)
        def run(*args: Any, **kwargs: Any) -> Any:
            answer = verb(*args, **kwargs)
            if answer is not None or name == "publish":
                given = str(args[0]) if args else ""
                named = answer.id if isinstance(answer, Task) else given
                task = f"#{named}" if named and tracker.name == GITHUB else named
                whose = (clock.now(), journal.TRACKER, journal.WRITE, task, tracker.actor, session)
                key, detail = _key(tracker.name, name, named, answer), {"tracker": tracker.name}
                entry = journal.JournalEntry(*whose, target=WRITES[name], key=key, detail=detail)
                journal.note(root, entry)
            return answer

        return run

    for name in WRITES:
        setattr(tracker, name, noted(name, getattr(tracker, name)))
    return tracker


def _key(tracker: str, verb: str, task: str, answer: object) -> str:
    """The key of a write, the same for a repetition; "" if a repetition cannot be recognised."""
    start = f"{tracker}:{task}/{WRITES[verb]}"  # claiming the next one includes a claim
    if verb == "create":
        return start
    if isinstance(answer, Note):
        return f"{start}/{answer.id}"
    if isinstance(answer, Task) and answer.updated_at is not None:
        return f"{start}/{answer.updated_at}"
    return ""


class TrackerHub(World, Protocol):
    """The parts of the worktree's GitHub that a tracker may use; each is built on first access.

    Issues are in `base`; branches, and so leases, are pushed to `head`. Access raises NoToken or BadConfig
    if there is no token or no repository.
    """

    def card_of(self, number: int) -> CardWords | None:
        """The board's values for one issue, or None. Requests: 1, none without a board."""

    @property
    def calls(self) -> Calls:
        """REST requests below the base repository."""


@dataclass(frozen=True, slots=True)
class TrackerPlace:
    """The place where a tracker is opened. Building one makes no requests.

    Attributes:
        hub: the worktree with its settings, the variables that the tracker's processes see, and GitHub. If
            it answers a hook, the tracker waits only briefly, and publishes nothing.
        named: the actor if known: the agent of this worktree's claim, else LIFECYCLE_ACTOR; or "".
        seat: distinguishes this agent from all others of its user: digits computed from the machine, the
            worktree and the client's session; the same for each call.
        user: this machine's account, as a name that any tracker accepts.
    """

    hub: TrackerHub
    named: str
    seat: str
    user: str

    def actor(self, account: str = "") -> str:
        """The acting name: `named`, else `account-seat`, the form of a claim's agent names.

        Args:
            account: the tracker's own name for the actor; this machine's user unless given.
        """
        return self.named or f"{account or self.user}-{self.seat}"


_DIGITS = 12


def seat_in(root: Path, session: str) -> str:
    """Digits that are the same for one session in a worktree on this machine, and different otherwise."""
    agent = f"{platform.node()}\0{root.resolve()}\0{session}".encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.sha256(agent).digest()[:8]) % 10**_DIGITS
    return f"{number:0{_DIGITS}}"


OWN_COMMANDS = Wording(
    show="lifecycle tracker show {id}",
    ready="lifecycle tracker ready --label {label}",
    claim="lifecycle tracker claim {id}",
    close='lifecycle tracker close {id} --reason "…"',
    label="lifecycle tracker label {id} --add {label} --create",
    comment="lifecycle tracker comment {id} -",
)
"""The product's own command lines, which any tracker may use."""
