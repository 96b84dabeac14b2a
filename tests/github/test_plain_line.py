"""lifecycle.github.client.plain_line: what the libraries' clients give is kept, over real connections."""

from __future__ import annotations

import gc
import gzip
import json
import socket
import ssl
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from lifecycle.core.errors import Transient
from lifecycle.core.timing import (
    Deadline,
    DeadlineReached,
    SystemClock,
    import_meanwhile,
    interrupted,
)
from lifecycle.github.client import plain_line
from lifecycle.github.client.client_common import Keeper, Sending, Token
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.library_lines import GqlLine, PyGithubLine
from lifecycle.github.client.plain_line import NoAnswerError, PlainLine, Sent, Silence
from lifecycle.github.client.rest import RestClient
from tests.github.hub import TOKEN, PatientClock, sending
from tests.repeated import soaked

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
VARIABLES = [
    f"{name}_{kind}"
    for name, kind in (("HTTP", "PROXY"), ("HTTPS", "PROXY"), ("ALL", "PROXY"), ("NO", "PROXY"))
]
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
Speak = Callable[[socket.socket], object]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy and no certificates of the developer's own."""
    for name in (*VARIABLES, *(one.lower() for one in VARIABLES), *BUNDLES):
        monkeypatch.delenv(name, raising=False)


class Server:
    """A socket that says what a test wants, connection by connection, and keeps what it was sent."""

    def __init__(self, *speaks: Speak, tls: ssl.SSLContext | None = None) -> None:
        self.heard: list[bytes] = []
        self._speaks, self._tls = speaks, tls
        self._held = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._held.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        for speak in self._speaks:
            try:
                given, _ = self._held.accept()
                with given, ExitStack() as stack:
                    found = given
                    if self._tls is not None:
                        found = stack.enter_context(self._tls.wrap_socket(given, server_side=True))
                    found.settimeout(10)
                    speak(found)
            except OSError:
                continue  # a client that went away

    def close(self) -> None:
        """Nobody is served any more; who was waited for need not come."""
        while self._thread.is_alive():
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                self._thread.join(0.05)
        self._held.close()

    def hear(self, found: socket.socket) -> bytes:
        """One request, which is kept."""
        got = b""
        while b"\r\n\r\n" not in got:
            part = found.recv(65_536)
            if not part:
                return got
            got += part
        self.heard.append(got)
        return got


