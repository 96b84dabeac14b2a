"""HTTP/1.1: connections that are kept, and what ends one."""

from __future__ import annotations

import json
import re
import socket
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
import requests

from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.wire.connections import Connections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lifecycle.sandbox.control import Control
    from lifecycle.sandbox.server import Sandbox

    Api = Callable[..., requests.Response]


class Line:
    """A TCP connection on which a test speaks HTTP by hand."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.host = urlsplit(sandbox.info.api_url).netloc
        name, _, port = self.host.partition(":")
        self.socket = socket.create_connection((name, int(port)), timeout=10)
        self.answers = self.socket.makefile("rb")
        token = f"Authorization: token {sandbox.info.token}"
        self.head = f"Host: {self.host}\r\nUser-Agent: test\r\n{token}\r\n"

    def say(self, line: str, *headers: str, body: bytes = b"") -> None:
        """Send a request."""
        head = "".join(f"{header}\r\n" for header in headers)
        self.socket.sendall(f"{line}\r\n{self.head}{head}\r\n".encode() + body)

    def hear(self) -> tuple[int, dict[str, str], bytes]:
        """Read an answer: its status, headers in lower case, and body; status 0 if none came."""
        status = self.answers.readline()
        if not status:
            return 0, {}, b""
        headers = {}
        while line := self.answers.readline().strip():
            name, _, value = line.decode().partition(": ")
            headers[name.lower()] = value
        if headers.get("transfer-encoding") == "chunked":
            return int(status.split()[1]), headers, b"".join(self._chunks())
        return int(status.split()[1]), headers, self.answers.read(int(headers["content-length"]))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.answers.readline(), 16):
            yield self.answers.read(size)
            self.answers.readline()
        self.answers.readline()

    def close(self) -> None:
        """Hang up."""
        self.answers.close()
        self.socket.close()


@pytest.fixture
def line(sandbox: Sandbox) -> Iterator[Line]:
    """An open connection."""
    made = Line(sandbox)
    yield made
    made.close()


def test_answers_of_all_kinds_keep_the_connection(api: Api, control: Control) -> None:
    """Success, refusal, nothing new and what is not imitated all come on one connection."""
    codes = [
        api("GET", "issues/42").status_code,
        api("POST", "issues/42/comments", json={"body": "x" * 2_000_000}).status_code,
        api("GET", "/user", token="wrong").status_code,
        api("GET", "issues/999").status_code,
        api("PATCH", "issues/42", json={"state": "odd"}).status_code,
        api("GET", "/nowhere").status_code,
        api("POST", "/graphql", data="{").status_code,
    ]
    etag = api("GET", "issues/42").headers["ETag"]
    codes.append(api("GET", "issues/42", headers={"If-None-Match": etag}).status_code)
    assert codes == [200, 422, 401, 404, 422, 501, 400, 304]
    assert control.connections() == 1


def test_every_answer_is_dated_once(api: Api, control: Control) -> None:
    """A client can tell GitHub's time by it; a fault may tell another one."""
    for path in ("issues/42", "issues/999"):
        assert parsedate_to_datetime(api("GET", path).headers["Date"]).tzinfo is UTC
    when = "Sat, 31 Jan 2026 10:00:00 GMT"
    control.add_fault(Fault("status", status=429, headers={"Date": when}))
    assert api("GET", "issues/42").headers["Date"] == when


def test_an_outage_keeps_the_connection_too(api: Api, control: Control) -> None:
    """An error page is an answer; what breaks the answer itself ends the connection."""
    control.add_fault(Fault("status", path="/user"))
    control.add_fault(Fault("truncate", when="after", path="/user"))
    assert api("GET", "/user").status_code == 502
    with pytest.raises(requests.RequestException):
        api("GET", "/user")
    assert api("GET", "/user").status_code == 200
    first, second, third = (one.connection for one in control.requests())
    assert first == second != third


def test_an_answer_shorter_than_announced_ends_the_connection(line: Line, control: Control) -> None:
    """Whoever waits for the rest learns at once that there is none."""
    control.add_fault(Fault("truncate", when="after", path="/user"))
    line.say("GET /user HTTP/1.1")
    head, _, body = line.answers.read().partition(b"\r\n\r\n")
    (length,) = re.findall(rb"Content-Length: (\d+)", head)
    assert len(body) == int(length) // 2


def test_requests_in_a_row_are_answered_in_order(line: Line) -> None:
    """Whoever does not wait for an answer gets all of them, on the same connection."""
    line.say("GET /user HTTP/1.1")
    line.say("GET /repos/octo-org/hello-service/issues/42 HTTP/1.1")
    assert json.loads(line.hear()[2])["login"] == "octocat"
    assert json.loads(line.hear()[2])["number"] == 42


