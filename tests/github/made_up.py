"""A server on loopback that answers what a test made up with `responses` for api.github.com.

`responses` stands in the place of requests' connections, which the smallest client has no use for: so each
request that comes here is asked of `responses`, and its answer goes back over a real connection.
"""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests

LIBRARIES = ("GqlLine", "PyGithubLine")
BOTH = pytest.mark.parametrize(
    "by_library", [(), LIBRARIES], ids=["plain", "library"], indirect=True
)
"""A test that is made with the smallest client and with PyGithub and gql."""

PRETENDED = "https://api.github.com"
_KEPT = ("Authorization", "Content-Type", "If-None-Match", "User-Agent", "Accept")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    strange: list[str]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        where = PRETENDED if self.path == "/graphql" else f"{PRETENDED}:443"
        headers = {name: self.headers[name] for name in _KEPT if name in self.headers}
        try:
            found = requests.request(
                self.command,
                where + self.path,
                data=sent,
                headers=headers,
                timeout=9,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            if "refused by Responses" in str(error):
                self.strange.append(f"{self.command} {self.path}: {error}")
            self.close_connection = True  # the answer was lost
            return
        self.send_response_only(found.status_code)
        here = f"http://127.0.0.1:{self.connection.getsockname()[1]}"
        for name, value in found.headers.items():
            self.send_header(name, re.sub(rf"{PRETENDED}(:443)?", here, value))
        self.send_header("Content-Length", str(len(found.content)))
        self.end_headers()
        self.wfile.write(found.content)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer  # noqa: N815 -- http.server's names


@contextmanager
def answering(strange: list[str]) -> Iterator[str]:
    """The address of the server; `strange` gets what was asked for and never made up."""
    handler = type("Handler", (_Handler,), {"strange": strange})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
