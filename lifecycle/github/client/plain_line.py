"""The smallest client that speaks HTTP: one kept connection to one server, on Python's own `http.client`.

What is asked of GitHub goes through here, since the libraries' clients cost several times as much to
import as a request takes. What they give is kept: each byte is waited for no longer than the deadline
allows, a connection serves many requests, and the proxies and certificates of the environment hold.
Nothing is retried and no redirect is followed: that is for the modules above.
"""

from __future__ import annotations

import http.client
import io
import json
import os
import select
import socket
import ssl
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from typing import Any, NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit

from lifecycle.core.errors import Transient
from lifecycle.core.timing import Deadline, use_wait
from lifecycle.github.client import early_request
from lifecycle.github.client.early_request import JSON, USER_AGENT

_PORTS = {"http": 80, "https": 443}
_PART = 65_536
_SENDABLE = "!#$%&'()*+,/:;=?@[]~"


class Silence(NamedTuple):
    """Why no answer came: words that fit after "GitHub", whether it may have landed, and the way out."""

    words: str
    may_have_landed: bool = False
    is_final: bool = False
    way: str = ""


UNREACHED = Silence("could not be reached")
UNSAFE = Silence(
    "could not be reached safely: its TLS certificate was not accepted",
    way="If your company issued it, name the file of its authority, where you start Claude Code, too: "
    "export REQUESTS_CA_BUNDLE=FILE.",
)
UNREAD_CERTIFICATES = Silence(
    "cannot be asked safely: the trusted certificates that the environment names cannot be read",
    is_final=True,
)
UNPROXIED = Silence("could not be reached through the proxy")
TOO_LATE = Silence("did not answer in time", may_have_landed=True)
BROKEN_OFF = Silence("broke off the connection", may_have_landed=True)
BAD_URL = Silence("cannot be asked: the API URL is not a usable URL", is_final=True)
PROXY_UNUSABLE = Silence(
    "cannot be asked: the proxy that the environment names is not an http or https address",
    is_final=True,
)
BAD_TOKEN = Silence("cannot be asked: the token holds what no header may hold", is_final=True)


class NoAnswerError(Exception):
    """No answer came; `silence` says what that means. It holds nothing of what was asked."""

    def __init__(self, silence: Silence) -> None:
        super().__init__(silence.words)
        self.silence = silence


class Sent(NamedTuple):
    """An answer: its status, its headers with names in lower case, its JSON or text."""

    status: int
    headers: Mapping[str, str]
    body: Any