def test_a_body_that_nobody_reads_does_not_end_up_in_the_next_request(line: Line) -> None:
    """The control endpoint refuses a form unread; the request after it is answered."""
    line.say("POST /_sandbox/world HTTP/1.1", "Content-Length: 5", body=b"a=b&c")
    assert line.hear()[0] == 405
    line.say("GET /user HTTP/1.1")
    assert line.hear()[0] == 200


def test_a_body_may_come_in_chunks(line: Line, control: Control) -> None:
    """It is read to its last chunk, and the connection goes on."""
    path = "/repos/octo-org/hello-service/issues/42/comments"
    body = b'8\r\n{"body":\r\n6\r\n "Hi"}\r\n0\r\n\r\n'
    line.say(f"POST {path} HTTP/1.1", "Transfer-Encoding: chunked", body=body)
    assert line.hear()[0] == 201
    assert control.world()["issues"]["42"]["comments"][0]["body"] == "Hi"
    line.say("GET /user HTTP/1.1")
    assert line.hear()[0] == 200


def test_an_answer_of_no_known_length_comes_in_chunks(line: Line) -> None:
    """What git streams has an end all the same, and another request can follow."""
    where = "/octo-org/hello-service.git"
    line.say(f"GET {where}/info/refs?service=git-upload-pack HTTP/1.1")
    offered = line.hear()[2]
    assert offered.startswith(b"001e# service=git-upload-pack\n0000")
    wanted = b"0032want %s\n00000009done\n" % offered[38:78]
    kind = "Content-Type: application/x-git-upload-pack-request"
    line.say(
        f"POST {where}/git-upload-pack HTTP/1.1",
        kind, f"Content-Length: {len(wanted)}", body=wanted,
    )  # fmt: skip
    status, headers, body = line.hear()
    assert (status, headers["transfer-encoding"]) == (200, "chunked")
    assert body.startswith(b"0008NAK\nPACK")
    line.say("GET /user HTTP/1.1")
    assert line.hear()[0] == 200


@pytest.mark.parametrize(
    ("request_line", "headers"),
    [
        ("GET /user HTTP/1.0", ()),
        ("GET /user HTTP/1.0", ("Connection: keep-alive",)),
        ("GET /user HTTP/1.1", ("Connection: close",)),
    ],
)
def test_who_does_not_keep_the_connection_is_left(
    line: Line, request_line: str, headers: tuple[str, ...]
) -> None:
    """HTTP/1.0, and whoever says so, get one answer and the end."""
    line.say(request_line, *headers)
    status, shown, _ = line.hear()
    assert (status, shown["connection"]) == (200, "close")
    assert line.hear()[0] == 0


def test_git_over_http_1_0_ends_with_its_connection(line: Line) -> None:
    """Without chunks, the end of the stream is the end of the connection."""
    line.say("GET /octo-org/hello-service.git/info/refs?service=git-upload-pack HTTP/1.0")
    whole = line.answers.read()
    assert whole.startswith(b"HTTP/1.1 200")
    assert whole.endswith(b"0000")


@pytest.mark.parametrize(
    ("header", "body", "ends"),
    [
        ("Content-Length: many", b"", False),
        ("Content-Length: 5", b"123", True),
        ("Transfer-Encoding: chunked", b"xyz\r\n", False),
    ],
)
def test_a_request_that_cannot_be_read_is_not_answered(
    line: Line, control: Control, header: str, body: bytes, ends: bool
) -> None:
    """It never reaches the application, and its connection ends."""
    line.say("POST /user HTTP/1.1", header, body=body)
    if ends:
        line.socket.shutdown(socket.SHUT_WR)
    assert line.hear()[0] == 0
    assert control.requests() == ()


def test_idle_connections_are_dropped_and_busy_ones_are_not(
    sandbox: Sandbox, line: Line, control: Control
) -> None:
    """Whoever waits for an answer still gets what becomes of it."""
    control.add_fault(Fault("hang", path="/user$"))
    line.say("GET /user HTTP/1.1")
    control.wait_for_requests(1)
    idle = Line(sandbox)
    idle.say("GET /user HTTP/1.1")
    assert idle.hear()[0] == 200
    assert control.drop_connections() == 1
    assert idle.hear()[0] == 0
    idle.close()
    line.socket.settimeout(0.05)
    with pytest.raises(TimeoutError):
        line.answers.readline()


def test_shutting_what_has_left_is_nothing() -> None:
    """A connection that the client closed meanwhile is skipped, and forgetting twice is nothing."""
    connections = Connections()
    server, client = socket.socketpair()
    connections.accepted(server)
    assert connections.begin(server) == 1
    client.close()
    server.close()
    assert (connections.shut(idle_only=True), connections.shut()) == (0, 1)
    connections.gone(server)
    connections.gone(server)
    assert connections.shut() == 0