@contextmanager
def serving(*answers: bytes, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server with one connection, on which each request gets the next answer; then it is closed."""

    def speak(found: socket.socket) -> None:
        for answer in answers:
            if server.hear(found):
                found.sendall(answer)

    server = Server(speak, tls=tls)
    try:
        yield server
    finally:
        server.close()


def asked(url: str, deadline: Deadline, content: object = None) -> Sent:
    """One request on a line of its own."""
    line = PlainLine(url, TOKEN, deadline)
    try:
        return line.send("GET" if content is None else "POST", "/x", {}, content)
    finally:
        line.close()


def test_modules_are_imported_while_an_answer_is_on_its_way(
    deadline: Deadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was named as needed is there before the server has answered, and after it was asked."""
    monkeypatch.syspath_prepend(tmp_path)
    tmp_path.joinpath("asked_meanwhile.py").write_text(
        "from tests.github import test_plain_line as t\nt.IMPORTED.set()\n"
    )
    IMPORTED.clear()

    def speak(found: socket.socket) -> None:
        server.hear(found)
        if IMPORTED.wait(30):
            found.sendall(OK)

    server = Server(speak)
    import_meanwhile("asked_meanwhile")
    try:
        assert asked(f"http://127.0.0.1:{server.port}", deadline).body == "{}"
    finally:
        server.close()
        sys.modules.pop("asked_meanwhile", None)


IMPORTED = threading.Event()
"""A module was imported."""


def silence_of(url: str, deadline: Deadline) -> Silence:
    """Why there was no answer; nothing of it holds the token."""
    with pytest.raises(NoAnswerError) as caught:
        asked(url, deadline)
    assert TOKEN not in f"{caught.value!r} {caught.value.__dict__} {caught.value.__cause__}"
    return caught.value.silence


def test_a_request_is_what_was_asked_for(deadline: Deadline) -> None:
    """Path below the address, token, our name, a body with its length; header names in small letters."""
    answer = b"HTTP/1.1 201 Created\r\nX-One: 1\r\nX-One: 2\r\nContent-Length: 2\r\n\r\n[]"
    with serving(answer) as server:
        found = asked(f"http://127.0.0.1:{server.port}/api/v3", deadline, "ok")
    head = server.heard[0].decode()
    assert head.startswith("POST /api/v3/x HTTP/1.1\r\n")
    assert f"Authorization: Bearer {TOKEN}\r\n" in head
    assert "User-Agent: agent-lifecycle\r\n" in head
    assert "Content-Length: 4\r\n" in head
    assert (found.status, found.headers["x-one"], found.body) == (201, "1, 2", "[]")


def test_a_server_that_sends_a_byte_now_and_then_is_left_in_time() -> None:
    """Each byte of headers and content is waited for only as long as the whole may take."""
    end = threading.Event()

    def dribble(found: socket.socket) -> None:
        server.hear(found)
        for byte in OK + b" " * 1000:
            found.sendall(bytes([byte]))
            if end.wait(0.05):
                return

    server = Server(dribble)
    began = time.monotonic()
    deadline = Deadline.after(SystemClock(), 0.5)
    assert silence_of(f"http://127.0.0.1:{server.port}", deadline) == plain_line.TOO_LATE
    assert time.monotonic() - began < 5
    end.set()
    server.close()


def test_a_server_that_says_nothing_may_have_done_it(clock: PatientClock) -> None:
    """The time-out is what is left of the deadline; what was sent may have landed."""
    server = Server(lambda found: bool(server.hear(found) and found.recv(1)))  # its end
    found = silence_of(f"http://127.0.0.1:{server.port}", Deadline.after(clock, 0.2))
    server.close()
    assert found == plain_line.TOO_LATE
    assert found.may_have_landed


def test_without_time_nothing_is_sent(clock: PatientClock) -> None:
    """The deadline's own error, and no connection."""
    with serving(OK) as server, pytest.raises(Transient, match="time for this look is up"):
        asked(f"http://127.0.0.1:{server.port}", Deadline.after(clock, 0))
    assert server.heard == []


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\n"
        + gzip.compress(b"{}" * 99)[:12],
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ],
    ids=["nothing", "length", "chunk", "odd", "packed", "another protocol"],
)
def test_an_answer_that_breaks_off_may_have_landed(deadline: Deadline, answer: bytes) -> None:
    """Whatever part of it came: the request was sent."""

    def speak(found: socket.socket) -> None:
        server.hear(found)
        found.sendall(answer)

    server = Server(speak)
    assert silence_of(f"http://127.0.0.1:{server.port}", deadline) == plain_line.BROKEN_OFF
    server.close()


@pytest.mark.parametrize("host", ["nowhere.invalid", "127.0.0.1"])
def test_who_cannot_be_connected_to_was_sent_nothing(deadline: Deadline, host: str) -> None:
    """A name that nobody has, a port at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        found = silence_of(f"http://{host}:{held.getsockname()[1]}", deadline)
    assert found == plain_line.UNREACHED


@pytest.mark.parametrize(
    "url",
    [
        "http://:bad/x",
        "http://",
        "nonsense",
        "ftp://127.0.0.1",
        "http://a b.x",
        f"http://{'a' * 70}.x",
    ],
)
def test_an_address_that_is_none_is_final(deadline: Deadline, url: str) -> None:
    """Nobody is asked, and nobody need try again."""
    assert silence_of(url, deadline) == plain_line.BAD_URL


def test_a_token_that_is_no_header_is_said_without_it(deadline: Deadline) -> None:
    """Python's own error would show it."""
    with serving(OK) as server:
        line = PlainLine(f"http://127.0.0.1:{server.port}", f"{TOKEN}\r\nX: 1", deadline)
        with pytest.raises(NoAnswerError) as caught:
            line.send("GET", "/x", {})
        line.close()
    assert caught.value.silence == plain_line.BAD_TOKEN
    assert TOKEN not in f"{caught.value!r} {caught.value.__cause__}"
    assert server.heard == []


def test_a_connection_is_kept_until_the_server_ends_it(deadline: Deadline) -> None:
    """Two requests on one; the third finds that it was closed meanwhile, and opens another."""

    def twice(found: socket.socket) -> None:
        for _ in range(2):
            server.hear(found)
            found.sendall(OK)

    def once(found: socket.socket) -> None:
        server.hear(found)
        found.sendall(OK)

    server = Server(twice, once)
    line = PlainLine(f"http://127.0.0.1:{server.port}", "", deadline)
    line.send("GET", "/1", {})
    first = line._connection
    line.send("GET", "/2", {})
    assert line._connection is first
    assert first is not None
    first.sock.settimeout(10)
    assert first.sock.recv(1, socket.MSG_PEEK) == b""  # the end has come here
    assert line.send("GET", "/3", {}).status == 200
    assert line._connection is not first
    line.close()
    server.close()
    assert [one.split()[1] for one in server.heard] == [b"/1", b"/2", b"/3"]


