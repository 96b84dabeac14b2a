"""The open TCP connections, and which of them wait for their next request."""

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
    """All connections of a sandbox, numbered in the order in which they were accepted."""

    guard: threading.Lock = field(default_factory=threading.Lock)
    serial: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    open: dict[socket.socket, _Open] = field(default_factory=dict)

    def accepted(self, connection: socket.socket) -> None:
        """Register a new connection, which is idle until its first request."""
        with self.guard:
            self.open[connection] = _Open(next(self.serial))

    def gone(self, connection: socket.socket) -> None:
        """Unregister a connection that has ended; an unknown one is not an error."""
        with self.guard:
            self.open.pop(connection, None)

    def begin(self, connection: socket.socket) -> int:
        """Mark a connection as busy with a request, and return its number."""
        with self.guard:
            state = self.open[connection]
            state.is_idle = False
            return state.number

    def rest(self, connection: socket.socket) -> None:
        """Mark a connection as idle: it waits for another request.

        Call it before the last byte of an answer is sent, so that once a client has the answer, it is idle.
        """
        with self.guard:
            self.open[connection].is_idle = True

    def shut(self, *, idle_only: bool = False) -> int:
        """Shut all connections, or only the idle ones, and return how many."""
        with self.guard:
            chosen = [
                client for client, state in self.open.items() if state.is_idle or not idle_only
            ]
            for connection in chosen:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # the client has left already
            return len(chosen)
