"""HTTP/1.1 in front of the application: one thread for each connection, many requests on each.

A request is read completely before it is answered, so that the next one begins at its end; an answer with
another length than announced ends its connection.
Source: https://www.rfc-editor.org/rfc/rfc9112#name-persistence
"""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from contextlib import closing
from tempfile import SpooledTemporaryFile
from typing import IO, Any, cast

from werkzeug.datastructures import Headers
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler
from werkzeug.test import run_wsgi_app
from werkzeug.wsgi import ClosingIterator

from lifecycle.sandbox.wire.app import Application
from lifecycle.sandbox.wire.connections import Connections

SERVER = "lifecycle-sandbox"
CHUNK = 65536
IN_MEMORY = 1 << 20
"""Bytes of a request's body that are kept in memory; a larger body goes to a file."""


class Conversation(WSGIRequestHandler):
    """Answers the requests of one connection, one after the other, until either side closes it."""

    server: Server
    protocol_version = "HTTP/1.1"
    # An answer is two small packets; the second must not wait until the client acknowledges the first.
    disable_nagle_algorithm = True

    def log(self, *_: object) -> None:
        """Print nothing: the sandbox has its own log, and the terminal is the user's."""

    def run_wsgi(self) -> None:
        """Answer one request. If the client is gone, or a fault acts as if it were, end the connection."""
        number = self.server.connections.begin(self.request)
        try:
            with SpooledTemporaryFile(IN_MEMORY) as body:
                self.environ = environ = self.make_environ()
                self._receive(environ, body)
                environ |= {
                    "wsgi.input": body,
                    "wsgi.input_terminated": True,
                    "sandbox.connection": number,
                }
                self._answer(environ)
        except ConnectionError:
            self.close_connection = True

    def _receive(self, environ: dict[str, Any], body: IO[bytes]) -> None:
        """Read the request's body to its end.

        Raises:
            ConnectionError: It ends too early, or does not say where it ends.
        """
        source = environ["wsgi.input"]
        text = environ.get("CONTENT_LENGTH", "0")
        try:
            if "wsgi.input_terminated" in environ:  # it came in chunks
                while data := source.read(CHUNK):
                    body.write(data)
            else:
                remaining = int(text or 0)
                while remaining:
                    data = source.read(min(remaining, CHUNK))
                    if not data:
                        raise ConnectionAbortedError("The request ended before its time.")
                    remaining -= body.write(data)
        except (OSError, ValueError) as error:
            raise ConnectionAbortedError("The request cannot be read.") from error
        body.seek(0)

    def _answer(self, environ: dict[str, Any]) -> None:
        answer, status, headers = run_wsgi_app(self.server.app, environ)
        chunks = cast("ClosingIterator", answer)  # a response's
        has_no_body = environ["REQUEST_METHOD"] == "HEAD" or status[:3] in {"204", "304"}
        with closing(chunks):
            if has_no_body or "Content-Length" in headers:
                self._send_whole(b"".join(chunks), status, headers)
            else:
                self._send_stream(chunks, status, headers)

    def _send_whole(self, body: bytes, status: str, headers: Headers) -> None:
        self.server.connections.rest(self.request)
        self._send_head(status, headers)
        self.wfile.write(body)
        if body and headers.get("Content-Length", type=int) != len(body):
            self.close_connection = True  # the client cannot know where the next answer begins

    def _send_stream(self, chunks: Iterator[bytes], status: str, headers: Headers) -> None:
        """Send a body of unknown length in chunks, each after its length, and an empty chunk at the end."""
        first = next(chunks, b"")  # before any header, since a fault may drop the connection here
        is_chunked = self.request_version >= "HTTP/1.1"
        if is_chunked:
            headers["Transfer-Encoding"] = "chunked"
        else:
            self.close_connection = True
        self._send_head(status, headers)
        for data in filter(None, itertools.chain([first], chunks)):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if is_chunked else data)
        self.server.connections.rest(self.request)
        if is_chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _send_head(self, status: str, headers: Headers) -> None:
        code, _, words = status.partition(" ")
        if self.request_version < "HTTP/1.1":
            self.close_connection = True
        self.send_response_only(int(code), words)
        headers.setdefault("Server", SERVER)
        headers.setdefault("Date", self.date_time_string())
        for name, value in headers:
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()


class Server(ThreadedWSGIServer):
    """A threaded server that knows its open connections."""

    daemon_threads = False
    block_on_close = True

    def __init__(
        self, listener: socket.socket, application: Application, connections: Connections
    ) -> None:
        self.connections = connections
        host, port = listener.getsockname()[:2]
        super().__init__(host, port, application, handler=Conversation, fd=listener.fileno())

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection and register it."""
        connection, address = super().get_request()
        self.connections.accepted(connection)
        return connection, address

    def close_request(self, request: Any) -> None:
        """Close a connection and unregister it."""
        self.connections.gone(request)
        super().close_request(request)
