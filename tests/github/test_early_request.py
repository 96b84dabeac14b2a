"""lifecycle.github.client.early_request: a line takes up the answer to what was sent before it was made."""

from __future__ import annotations

import json
import socket
import ssl
from pathlib import Path

import pytest

from lifecycle.core.timing import Deadline
from lifecycle.github.client import early_request, plain_line
from lifecycle.github.client.plain_line import PlainLine, place_of
from tests.github.hub import TOKEN
from tests.github.test_plain_line import BUNDLES, Server, serving

OTHER = b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"other"'
FIRST = b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"first"'
LAST = b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\n"first"'


def sent(url: str, content: object = "question") -> None:
    """Send a question early, to this address."""
    early_request.send(place_of(url), url, f"Bearer {TOKEN}", json.dumps(content).encode())


def answer(url: str, deadline: Deadline, content: object = "question") -> object:
    """The answer that a line of its own gets."""
    line = PlainLine(url, TOKEN, deadline)
    try:
        return line.ask(content).body
    finally:
        line.close()


def test_an_early_request_is_the_one_that_the_line_would_send(deadline: Deadline) -> None:
    """Method, path, headers and their order matter to no server; here they are the same all the same."""
    with serving(FIRST) as early, serving(FIRST) as late:
        heads = []
        for server, is_early in ((early, True), (late, False)):
            url = f"http://127.0.0.1:{server.port}/api/gräph?of=1"
            if is_early:
                sent(url)
            assert answer(url, deadline) == "first"
            head = server.heard[0].partition(b"\r\n\r\n")[0].decode().split("\r\n")
            heads.append({line for line in head if not line.startswith("Host: ")})
        assert heads[0] == heads[1]


def test_an_address_of_version_6_stands_in_brackets(deadline: Deadline) -> None:
    """In the header Host as in the address; a server may know itself by nothing else."""
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        port = server.getsockname()[1]
        place = place_of(f"http://[::1]:{port}/graphql")
        request = early_request.EarlyRequest(place, "", "Bearer x", b"{}")
        connection = server.accept()[0]
        with connection:
            assert f"\r\nHost: [::1]:{port}\r\n".encode() in connection.recv(9_000)
        request.abandon()


def test_the_answer_is_taken_up_and_the_connection_kept(deadline: Deadline) -> None:
    """One request for the first question; the second goes over the same connection."""
    with serving(FIRST, OTHER) as server:
        url = f"http://127.0.0.1:{server.port}/graphql"
        sent(url)
        line = PlainLine(url, TOKEN, deadline)
        assert [line.ask("question").body, line.ask("question").body] == ["first", "other"]
        line.close()
    assert len(server.heard) == 2


def test_a_server_that_keeps_no_connection_is_asked_on_another(deadline: Deadline) -> None:
    """It says so in its answer."""

    def speak(connection: socket.socket) -> None:
        server.hear(connection)
        connection.sendall(LAST)

    server = Server(speak, speak)
    try:
        url = f"http://127.0.0.1:{server.port}/graphql"
        sent(url)
        line = PlainLine(url, TOKEN, deadline)
        assert [line.ask("question").body, line.ask("again").body] == ["first", "first"]
        line.close()
    finally:
        server.close()


@pytest.mark.parametrize("differs", range(3))
def test_whoever_asks_something_else_asks_it(differs: int) -> None:
    """What was sent early is for just that address, token and question; its answer is nobody's."""
    with serving(FIRST) as server:
        url = f"http://127.0.0.1:{server.port}/graphql"
        sent(url)
        line, times = f"Bearer {TOKEN}", [1, 1, 1]
        times[differs] = 2
        asked = url * times[0], line * times[1], b'"question"' * times[2]
        assert early_request.taken(*asked, 5.0) is None
        assert early_request.under_way == []


def test_where_nobody_answered_early_the_line_says_so(deadline: Deadline) -> None:
    """A server that is reached only later is asked then, as if nothing had been sent."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/graphql"
    sent(url)
    assert early_request.taken(url, f"Bearer {TOKEN}", b'"question"', 5.0) is None


def test_an_early_request_is_as_safe_as_any(
    deadline: Deadline,
    monkeypatch: pytest.MonkeyPatch,
    authority: tuple[Path, ssl.SSLContext],
) -> None:
    """By TLS it reaches a server that the bundle knows, and sends nothing to another."""
    public, context = authority
    monkeypatch.setattr(plain_line, "_tls_context", None)  # the certificates are not read again
    for name in BUNDLES:
        monkeypatch.delenv(name, raising=False)
    for is_known in (True, False):
        monkeypatch.setenv("SSL_CERT_FILE", str(public) if is_known else "")
        with serving(FIRST, tls=context) as server:
            url = f"https://127.0.0.1:{server.port}/graphql"
            sent(url)
            if is_known:
                assert answer(url, deadline) == "first"
            else:
                assert early_request.taken(url, f"Bearer {TOKEN}", b'"question"', 5.0) is None
        assert len(server.heard) == is_known