class _Waiting(io.RawIOBase):
    """Reads from a socket; each byte is waited for as long as the deadline allows."""

    def __init__(self, sock: socket.socket, remaining: Callable[[], float]) -> None:
        self._sock, self._left = sock, remaining
        self._raw = sock.makefile("rb", buffering=0)  # keeps the socket open until all is read

    def readable(self) -> bool:
        """True: this is for reading."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """As many bytes as are there; TimeoutError, or Transient where no time is left."""
        self._sock.settimeout(self._left())
        count: int | None = self._raw.readinto(buffer)
        return count

    def close(self) -> None:
        """Let go of the socket."""
        self._raw.close()
        super().close()


class _Answering(http.client.HTTPResponse):
    """An answer that is read within the deadline, its headers as well."""

    def __init__(self, remaining: Callable[[], float], sock: socket.socket, **more: Any) -> None:
        super().__init__(sock, **more)
        self.fp.close()
        self.fp = io.BufferedReader(_Waiting(sock, remaining))


class PlainLine:
    """One connection to one server; lost or closed, the next request opens another.

    Args:
        url: the server's address; a path below it goes before every path that is asked for.
        token: goes into the Authorization header of what is sent; "" for none.
        deadline: bounds every request.
    """

    def __init__(self, url: str, token: str, deadline: Deadline) -> None:
        self._url, self._given = url, bearer(token) if token else {}
        self._deadline = deadline
        self._connection: http.client.HTTPConnection | None = None
        self._before = ""
        self._proxied: Mapping[str, str] = {}
        self._parts, self._port = _split(url)
        if not self._port:
            self._parts = urlsplit("")

    def __del__(self) -> None:
        """Close the connection when the object goes."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def send(
        self, method: str, target: str, headers: Mapping[str, str], content: object = None
    ) -> Sent:
        """One request, sent once; its answer as text.

        Args:
            method: the verb.
            target: a path below the line's address if it begins with `/`, else a whole address.
            headers: what is sent besides what every request has.
            content: what is sent as JSON; nothing if it is None.

        Raises:
            NoAnswerError: no whole answer came.
            Transient: no time is left; nothing was sent.
        """
        sent, body = {"Accept-Encoding": "gzip", **self._given, **headers}, None
        if content is not None:
            body, sent["Content-Type"] = json.dumps(content).encode(), "application/json"
            if early_request.under_way and target == self._url:
                early = self._sent_early(body)
                if early is not None:
                    return early
        return self._read_whole(self.answer(method, target, sent, body))

    def ask(self, content: object) -> Sent:
        """One request to the line's own address, sent once, with the JSON of its answer read."""
        answer = self.send("POST", self._url, {}, content)
        return answer._replace(body=content_of(answer.body))

    def answer(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> http.client.HTTPResponse:
        """Send a body without the token; the content of the answer is not read yet: `parts` does that."""
        if not self._parts.hostname:
            raise NoAnswerError(BAD_URL)
        path = self._parts.path.rstrip("/") + target if target.startswith("/") else _path(target)
        connection = self._connected()
        sent = {"User-Agent": USER_AGENT, "Accept": JSON, **headers, **self._proxied}
        try:
            connection.sock.settimeout(self._deadline.remaining())
            with _silent(*_ASKING):
                connection.request(method, self._before + quote(path, safe=_SENDABLE), body, sent)
            use_wait()
            with _silent(*_ASKING):
                return connection.getresponse()
        except BaseException:
            # A deadline's alarm, too: a late answer must not meet the next request.
            self.close()
            raise

    def _read_whole(self, response: http.client.HTTPResponse) -> Sent:
        content, given = b"".join(self.parts(response)), response.headers
        # Several of a name are one, as HTTP has it.
        headers = {name.lower(): ", ".join(given.get_all(name, ())) for name in given}
        return Sent(response.status, headers, content.decode("utf-8", "replace"))

    def parts(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        """The content part by part; the connection is kept if it is read to its end."""
        kind = (response.getheader("Content-Encoding") or "").lower()
        unpack = zlib.decompressobj(zlib.MAX_WBITS | 32) if kind in {"gzip", "deflate"} else None
        is_whole = True
        try:
            while part := self._read(response):
                if unpack is not None:
                    with _silent(*_ASKING):
                        part = unpack.decompress(part)
                    is_whole = unpack.eof
                yield part
        finally:
            if not response.isclosed():
                response.close()
                self.close()
        if not is_whole:
            raise NoAnswerError(BROKEN_OFF)

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        """The next part, empty at the end."""
        with _silent(*_ASKING):
            part = response.read(_PART)
            if not part and response.length:  # Content-Length promised more
                raise http.client.IncompleteRead(b"", response.length)
            return part

    def _left(self) -> float:
        """Seconds that are left for a request under way; TimeoutError if none is."""
        try:
            return self._deadline.remaining()
        except Transient:
            raise TimeoutError from None

    def _connected(self) -> http.client.HTTPConnection:
        """The connection that is kept, if the server still holds it; else a new one."""
        kept = self._connection
        if kept is not None and kept.sock is not None and not _is_dropped(kept.sock):
            return kept
        self.close()
        with _silent((Exception, PROXY_UNUSABLE)):
            proxy = _proxy(self._parts, self._port)
        with _silent((Exception, BAD_URL if proxy is None else PROXY_UNUSABLE)):
            connection = self._made(proxy)
        connection.timeout = self._deadline.remaining()
        try:
            # A name that no host can have is a ValueError; so is a certificate that is not accepted.
            unreached = UNREACHED if proxy is None else UNPROXIED
            with _silent((ssl.SSLError, UNSAFE), (ValueError, BAD_URL), (Exception, unreached)):
                connection.connect()
        except BaseException:  # a deadline's alarm, too: nothing is sent on what is not safe yet
            connection.close()
            raise
        self._connection = connection
        return connection

    def _made(
        self, proxy: SplitResult | None, context: ssl.SSLContext | None = None
    ) -> http.client.HTTPConnection:
        """A connection that is not open yet, through the proxy if there is one.

        Args:
            proxy: who is connected to instead of the server.
            context: the TLS settings; those of the process unless given.
        """
        host, is_safe = self._parts.hostname or "", self._parts.scheme == "https"
        first, port = host, self._port
        if proxy is not None:
            if proxy.scheme != "http" or not proxy.hostname:
                raise NoAnswerError(UNPROXIED if proxy.scheme == "https" else PROXY_UNUSABLE)
            first, port = proxy.hostname, proxy.port or _PORTS["http"]
        connection: http.client.HTTPConnection
        if is_safe:
            connection = http.client.HTTPSConnection(first, port, context=context or _context())
            if proxy is not None:
                connection.set_tunnel(host, self._port, dict(_credentials(proxy)))
        else:
            self._before = f"http://{self._parts.netloc.rpartition('@')[2]}" if proxy else ""
            self._proxied = _credentials(proxy)
            connection = http.client.HTTPConnection(first, port)
        connection.response_class = partial(_Answering, self._left)  # type: ignore[assignment]  # it makes one
        return connection

    def _sent_early(self, body: bytes) -> Sent | None:
        """The answer if just this was sent to the line's own address already; None if it was not.

        Raises:
            NoAnswerError, Transient: as `send`.
        """
        seconds = self._deadline.remaining()
        sock = early_request.taken(self._url, self._given["Authorization"], body, seconds)
        if sock is None:
            return None
        use_wait()
        self._connection = self._made(None, getattr(sock, "context", None))
        self._connection.sock = sock
        response = _Answering(self._left, sock, method="POST")
        try:
            with _silent(*_ASKING):
                response.begin()
        except BaseException:
            self.close()
            raise
        if response.will_close:
            self.close()
        return self._read_whole(response)


@contextmanager
def streamed(url: str, deadline: Deadline) -> Iterator[tuple[int, Iterator[bytes]]]:
    """GET an address that needs no token, part by part; no redirect is followed.

    Args:
        url: the whole address; whoever has it may read what lies there, so it is shown to nobody.
        deadline: bounds the wait for each part, and the whole.

    Yields:
        the status, and the parts of the content as they come; nothing is kept of them.

    Raises:
        NoAnswerError: no answer came, or it broke off.
        Transient: no time is left.
    """
    with (
        closing(PlainLine(url, "", deadline)) as line,
        line.answer("GET", url, {"Accept": "*/*"}) as response,
    ):
        yield response.status, line.parts(response)


def speaks_to_proxy_of(url: str) -> bool:
    """False where the environment names a proxy for an address that is not spoken to here, as by TLS."""
    try:
        parts, port = _split(url)
        proxy = _proxy(parts, port) if parts.scheme else None
    except ValueError:  # of the proxy: an address that is none is refused when it is asked
        return True
    return proxy is None or proxy.scheme == "http"


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port; an address that is none has an origin of its own."""
    parts, port = _split(url)
    return (parts.scheme, parts.hostname, port or None) if parts.scheme else ("", url, None)


def _split(url: str) -> tuple[SplitResult, int]:
    """An address with the port that it is asked at, 0 for none; empty if it cannot be one."""
    try:
        parts = urlsplit(url)
        return parts, parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return urlsplit(""), 0


def place_of(url: str) -> early_request.Place:
    """Where a request to an address goes, as a line sends it."""
    parts, port = _split(url)
    return parts.scheme, parts.hostname or "", port, quote(_path(url), safe=_SENDABLE)


def bearer(token: str) -> dict[str, str]:
    """The header that a token goes into."""
    return {"Authorization": f"Bearer {token}"}


def content_of(text: str) -> Any:
    """The JSON of a text, or the text if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _path(url: str) -> str:
    """The path of an address, with its parameters."""
    parts = urlsplit(url)
    return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"


@contextmanager
def _silent(*silences: tuple[type[Exception], Silence]) -> Iterator[None]:
    """Turn errors of a socket and of HTTP into `NoAnswerError`, by the first row of its kind."""
    try:
        yield
    except (OSError, ValueError, http.client.HTTPException, zlib.error) as error:
        reason = next(reason for kind, reason in silences if isinstance(error, kind))
        raise NoAnswerError(reason) from None


_ASKING = (TimeoutError, TOO_LATE), (ValueError, BAD_TOKEN), (Exception, BROKEN_OFF)
"""Why no answer came to a request under way."""


def _is_dropped(sock: socket.socket) -> bool:
    """True if the server has closed a connection on which nothing is under way."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def _context() -> ssl.SSLContext:
    """The TLS settings; NoAnswerError where the trusted certificates cannot be read."""
    with _silent((Exception, UNREAD_CERTIFICATES)):
        return _tls_context(early_request.bundle())


_tls_context = cache(early_request.tls_context)


def _proxy(parts: SplitResult, port: int) -> SplitResult | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names for a server; None to connect straight."""
    names = [name for name, value in os.environ.items() if value and name[-6:].lower() == "_proxy"]
    if sys.platform != "darwin" and not {name.lower() for name in names} - {"no_proxy"}:
        return None
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    host = parts.hostname or ""
    address = proxies.get(parts.scheme) or proxies.get("all")
    is_direct = proxy_bypass(f"{host}:{port}") or _is_in_network(host, proxies.get("no", ""))
    if not address or is_direct:
        return None
    return urlsplit(address if "://" in address else f"http://{address}")


def _is_in_network(host: str, exceptions: str) -> bool:
    """True if NO_PROXY names a network with this address: Python itself reads only names there."""
    from ipaddress import ip_address, ip_network

    for exception in exceptions.split(","):
        with suppress(ValueError):
            if ip_address(host) in ip_network(exception.strip(), strict=False):
                return True
    return False


def _credentials(proxy: SplitResult | None) -> dict[str, str]:
    """The header for a proxy that wants to know who asks; {} without a user in its address."""
    if proxy is None or not proxy.username:
        return {}
    from base64 import b64encode

    words = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(words.encode()).decode()}"}
