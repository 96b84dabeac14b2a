"""Which TCP connections are open, and which of them wait for their next request."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Open:
    number: int
    is_idle: bool = True


@dataclass(slots=True)
class Connections:
    """All connections of a sandbox, numbered as they are accepted."""

    guard: threading.Lock = field(default_factory=threading.Lock)
    serial: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    open: dict[socket.socket, _Open] = field(default_factory=dict)

    def accepted(self, connection: socket.socket) -> None:
        """A client has come."""
        with self.guard:
            self.open[connection] = _Open(next(self.serial))

    def gone(self, connection: socket.socket) -> None:
        """It is over; forgetting what was never known is nothing."""
        with self.guard:
            self.open.pop(connection, None)

    def begin(self, connection: socket.socket) -> int:
        """A request has arrived; the number of the connection that it came on."""
        with self.guard:
            known = self.open[connection]
            known.is_idle = False
            return known.number

    def rest(self, connection: socket.socket) -> None:
        """The answer goes out: from now on the connection waits for another request.

        Said before the last byte is sent, so that whoever has the answer finds it idle.
        """
        with self.guard:
            self.open[connection].is_idle = True

    def shut(self, *, idle_only: bool = False) -> int:
        """End every conversation, or those in which nothing is under way; how many."""
        with self.guard:
            chosen = [one for one, known in self.open.items() if known.is_idle or not idle_only]
            for connection in chosen:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # the client has left already
            return len(chosen)