def test_an_answer_may_come_packed_or_in_chunks(deadline: Deadline) -> None:
    """Both are asked for by nobody but HTTP; what comes out is the text."""
    content = gzip.compress(json.dumps({"a": "ä" * 9}).encode())
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(content)}\r\n\r\n"
    chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n1\r\n \r\n0\r\n\r\n"
    nothing = b"HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\nETag: x\r\n\r\n"
    with serving(head.encode() + content, chunks, nothing) as server:
        line = PlainLine(f"http://127.0.0.1:{server.port}", "", deadline)
        found = [line.send("GET", "/x", {}).body for _ in range(3)]
        line.close()
    assert found == ['{"a": "' + "\\u00e4" * 9 + '"}', "{} ", ""]


def test_what_is_streamed_comes_part_by_part(deadline: Deadline) -> None:
    """Without a token; who takes only a part waits for no more, and an error of theirs stays theirs."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n"
    with serving(head + b"x" * 200_000) as server:
        url = f"http://127.0.0.1:{server.port}/log?sig=1"
        with plain_line.streamed(url, deadline) as (status, parts):
            assert (status, sum(map(len, parts))) == (200, 200_000)
    assert b"Authorization" not in server.heard[0]
    assert server.heard[0].startswith(b"GET /log?sig=1 ")
    with serving(head + b"x" * 70_000) as server:
        url = f"http://127.0.0.1:{server.port}/log"
        with pytest.raises(OSError, match="my disk"):
            take_one(url, deadline)


def take_one(url: str, deadline: Deadline) -> None:
    """Begin to read, and fail for a reason of one's own."""
    with plain_line.streamed(url, deadline) as (_, parts):
        if next(parts):
            raise OSError("my disk is full")


@pytest.mark.parametrize("is_safe", [True, False], ids=["handshake", "answer"])
def test_an_alarm_in_the_middle_leaves_no_connection(deadline: Deadline, is_safe: bool) -> None:
    """A handshake that did not end is not gone on with in the clear, and a late answer is nobody's."""
    end = threading.Event()
    server = Server(lambda found: bool(found.recv(65_536) and end.wait(10)))
    scheme = "https" if is_safe else "http"
    line = PlainLine(f"{scheme}://127.0.0.1:{server.port}", "", deadline)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Python's own, of a handshake cut short
        with pytest.raises(DeadlineReached), interrupted(0.2):
            line.send("GET", "/x", {})
        gc.collect()
    assert line._connection is None
    end.set()
    server.close()


# -- proxies

TUNNEL = b"HTTP/1.1 200 Connection established\r\n\r\n"


def test_a_proxy_gets_the_whole_address(
    deadline: Deadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the name and password that its own address has, which the server never sees."""
    with serving(OK) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://me:p%40ss@127.0.0.1:{proxy.port}")
        assert asked("http://github.example:81/api", deadline).status == 200
    head = proxy.heard[0].decode()
    assert head.startswith("GET http://github.example:81/api/x HTTP/1.1\r\nHost: github.example:81")
    assert "Proxy-Authorization: Basic bWU6cEBzcw==\r\n" in head


@pytest.mark.parametrize(
    ("exceptions", "is_direct"),
    [("127.0.0.1", True), ("10.0.0.0/8,127.0.0.0/8", True), ("*", True), ("10.0.0.0/8, .x", False)],
)
def test_no_proxy_names_who_is_asked_straight(
    deadline: Deadline, monkeypatch: pytest.MonkeyPatch, exceptions: str, is_direct: bool
) -> None:
    """By name and by network, as requests has it."""
    with serving(OK) as proxy, serving(OK) as server:
        monkeypatch.setenv("http_proxy", f"127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", exceptions)
        asked(f"http://127.0.0.1:{server.port}", deadline)
    assert (len(proxy.heard), len(server.heard)) == ((0, 1) if is_direct else (1, 0))


@pytest.mark.parametrize(
    ("host", "exceptions", "is_direct"),
    [
        ("api.github.com", "github.com", True),
        ("api.github.com", ".github.com", True),
        ("api.github.com", "api.github.com:443", True),
        ("api.github.com", "example.com,10.0.0.0/8", False),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("10.1.2.3", "10.0.0.0/99", False),
        ("api.github.com", "", False),
    ],
)
def test_the_exceptions_of_a_proxy(
    monkeypatch: pytest.MonkeyPatch, host: str, exceptions: str, is_direct: bool
) -> None:
    """The end of a name, a name with its port, a network; what is none of these is nobody."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", exceptions)
    assert (plain_line._proxy(urlsplit(f"https://{host}"), 443) is None) is is_direct


