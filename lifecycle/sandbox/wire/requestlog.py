"""The log of requests, which tests count. It never contains a header, a body or a query string.

It keeps the newest `MOST` requests; the count of each kind includes those that are no longer kept.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

RequestKind = Literal["rest", "graphql", "git"]
MOST = 20_000
"""The most requests that are kept, so that a sandbox that runs for weeks does not grow."""


@dataclass(slots=True)
class Entry:
    """One request. `status` is None while it is in progress, and if it was not answered.

    `connection` is the number of its TCP connection.
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
    """The requests since the last `clear`, in order of arrival; only the newest MOST are kept."""

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
        """Remove all requests and counts; the numbering continues."""
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
        """The number of requests, including those that are no longer kept."""
        return self.kinds.total()

    def counts(self) -> Counter[str]:
        """The number of requests of each kind."""
        with self.changed:
            return Counter(self.kinds)

    def failed(self) -> int:
        """How many of the kept requests were refused, or not answered."""
        with self.changed:
            return sum(1 for entry in self.entries if entry.status is None or entry.status >= 400)

    def points(self) -> int:
        """The cost of the kept GraphQL requests, in points."""
        with self.changed:
            return sum(entry.points or 0 for entry in self.entries)

    def await_count(self, count: int, seconds: float) -> bool:
        """Wait until `count` requests have arrived; False if `seconds` passed first."""
        with self.changed:
            return self.changed.wait_for(lambda: self.total >= count, seconds)
