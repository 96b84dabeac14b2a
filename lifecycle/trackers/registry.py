"""Which trackers there are, which one a worktree has, where it is opened, how its writes are journalled.

A fourth one is a module and a line here; `docs/trackers.md` says how. Nothing is imported before it
is opened. It is opened for a worktree, with its settings, in somebody's name.
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
from lifecycle.core.timing import Deadline
from lifecycle.core.tracker import Note, Task, Tracker, Wording
from lifecycle.core.values.configured import AUTO, Settings
from lifecycle.core.world import World
from lifecycle.storage import journal
from lifecycle.trackers import refusals

if TYPE_CHECKING:
    from lifecycle.core.values.shapes import CardWords
    from lifecycle.github.client.rest import Calls

GITHUB = "github"


TRACKERS = {
    "beads": "lifecycle.trackers.beads.bd_tracker",
    GITHUB: "lifecycle.trackers.github.github_issues",
    "memory": "lifecycle.trackers.memory",
}
"""By the name that `tracker.use` takes, the module of a tracker. It has `open_tracker`, which takes a
`TrackerPlace` and gives the `Tracker`; it asks nobody anything yet."""

FOUND = {"beads": "lifecycle.trackers.beads.bd_here"}
"""By its name, in the order in which they are looked for, each tracker that a worktree can be seen to have,
and the module that sees it. That has, by root, environment and configured folder:

- `is_here`: the tracker is there, and its program may run;
- `is_present`: both are there, whether it may run or not;
- `lacking`: half a sentence and the way out if it is there and cannot be used, else "" twice;
- `wanted`, without the environment: there is something of this tracker's;
- `PROGRAM`, which the user has to allow here; `START`, the client's command that begins with a task."""


def open_tracker(name: str, place: TrackerPlace) -> Tracker:
    """The tracker of this name at this place.

    Raises:
        BadConfig: there is no tracker of this name; the sentence names those that there are.
    """
    if name not in TRACKERS:
        names = ", ".join(f'"{choice}"' for choice in (AUTO, *TRACKERS))
        raise BadConfig(refusals.sentence("no-tracker", name=name, names=names))
    tracker: Tracker = import_module(TRACKERS[name]).open_tracker(place)
    return tracker


def _found(use: str = AUTO) -> dict[str, Any]:
    """The modules of `FOUND`, of those trackers that this setting lets a worktree have."""
    return {name: import_module(path) for name, path in FOUND.items() if use in (AUTO, name)}


def _detected(root: Path, environment: Mapping[str, str], folder: str) -> str:
    """The name of the tracker that is found here: the first one that finds itself, else GitHub's."""
    around = (root, environment, folder)
    return next((name for name, signs in _found().items() if signs.is_here(*around)), GITHUB)


def chosen(place: TrackerPlace) -> str:
    """The name of this place's tracker: as configured, or the one that is found."""
    use = place.settings.tracker_use
    return _detected(place.root, place.environment, place.folder) if use == AUTO else use


def lacking(root: Path, environment: Mapping[str, str], settings: Settings) -> tuple[str, str]:
    """Why GitHub's tracker would serve a worktree that has another one: half a sentence, and the way out.

    "" twice where a tracker is configured by name, or where one was found: nothing is lacking then.
    """
    around = (root, environment, settings.tracker_folder)
    if settings.tracker_use != AUTO or _detected(*around) != GITHUB:
        return "", ""
    reasons = (signs.lacking(*around) for signs in _found().values())
    return next((reason for reason in reasons if reason[0]), ("", ""))


def program(root: Path, settings: Settings) -> str:
    """The program that this worktree's tasks need, and that the user has to allow here; "" if none."""
    use, folder = settings.tracker_use, settings.tracker_folder
    needed = (s for s in _found(use).values() if use != AUTO or s.wanted(root, folder))
    return next((str(signs.PROGRAM) for signs in needed), "")


def start(root: Path, environment: Mapping[str, str], settings: Settings) -> str:
    """The client's command that begins with a task, as the tracker calls it that is here; "" if none."""
    use, around = settings.tracker_use, (root, environment, settings.tracker_folder)
    there = (s for s in _found(use).values() if use != AUTO or s.is_present(*around))
    return next((str(signs.START) for signs in there), "")


