"""One request that is sent before anything else is imported; `plain_line` takes its answer.

Importing the code that reads an answer takes as long as GitHub takes to give one. A caller that knows the
request beforehand sends it here, and imports the rest meanwhile. The request is sent on a separate thread
with a time limit. If anything goes wrong with it, it counts as not sent: the line then asks as usual.

This module is imported first, so it imports next to nothing.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH112, PTH113, PTH118, PTH120

from __future__ import annotations

import _thread
import os
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl

Place = tuple[str, str, int, str]
"""The target of a request: the server's scheme, name and port, and the path."""

USER_AGENT = "agent-lifecycle"
JSON = "application/vnd.github+json"
SECONDS = 3.0
"""The longest time to reach the server; after that the line tries, with all the remaining time."""


class EarlyRequest:
    """A request that is sent in the background from now on.

    Args:
        place: the server.
        url: the whole address, as the line that takes it has it.
        authorization: the header, with only characters that a header may contain.
        body: the JSON to send.
    """

    def __init__(self, place: Place, url: str, authorization: str, body: bytes) -> None:
        self.content = url, authorization, body
        self._sent: socket.socket | None = None
        self._is_wanted = True
        self._lock = _thread.allocate_lock()
        if place[0] == "https":
            import ssl  # noqa: F401 -- here, so that the thread need not share the time with other imports
        self._lock.acquire()
        _thread.start_new_thread(self._run, (place,))

    def connection(self, seconds: float) -> socket.socket | None:
        """The connection on which it was sent; None if it was not sent, or not within this time."""
        if self._lock.acquire(timeout=min(seconds, SECONDS)):
            return self._sent
        self.abandon()
        return None

    def abandon(self) -> None:
        """Close the connection, now or once it is open."""
        self._is_wanted = False
        if self._lock.acquire(blocking=False) and self._sent is not None:
            self._sent.close()

    def _run(self, place: Place) -> None:
        try:
            self._sent = self._send(place)
        except Exception:  # noqa: BLE001, S110 -- the line asks, and says what is wrong
            pass
        finally:
            self._lock.release()
        if not self._is_wanted and self._sent is not None:
            self._sent.close()

    def _send(self, place: Place) -> socket.socket:
        _, authorization, body = self.content
        scheme, host, port, path = place
        sock = socket.create_connection((host, port), SECONDS)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if scheme == "https":
                sock = tls_context(bundle()).wrap_socket(sock, server_hostname=host)
            name = f"[{host}]" if ":" in host else host
            if port != (443 if scheme == "https" else 80):
                name += f":{port}"
            lines = (
                f"POST {path} HTTP/1.1", f"Host: {name}", f"User-Agent: {USER_AGENT}",
                f"Accept: {JSON}", "Accept-Encoding: gzip", f"Authorization: {authorization}",
                "Content-Type: application/json", f"Content-Length: {len(body)}",
            )  # fmt: skip
            sock.sendall("\r\n".join((*lines, "", "")).encode("latin-1") + body)
        except BaseException:
            sock.close()
            raise
        return sock


under_way: list[EarlyRequest] = []
"""The requests that were sent and not taken yet."""


def send(place: Place, url: str, authorization: str, body: bytes) -> None:
    """Send a reading request in the background, for a later call of `taken` with the same request.

    Args:
        place: the server; it must be reachable without a proxy.
        url: the whole address.
        authorization: the header.
        body: the JSON to send.
    """
    under_way.append(EarlyRequest(place, url, authorization, body))


def taken(url: str, authorization: str, body: bytes, seconds: float) -> socket.socket | None:
    """The connection on which exactly this was sent; None if it was not: then the caller has to ask."""
    request = under_way.pop()
    if request.content == (url, authorization, body):
        return request.connection(seconds)
    request.abandon()
    return None


def bundle() -> str:
    """The trusted certificates: the environment's, else those of certifi.

    Source: https://requests.readthedocs.io/en/latest/user/advanced/#ssl-cert-verification
    """
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        if path := os.environ.get(name):
            return path
    from importlib.util import find_spec

    # Found without an import, which would cost as much as reading the file.
    spec = find_spec("certifi")
    if spec is None or not spec.origin:
        return ""
    shipped = os.path.join(os.path.dirname(spec.origin), "cacert.pem")
    return shipped if os.path.isfile(shipped) else ""


def tls_context(certificates: str) -> ssl.SSLContext:
    """The TLS settings that check a server's certificate; OSError if the bundle cannot be read."""
    import ssl

    if os.path.isdir(certificates):
        context = ssl.create_default_context(capath=certificates)
    else:
        context = ssl.create_default_context(cafile=certificates or None)
    context.set_alpn_protocols(["http/1.1"])
    return context
