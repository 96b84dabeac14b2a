"""Serve the page of all worktrees on 127.0.0.1, to anybody who has its address, until the command ends.

Anybody who knows the token in the address may read, and nobody may write: only GET and HEAD. The token is
in the path: a cookie would be sent to every other server on this machine, since cookies ignore ports. A
request whose `Host` is not this machine's own name comes from a page elsewhere whose name resolves to this
machine (DNS rebinding), and is refused.

It is the standard library's server: two methods and five names need no more, and werkzeug, which the
embedded GitHub uses, takes twice its time to load.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import re
import secrets
import signal
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from lifecycle.core.errors import Refused
from lifecycle.core.redact import visible
from lifecycle.core.timing import heard
from lifecycle.settings import resources
from lifecycle.views.overview.overview_values import overview_json
from lifecycle.views.web import all_worktrees, web_page

HOST = "127.0.0.1"

_HERE = re.compile(r"(?:127\.0\.0\.1|localhost)(?::[0-9]+)?", re.IGNORECASE)
"""This machine's names for itself; with any port, since `ssh -L` may forward from another one."""

CONNECTIONS = 64
"""The most open connections; further ones are closed at once."""

SILENT_SECONDS = 60.0
"""Seconds after which a silent connection is closed."""

GLANCE = 2.0
"""Seconds between two checks whether the starting process still exists."""

GUARDS = {
    # Only the page's own files: titles and names are anybody's.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    "Allow": "GET, HEAD",
}
"""The headers of every answer."""


_NAMES = ("", "live.html", "overview.json", *web_page.ASSETS)
"""The files that are served: the page, its changing part, its data, and what it loads."""


class _PageRequest(BaseHTTPRequestHandler):
    """One request of a browser, by HTTP/1.0: no connection outlives its answer."""

    server: WatchServer
    server_version, sys_version = "lifecycle", ""
    error_message_format, error_content_type = "%(message)s\n", "text/plain; charset=utf-8"
    timeout = SILENT_SECONDS

    def do_GET(self) -> None:
        """Answer with the page or a part of it."""
        hosts = self.headers.get_all("Host") or [""]
        if len(hosts) != 1 or not _HERE.fullmatch(hosts[0]):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return
        token, slash, name = self.path.removeprefix("/").partition("?")[0].partition("/")
        given, wanted = os.fsencode(token), os.fsencode(self.server.token)
        if not (hmac.compare_digest(given, wanted) and slash and name in _NAMES):
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        try:
            text, kind, version = self._answer(name)
        except Exception as error:  # noqa: BLE001 -- one page fails, and says so; the server goes on
            self.server.complain(f"The page could not be made ({type(error).__name__}: {error}).")
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)
            return
        self._send(text, kind, version)

    do_HEAD = do_GET  # noqa: N815 -- the library's name

    def _answer(self, name: str) -> tuple[str, str, str]:
        """Text, type and version of the file with this name."""
        if name in web_page.ASSETS:
            return resources.packaged(f"views/web/templates/{name}"), web_page.ASSETS[name], ""
        worktrees = self.server.worktrees
        world = worktrees.look()
        if name == "overview.json":
            shown = [overview_json(overview) for overview in world.overviews]
            data = {"clones": world.clones, "unread": world.unread, "worktrees": shown}
            return json.dumps(data), "application/json", world.version
        text = web_page.render(name or "watch.html", world, worktrees.environment)
        return text, "text/html", world.version if name else ""

    def _send(self, text: str, kind: str, version: str) -> None:
        tag = f'"{version}"' if version else ""
        is_known = bool(tag) and self.headers.get("If-None-Match") == tag
        body = b"" if is_known else text.encode("utf-8", "replace")
        self.send_response(HTTPStatus.NOT_MODIFIED if is_known else HTTPStatus.OK)
        if tag:
            self.send_header("ETag", tag)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """Add the headers of every answer."""
        for name, value in GUARDS.items():
            self.send_header(name, value)
        super().end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Report an error by its status alone; nothing of the request is repeated."""
        del message, explain
        is_unknown = code == HTTPStatus.NOT_IMPLEMENTED  # a method without a function
        super().send_error(HTTPStatus.METHOD_NOT_ALLOWED if is_unknown else code)

    def log_message(self, *_: object) -> None:
        """Log nothing: the token is in every address."""


class WatchServer(ThreadingHTTPServer):
    """The server; it serves while its context is entered.

    Args:
        worktrees: the worktrees to show.
        port: on 127.0.0.1; 0 takes a free one.

    Raises:
        Refused: the port cannot be used.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, worktrees: all_worktrees.AllWorktrees, port: int = 0) -> None:
        self.worktrees, self.token = worktrees, secrets.token_hex(32)
        self._seats = threading.BoundedSemaphore(CONNECTIONS)
        self._complaints: set[str] = set()
        try:
            super().__init__((HOST, port), _PageRequest)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise Refused(
                f"Port {port} of {HOST} cannot be used ({why}), so no page is served; stop the program "
                "that uses it, or leave --port out."
            ) from None

    @property
    def address(self) -> str:
        """The page's address; anybody who knows it may read the page."""
        return f"http://{HOST}:{self.server_address[1]}/{self.token}/"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.serve_forever, name="page", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer on a separate thread, unless there are too many connections."""
        if self._seats.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and free the connection's place."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._seats.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 -- the library's
        """Report an error in one sentence; a browser that disconnected is not an error."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.complain(f"A connection was given up ({type(error).__name__}: {error}).")

    def complain(self, sentence: str) -> None:
        """Print a sentence on standard error, once."""
        if sentence not in self._complaints and sys.stderr is not None:
            self._complaints.add(sentence)
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"lifecycle: {visible(sentence)}\n")


def serve(server: WatchServer, announce: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGHUP, or until the terminal or the starting process is gone.

    Args:
        server: the server.
        announce: called once it serves.

    Raises:
        KeyboardInterrupt: somebody pressed Ctrl-C.
    """
    ended = threading.Event()
    # With nohup it is meant to outlive its terminal.
    outlives = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    numbers = [signal.SIGTERM] if outlives else [signal.SIGTERM, signal.SIGHUP]
    parent, has_terminal = os.getppid(), os.isatty(0)
    with heard(lambda _: ended.set(), *numbers), server:
        announce()
        while not ended.wait(GLANCE):
            is_left = os.getppid() != parent or (has_terminal and not os.isatty(0))
            if is_left and not outlives:
                break