@pytest.fixture
def collected() -> Iterator[None]:
    """Have what the test leaves collected at its end, without a word on sockets among it.

    The http.client of Python 3.11.2, unlike that of 3.11.7, does not close a proxy's answer that is no 200.
    """
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", soaked(b"")],
    ids=["407", "nothing"],
)
def test_a_proxy_that_refuses_was_given_nothing(
    deadline: Deadline, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    """The tunnel does not stand, so nothing was sent."""
    with serving(answer) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        assert silence_of("https://github.example", deadline) == plain_line.UNPROXIED
    assert TOKEN.encode() not in proxy.heard[0]


@pytest.mark.parametrize(
    "proxy", ["socks5h://127.0.0.1:1", "not a url", "http://[half", "http://host:99999999"]
)
def test_a_proxy_that_nobody_speaks_to_is_said_to_be_none(
    deadline: Deadline, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    """The environment is to be mended: nobody need try again, and it is no error of ours."""
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    assert silence_of("https://github.example", deadline) == plain_line.PROXY_UNUSABLE


def test_a_proxy_that_is_reached_by_tls_is_an_address(
    deadline: Deadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The libraries speak to it; what is read without them, a job's log, is not reached through it."""
    monkeypatch.setenv("HTTPS_PROXY", "https://127.0.0.1:1")
    assert silence_of("https://github.example", deadline) == plain_line.UNPROXIED


# -- certificates


@pytest.mark.parametrize("name", BUNDLES)
def test_the_environments_certificates_are_trusted(
    deadline: Deadline,
    monkeypatch: pytest.MonkeyPatch,
    authority: tuple[Path, ssl.SSLContext],
    name: str,
) -> None:
    """A company's own authority, by any of the three variables."""
    public, context = authority
    monkeypatch.setenv(name, str(public))
    with serving(OK, tls=context) as server:
        assert asked(f"https://127.0.0.1:{server.port}", deadline).status == 200


def test_a_server_that_nobody_vouches_for_is_sent_nothing(
    deadline: Deadline, authority: tuple[Path, ssl.SSLContext]
) -> None:
    """Not known to the bundle that comes with the libraries."""
    with serving(OK, tls=authority[1]) as server:
        assert silence_of(f"https://127.0.0.1:{server.port}", deadline) == plain_line.UNSAFE
    assert server.heard == []


@pytest.mark.parametrize(
    ("kind", "content"),
    [(PlainLine, "no certificate"), *product((PlainLine, GqlLine, PyGithubLine), (None,))],
)
def test_certificates_that_cannot_be_read_are_named_and_nothing_is_sent(
    deadline: Deadline,
    monkeypatch: pytest.MonkeyPatch,
    authority: tuple[Path, ssl.SSLContext],
    tmp_path: Path,
    kind: Any,
    content: str | None,
) -> None:
    """A bundle that is not there, or holds none, is the environment's fault: waiting does not help."""
    bundle = tmp_path / "bundle.pem"
    if content is not None:
        bundle.write_text(content)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(bundle))
    with serving(OK, tls=authority[1]) as server:
        line = kind(f"https://127.0.0.1:{server.port}", "t", deadline)
        query = {"query": "{ viewer { login } }", "operationName": "", "variables": {}}
        asked_by = line.send if kind is PyGithubLine else line.ask
        with closing(line), pytest.raises(NoAnswerError) as raised:
            asked_by(*("GET", "/", {}, None) if kind is PyGithubLine else (query,))
    assert raised.value.silence == plain_line.UNREAD_CERTIFICATES
    assert server.heard == []


def test_a_name_that_the_certificate_has_not_is_refused(
    deadline: Deadline, monkeypatch: pytest.MonkeyPatch, authority: tuple[Path, ssl.SSLContext]
) -> None:
    """Known to the bundle, but somebody else's."""
    public, context = authority
    monkeypatch.setenv("SSL_CERT_FILE", str(public))
    with serving(OK, tls=context) as server:
        assert silence_of(f"https://localhost:{server.port}", deadline) == plain_line.UNSAFE
    assert server.heard == []


def test_the_tunnel_of_a_proxy_is_safe_to_its_end(
    deadline: Deadline, monkeypatch: pytest.MonkeyPatch, authority: tuple[Path, ssl.SSLContext]
) -> None:
    """CONNECT, then TLS with the server behind: the proxy sees neither path nor token."""
    public, context = authority

    def tunnel(found: socket.socket) -> None:
        proxy.hear(found)
        found.sendall(TUNNEL)
        with context.wrap_socket(found, server_side=True) as inner:
            inside.append(inner.recv(65_536))
            inner.sendall(OK)

    inside: list[bytes] = []
    proxy = Server(tunnel)
    monkeypatch.setenv("SSL_CERT_FILE", str(public))
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
    assert asked("https://github.example/api", deadline).status == 200
    proxy.close()
    assert proxy.heard[0].startswith(b"CONNECT github.example:443 HTTP/1.")
    assert TOKEN.encode() not in proxy.heard[0]
    assert inside[0].startswith(b"GET /api/x HTTP/1.1\r\n")
    assert b"\r\nHost: github.example\r\n" in inside[0]


def test_the_host_has_its_port_only_where_that_is_not_the_usual_one(deadline: Deadline) -> None:
    """Some servers know themselves by their name alone, and answer for no `name:443`."""
    lines = []
    for scheme, port in (("http", 80), ("https", 443), ("http", 443), ("https", 80)):
        near, far = socket.socketpair()
        with near, far:
            connection = PlainLine(f"{scheme}://h.example:{port}", "", deadline)._made(None)
            connection.sock = near
            connection.request("GET", "/")
            lines.append(far.recv(65_536).split(b"\r\n")[1])
    usual, other = [b"Host: h.example"] * 2, [b"Host: h.example:443", b"Host: h.example:80"]
    assert lines == usual + other


def test_a_proxy_that_is_reached_by_tls_is_left_to_the_libraries(
    deadline: Deadline, monkeypatch: pytest.MonkeyPatch, authority: tuple[Path, ssl.SSLContext]
) -> None:
    """TLS inside of TLS is not spoken here: gql sends instead, and the proxy hears whom it is to reach."""
    public, context = authority
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(public))
    client = GraphClient("https://github.example/graphql", sending(TOKEN, deadline))
    with serving(b"HTTP/1.1 403 Forbidden\r\n\r\n", tls=context) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"https://127.0.0.1:{proxy.port}")
        with pytest.raises(Transient, match="could not be reached through the proxy"):
            client.execute("survey_owner_names", {"login": "o"}, subject="The owner")
    client.close()
    assert proxy.heard[0].startswith(b"CONNECT github.example:443 HTTP/1.")
    assert TOKEN.encode() not in proxy.heard[0]


