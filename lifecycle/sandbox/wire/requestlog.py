"""The log of requests: what tests count. It never holds a header, a body or a query string.

It holds the newest `MOST`; how many came of each kind is counted apart, those no longer held included.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

RequestKind = Literal["rest", "graphql", "git"]
MOST = 20_000
"""How many requests are kept, so that a sandbox that runs for weeks does not grow with them."""


@dataclass(slots=True)
class Entry:
    """One request. `status` stays None while it is under way, and when nothing was answered.

    `connection` numbers the TCP connection that it came on.
    """

    n: int
    method: str
    path: str
    operation: str | None
    kind: RequestKind
    status: int | None = None
    points: int | None = None
    connection: int = 0


@dataclass(slots=True)
class RequestLog:
    """The requests since the last `clear`, in order of arrival, the newest MOST of them."""

    entries: deque[Entry] = field(default_factory=lambda: deque(maxlen=MOST))
    kinds: Counter[str] = field(default_factory=Counter)
    changed: threading.Condition = field(default_factory=threading.Condition)
    serial: int = 0

    def begin(
        self, method: str, path: str, operation: str | None, kind: RequestKind, connection: int = 0
    ) -> Entry:
        """Note a request as it arrives."""
        with self.changed:
            self.serial += 1
            entry = Entry(self.serial, method, path, operation, kind, connection=connection)
            self.entries.append(entry)
            self.kinds[kind] += 1
            self.changed.notify_all()
            return entry

    def clear(self) -> None:
        """Forget all requests and counts; the numbering goes on."""
        with self.changed:
            self.entries.clear()
            self.kinds.clear()

    def listed(self) -> list[dict[str, Any]]:
        """All entries as JSON objects."""
        with self.changed:
            return [asdict(entry) for entry in self.entries]

    def newest(self, most: int) -> list[Entry]:
        """The last entries, oldest first."""
        with self.changed:
            return list(self.entries)[-most:]

    @property
    def total(self) -> int:
        """How many requests came, those that are no longer kept among them."""
        return self.kinds.total()

    def counts(self) -> Counter[str]:
        """How many requests came of each kind."""
        with self.changed:
            return Counter(self.kinds)

    def failed(self) -> int:
        """How many of those that are kept were refused, or not answered."""
        with self.changed:
            return sum(1 for entry in self.entries if entry.status is None or entry.status >= 400)

    def points(self) -> int:
        """What the GraphQL requests that are kept cost."""
        with self.changed:
            return sum(entry.points or 0 for entry in self.entries)

    def await_count(self, count: int, seconds: float) -> bool:
        """Wait until `count` requests have arrived; False if `seconds` passed first."""
        with self.changed:
            return self.changed.wait_for(lambda: self.total >= count, seconds)