def is_alone(world: World) -> bool:
    """True where all tasks are another tracker's: no repository is configured, and there is no remote."""
    settings = world.settings
    if settings.repository is not None or not program(world.root, settings):
        return False
    return world.git.remote_url(settings.remote) is None


def to_claim(world: World) -> str:
    """The command that takes a task here, for a person to read."""
    try:
        is_other = is_alone(world)
    except LifecycleError:  # whatever cannot be read is told by whoever needs it
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
"""The verbs that change something that people see, and what the journal calls that. Renewing a claim is
no news."""


def noting(tracker: Tracker, root: Path, clock: Clock, session: str = "") -> Tracker:
    """Have each write of the tracker that comes about noted in the journal; returns the tracker.

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
            answer = verb(*args, **kwargs)
            if answer is not None or name == "publish":
                given = str(args[0]) if args else ""
                named = answer.id if isinstance(answer, Task) else given
                entry = journal.JournalEntry(
                    clock.now(),
                    journal.TRACKER,
                    journal.WRITE,
                    task=f"#{named}" if named and tracker.name == GITHUB else named,
                    actor=tracker.actor,
                    session=session,
                    target=WRITES[name],
                    key=_key(tracker.name, name, named, answer),
                    detail={"tracker": tracker.name},
                )
                journal.note(root, entry)
            return answer

        return run

    for name in WRITES:
        setattr(tracker, name, noted(name, getattr(tracker, name)))
    return tracker


def _key(tracker: str, verb: str, task: str, answer: object) -> str:
    """What the same write has again as its key, or "" where nothing tells it from the next one."""
    start = f"{tracker}:{task}/{WRITES[verb]}"  # taking the next one is made of taking one
    if verb == "create":
        return start
    if isinstance(answer, Note):
        return f"{start}/{answer.id}"
    if isinstance(answer, Task) and answer.updated_at is not None:
        return f"{start}/{answer.updated_at}"
    return ""


class TrackerHub(World, Protocol):
    """What a tracker may ask of the worktree's GitHub; each part is built when it is first touched.

    Issues lie in `base`; branches, and so leases, are pushed to `head`. Touching a part raises NoToken or
    BadConfig where there is no token or no repository.
    """

    def card_of(self, number: int) -> CardWords | None:
        """What the board says of one issue, or None. Requests: 1, none without a board."""

    @property
    def calls(self) -> Calls:
        """REST, below the base repository."""


@dataclass(frozen=True, slots=True)
class TrackerPlace:
    """Where a tracker is opened. Building one asks nobody anything.

    Attributes:
        root: the worktree's root folder.
        environment: the variables that the tracker and its processes see.
        settings: as configured.
        clock: time.
        deadline: when everything has to be over.
        named: the actor if it is known: the agent of this worktree's claim, else LIFECYCLE_ACTOR; or "".
        seat: what tells this agent from every other of its user: digits made of the machine, the
            worktree and the client's session; the same for each call.
        user: whose account this is on this machine, as a name that any tracker takes.
        hub: GitHub.
        is_hook: a hook asks: it waits for little, and publishes nothing.
    """

    root: Path
    environment: Mapping[str, str]
    settings: Settings
    clock: Clock
    deadline: Deadline
    named: str
    seat: str
    user: str
    hub: TrackerHub
    is_hook: bool = False

    def actor(self, account: str = "") -> str:
        """In whose name things are done: `named`, else `account-seat`, as a claim's agents are named.

        Args:
            account: the tracker's own name for whoever acts; this machine's user unless given.
        """
        return self.named or f"{account or self.user}-{self.seat}"

    @property
    def folder(self) -> str:
        """Where the tracker keeps its database, as configured; "" if not."""
        return self.settings.tracker_folder


_DIGITS = 12


def seat_in(root: Path, session: str) -> str:
    """Digits that are the same for the same session in a worktree on this machine, and others else."""
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
"""The product's own command lines, which any tracker may give."""
