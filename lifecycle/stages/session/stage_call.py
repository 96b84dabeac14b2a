"""One event of the client's, as far as the staged workflow looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from lifecycle.core.values.claim_facts import ClaimFacts
    from lifecycle.core.world import World
    from lifecycle.settings.running_client import Client


class StageCall(Protocol):
    """What the client sent to one entrypoint, and what may be touched for it."""

    @property
    def hook(self) -> str:
        """The entrypoint."""
        ...

    @property
    def event(self) -> Mapping[str, Any]:
        """The event's JSON."""
        ...

    @property
    def session(self) -> str:
        """The client's session, or "" if nobody said."""
        ...

    @property
    def client(self) -> Client:
        """Which client sent it."""
        ...

    @property
    def process(self) -> int:
        """The client's process, 0 if it is not Claude Code's."""
        ...

    @property
    def world(self) -> World:
        """What may be touched."""
        ...

    @property
    def has_claim(self) -> bool:
        """True if the claim file is there."""
        ...

    @property
    def claim(self) -> ClaimFacts | None:
        """The claim as it lies there, or None."""
        ...

    @property
    def last_claim(self) -> ClaimFacts | None:
        """The claim as it was last accepted, over or not, or None."""
        ...

    @property
    def starts_on_clear(self) -> bool:
        """True if the client starts the script on-clear as well, which starts a turn after `/clear`."""
        ...
