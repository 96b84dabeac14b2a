"""The memory of a pull request's red heads: the failures at each, and the user's questions. Pure.

How often a run was rerun is not here: GitHub counts the attempts, the same for every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.core.light_dataclass import dataclass, field, from_json, replace

MOST_KEPT = 50
"""Red heads at most, the newest."""


@dataclass(frozen=True, slots=True)
class RedHead:
    """A head at which something of the change's own failed: its identities, its trace, its packet."""

    sha: str
    identities: tuple[str, ...]
    trace: tuple[str, ...]
    packet: str


@dataclass(frozen=True, slots=True)
class FailureLedger:
    """What is remembered of one pull request.

    Attributes:
        number: the pull request's number; another pull request begins an empty ledger.
        reds: heads whose failures were the agent's, the oldest first, without heads that had no log.
            Their failures count until a head is green.
        stopped: identities about which a person was asked, until a head is green or they say to continue.
        red: the newest head of which failures were read, "" if there is none.
        failing: what failed at that head: identities by workflow and check.
        kind: whose failures they were at the last read, a `FailureClass` in lower case; else "".
        since: the branch's first red head, after which commits are searched; "" if there is none.
        compared: the head up to which they were searched.
        base: the newest commit of the base that was checked for the same failures; else "".
        base_at: when that was, in seconds since the epoch.
        is_due: read the failures again at the next look that shows checks.
    """

    number: int
    reds: tuple[RedHead, ...] = ()
    stopped: tuple[str, ...] = ()
    red: str = ""
    failing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    compared: str = ""
    base: str = ""
    base_at: float = 0.0
    is_due: bool = False
    kind: str = ""
    since: str = ""

    def count(self, identity: str) -> int:
        """At how many heads this identity has failed so far."""
        return sum(identity in head.identities for head in self.reds)

    def charged(self, head: RedHead) -> FailureLedger:
        """The ledger with this red head once; it replaces an earlier entry for the same head."""
        others = [red for red in self.reds if red.sha != head.sha]
        return replace(self, reds=(*others, head)[-MOST_KEPT:])

    def asked(self, identities: tuple[str, ...]) -> FailureLedger:
        """The ledger with these identities as those that a person was asked about."""
        return replace(self, stopped=tuple(dict.fromkeys((*self.stopped, *identities))))

    def mended(self) -> FailureLedger:
        """The ledger with all failures fixed: a repeated failure is new. Its heads still count."""
        reds = tuple(replace(red, identities=(), trace=()) for red in self.reds)
        return replace(self, reds=reds, stopped=())

    def opened(self) -> FailureLedger:
        """The ledger with all counts reset, because the person who was asked said to continue."""
        return replace(self, reds=(), stopped=(), kind="")

    @classmethod
    def from_json(cls, data: Mapping[str, Any], number: int) -> FailureLedger:
        """The ledger in JSON; for another pull request only the branch's part; empty if invalid."""
        if data.get("number") != number:
            return cls(number, since=str(data.get("since", "")))
        ledger: FailureLedger | None = from_json(cls, data)
        return ledger or cls(number)
