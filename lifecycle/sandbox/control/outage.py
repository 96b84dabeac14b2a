"""Turn a fault into the client's answer: an error, silence, a cut or an endless connection.

A silent connection waits on its socket and on the sandbox's stop signal, never on a clock, so it uses no
CPU and never delays a shutdown.
"""

from __future__ import annotations

import json
import selectors
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from werkzeug.wrappers import Response

from lifecycle.sandbox.control.faults import Fault


@dataclass(slots=True)
class StopSignal:
    """Wakes all waiting connections when the sandbox stops: one end closes, the other wakes."""

    waiting: socket.socket = field(init=False)
    sender: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        self.waiting, self.sender = socket.socketpair()

    def stop(self) -> None:
        """Wake all waiting connections."""
        self.sender.close()

    def close(self) -> None:
        """Release the sockets."""
        self.sender.close()
        self.waiting.close()

    def pause(self, client: socket.socket, seconds: float | None) -> bool:
        """Wait; True if the client left or the sandbox stops, False after `seconds`."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.waiting, selectors.EVENT_READ)
            selector.register(client, selectors.EVENT_READ)
            while ready := selector.select(seconds):
                if any(key.fileobj is self.waiting for key, _ in ready):
                    return True
                try:
                    if not client.recv(65536):
                        return True
                except OSError:
                    return True
        return False


def _dropped() -> Iterator[bytes]:
    """A body whose first read raises the web server's error for a lost client: nothing is sent."""
    raise ConnectionAbortedError


def hang(signal: StopSignal, environ: dict[str, Any]) -> Iterator[bytes]:
    """A body that never comes: it waits until the client leaves or the sandbox stops."""
    signal.pause(environ["werkzeug.socket"], None)
    yield from _dropped()


def cut(environ: dict[str, Any]) -> Iterator[bytes]:
    """Close the connection without an answer."""
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    yield from _dropped()


def reset(environ: dict[str, Any]) -> Iterator[bytes]:
    """Reset the connection: with no time to linger, closing sends TCP's RST."""
    client = environ["werkzeug.socket"]
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    yield from _dropped()


def _drip(signal: StopSignal, client: socket.socket, seconds: float) -> Iterator[bytes]:
    yield b" "
    while not signal.pause(client, seconds):
        yield b" "
    yield from _dropped()


def response(
    fault: Fault, real: Response | None, signal: StopSignal, environ: dict[str, Any]
) -> Response:
    """The answer for a fault; for `hang` and `cut`, one whose body never comes."""
    if fault.kind == "hang":
        return Response(hang(signal, environ))
    if fault.kind in {"cut", "reset"}:
        return Response(cut(environ) if fault.kind == "cut" else reset(environ))
    if fault.kind == "trickle":
        drops = _drip(signal, environ["werkzeug.socket"], fault.seconds)
        return Response(drops, content_type="application/json; charset=utf-8")
    if fault.kind == "truncate" and real is not None:
        whole = real.get_data()
        real.response = [whole[: len(whole) // 2]]
        real.headers["Content-Length"] = str(len(whole))
        return real
    if fault.kind == "graphql_error":
        text = json.dumps(_graphql_error(fault, real))
        return Response(text, content_type="application/json; charset=utf-8")
    return _status(fault)


def _graphql_error(fault: Fault, real: Response | None) -> dict[str, Any]:
    error: dict[str, Any] = {"message": fault.message}
    if fault.error_type:
        error = {"type": fault.error_type, **error}
    if not fault.null_paths or real is None:
        return {"errors": [error]}
    answer: dict[str, Any] = json.loads(real.get_data())
    errors = answer.setdefault("errors", [])
    data = answer.get("data")
    for path in fault.null_paths:
        places = list(data or ())[fault.spared :] if path[:1] == ["*"] else path[:1]
        for place in places:
            if _put_null(data, [place, *path[1:]]):
                errors.append({**error, "path": [place, *path[1:]]})
    return answer


def _put_null(data: Any, path: list[str | int]) -> bool:
    """Put null at the end of the path; False if the data has no such place."""
    for step in path[:-1]:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return False
    if isinstance(data, (dict, list)):
        data[path[-1]] = None  # type: ignore[index]  # a path's step fits what it goes into
        return True
    return False


RESET = "x-ratelimit-reset"


def _status(fault: Fault) -> Response:
    body = fault.body
    kind = "application/json; charset=utf-8"
    if body is None and fault.status >= 500:
        # GitHub's edge answers for a broken backend with a page, not with JSON.
        kind, body = "text/html", f"<html><head><title>{fault.status}</title></head></html>\n"
    elif body is None:
        body = json.dumps({"message": fault.message, "status": str(fault.status)})
    elif body.lstrip().startswith("<"):
        kind = "text/html"
    answer = Response(body, status=fault.status, content_type=kind)
    answer.headers.update(fault.headers)
    ends = fault.headers.get(RESET, "")
    if ends.startswith("+"):
        answer.headers[RESET] = str(int(time.time()) + int(ends))
    return answer
