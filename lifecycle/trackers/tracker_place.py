"""Where a tracker is opened: a worktree, its settings, and in whose name."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lifecycle.core.ports import Clock
from lifecycle.core.timing import Deadline
from lifecycle.core.tracker import Wording
from lifecycle.core.values.configured import Settings
from lifecycle.core.world import World

if TYPE_CHECKING:
    from lifecycle.core.values.shapes import CardWords
    from lifecycle.github.client.rest import Calls


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