@pytest.mark.parametrize(
    ("proxy", "speaks"),
    [
        ("", True),
        ("http://p:1", True),
        ("p:1", True),
        ("https://p:1", False),
        ("socks5://p", False),
    ],
)
def test_which_proxies_are_spoken_to(
    monkeypatch: pytest.MonkeyPatch, proxy: str, speaks: bool
) -> None:
    """Those of plain HTTP; an address that is none needs no proxy, and is refused when it is asked."""
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    assert plain_line.speaks_to_proxy_of("https://github.example") is speaks
    assert plain_line.speaks_to_proxy_of("https://[half") is True


def test_a_line_with_a_token_says_that_it_sends_json(deadline: Deadline) -> None:
    """Where it sends something; the answer's JSON is read either way."""
    with serving(OK, OK) as server:
        line = PlainLine(f"http://127.0.0.1:{server.port}/x", TOKEN, deadline)
        assert [line.send("GET", "/", {}).body, line.ask({}).body] == ["{}", {}]
        line.close()
    assert [b"Content-Type: application/json" in heard for heard in server.heard] == [False, True]
    assert all(f"Bearer {TOKEN}".encode() in heard for heard in server.heard)


def test_what_is_kept_of_an_answer_is_of_the_token_that_asked(deadline: Deadline) -> None:
    """Another token asks for all of it: an ETag is one token's."""
    now = [Token("first", "GH_TOKEN", 0.0)]
    answer = b'HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: 15\r\n\r\n{"login": "me"}'

    def speak(found: socket.socket) -> None:
        while server.hear(found):
            found.sendall(answer)

    server = Server(speak, speak)
    tokens = Keeper(lambda: now[-1], deadline.clock)
    client = RestClient(f"http://127.0.0.1:{server.port}", Sending(tokens, deadline))
    assert [client.viewer(), client.viewer()] == ["me", "me"]
    now.append(Token("second", "GH_TOKEN", 0.0))
    assert client.viewer() == "me"
    client.close()
    server.close()
    asked_if = [b"If-None-Match" in heard for heard in server.heard]
    assert asked_if == [False, True, False]
