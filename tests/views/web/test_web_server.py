"""The page over real HTTP: who may read it, what nobody may do, and what strangers' words do in it."""

from __future__ import annotations

import html
import http.client
import json
import os
import re
import socket
import threading
from pathlib import Path

import pytest

from lifecycle.core.errors import Refused
from lifecycle.views.overview.overview_values import overview_json
from lifecycle.views.web import web_server
from lifecycle.views.web.web_server import CONNECTIONS, GUARDS, WatchServer
from tests.views.web.web_ground import QuickServer, WebGround, ask

EVIL = "</title><script>document.title=1</script><img src=x onerror=alert(1)> & \"q\" 'q' {{ 7*7 }}"
"""What a stranger may call an issue."""


def raw(server: WatchServer, request: str) -> bytes:
    """What the server says to these very bytes, up to the end of the connection."""
    with socket.create_connection(
        ("127.0.0.1", server.server_address[1]), timeout=20
    ) as connection:
        connection.sendall(request.encode())
        connection.shutdown(socket.SHUT_WR)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def test_it_listens_on_loopback_alone(user: WebGround) -> None:
    """It is bound to 127.0.0.1, at a free port, and each server has a token of its own."""
    with user.served() as one, user.served() as other:
        assert one.socket.getsockname()[0] == "127.0.0.1"
        assert one.server_address[1] != other.server_address[1]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{64}/", one.address)
        assert one.token != other.token


@pytest.mark.parametrize("name", ["", "live.html", "watch.css", "watch.js", "overview.json"])
def test_nothing_is_said_to_who_has_no_token(user: WebGround, name: str) -> None:
    """Without the token, with a part of it or with another one, each address is one that is not there."""
    user.clone("hello").claim()
    with user.served() as server:
        assert ask(server, name).status == 200
        token = server.token
        for given in (
            "",
            f"{token[:-1]}",
            f"{token}0",
            token.upper() + "x",
            "0" * 64,
            f"{token}%00",
        ):
            answer = ask(server, path=f"/{given}/{name}")
            assert (answer.status, answer.text) == (404, "Not Found\n"), given
        assert ask(server, path=f"/{name}?token={token}").status == 404
        assert ask(server, path="/", Cookie=f"token={token}").status == 404
        assert ask(server, "../etc/passwd").status == 404
        assert ask(server, "watch.html").status == 404


def test_a_name_that_leads_here_by_dns_is_refused(user: WebGround) -> None:
    """A page elsewhere whose name was made to lead to 127.0.0.1 gets nothing, even with the token."""
    with user.served() as server:
        port = server.server_address[1]
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "127.0.0.1@evil",
                     "10.0.0.1", "[::1]", "", "localhost:x:y", "localhost:"):  # fmt: skip
            answer = ask(server, Host=host)
            assert (answer.status, answer.text) == (421, "Misdirected Request\n"), host
        # `ssh -L 9000:127.0.0.1:PORT` leads here from another port.
        for host in (f"127.0.0.1:{port}", "localhost", "localhost:9000", "LOCALHOST:9000"):
            assert ask(server, Host=host).status == 200, host
        path = f"/{server.token}/"
        assert b" 421 " in raw(server, f"GET {path} HTTP/1.0\r\n\r\n").splitlines()[0]
        both = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
        assert b" 421 " in raw(server, both).splitlines()[0]


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "X"]
)
def test_it_can_only_be_read(user: WebGround, method: str) -> None:
    """Every method but GET and HEAD is refused, and says which there are."""
    with user.served() as server:
        answer = ask(server, method=method)
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
        assert ask(server).status == 200


def test_head_is_get_without_a_body(user: WebGround) -> None:
    """It says how long the page is, and no more."""
    with user.served() as server:
        answer = ask(server, method="HEAD")
        assert (answer.status, answer.text) == (200, "")
        assert int(answer.headers["Content-Length"]) > 1000


def test_every_answer_shuts_others_out(user: WebGround) -> None:
    """A strict policy, no other site's access, no cookie, nothing kept, and no address passed on."""
    with user.served() as server:
        answers = [
            ask(server, name) for name in ("", "live.html", "watch.js", "overview.json", "no")
        ]
        answers.append(ask(server, method="POST"))
        answers.append(ask(server, Origin="https://evil.example"))
    for answer in answers:
        assert {name: answer.headers.get(name) for name in GUARDS} == GUARDS
        assert not [name for name in answer.headers if name.startswith("Access-Control")]
        assert "Set-Cookie" not in answer.headers
    policy = GUARDS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert {"frame-ancestors 'none'", "form-action 'none'", "script-src 'self'"} <= set(
        policy.split("; ")
    )


def test_the_page_loads_nothing_from_elsewhere(user: WebGround) -> None:
    """What it refers to lies beside it, but for links that a person follows; no script stands in it."""
    user.clone("hello").everything()
    with user.served() as server:
        text = ask(server).text
    assert set(re.findall(r'(?:src|rel="stylesheet" href)="([^"]*)"', text)) == {
        "watch.js",
        "watch.css",
    }
    assert re.findall(r"<script(?! src)|<style| on\w+=|style=", text) == []
    assert server.token not in text


def test_nothing_is_logged(user: WebGround, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither an address with its token nor a refused request reaches an output."""
    with user.served() as server:
        ask(server)
        ask(server, path="/wrong")
        ask(server, method="POST")
        raw(server, "\x16\x03\x01 no http\r\n\r\n")
        raw(server, f"GET /{'a' * 70000} HTTP/1.1\r\n\r\n")
    assert capfd.readouterr() == ("", "")


def test_what_strangers_wrote_is_text(user: WebGround) -> None:
    """A title, an agent's name, a branch, a check, a run's words, a folder's name do nothing."""
    ground = user.clone("<b>bold<b> & 'quoted'")
    ground.claim(
        memory={"title": EVIL, "pull.url": "javascript:alert(1)", "pull.checks": {"failed": [EVIL]}},
        agent_id=EVIL, branch=EVIL, summary=EVIL, phase="checks_running", pr_number=7,
    )  # fmt: skip
    ground.run(why=EVIL)
    with user.served() as server:
        for name in ("", "live.html"):
            text = ask(server, name).text
            assert "<img" not in text
            assert "<script>document" not in text
            assert "<b>bold" not in text
            assert "javascript:" not in text
            assert "49" not in re.sub(r"[0-9a-f]{12}", "", text.partition("7*7")[2][:20])
        (one,) = json.loads(ask(server, "overview.json").text)["worktrees"]
        assert one["claim"]["agent"] == EVIL
        assert html.escape(EVIL[:40], quote=False) in html.unescape(text).replace(
            "<", "&lt;"
        ).replace(">", "&gt;")


def test_a_page_that_has_the_newest_is_told_so(user: WebGround) -> None:
    """The changing part is sent once; then 304, without a body, until a file changes."""
    ground = user.clone("hello")
    ground.claim()
    with user.served() as server:
        first = ask(server, "live.html")
        again = ask(server, "live.html", If_None_Match=first.headers["ETag"])
        assert (again.status, again.text) == (304, "")
        assert ask(server, "live.html", If_None_Match='"another"').status == 200


def test_the_json_is_that_of_each_worktree(user: WebGround) -> None:
    """It has what `lifecycle status --json` publishes, for each worktree, used or not."""
    used, idle = user.clone("hello"), user.clone("idle")
    used.everything()
    with user.served() as server:
        data = json.loads(ask(server, "overview.json").text)
    roots = [one["worktree"]["root"] for one in data["worktrees"]]
    assert (data["clones"], data["unread"], roots) == (2, 0, [str(used.root), str(idle.root)])
    wanted = json.loads(json.dumps(overview_json(used.seen())))
    assert {**data["worktrees"][0], "at": wanted["at"]} == wanted


def test_a_port_that_is_taken_is_one_sentence(user: WebGround) -> None:
    """It names the port and what to do, and the server that has it goes on."""
    with user.served() as server:
        port = server.server_address[1]
        with pytest.raises(Refused, match=f"Port {port} of 127.0.0.1 cannot be used"):
            WatchServer(user.worktrees(), port)
        assert ask(server).status == 200


def test_many_that_say_nothing_keep_nobody_out_for_ever(user: WebGround) -> None:
    """Connections beyond a number are closed at once, and there is room again once the others go."""
    with user.served() as server:
        where = ("127.0.0.1", server.server_address[1])
        server.socket.listen(2 * CONNECTIONS)  # else the system lets whoever comes so fast wait
        silent = [socket.create_connection(where, timeout=20) for _ in range(CONNECTIONS)]
        with socket.create_connection(where, timeout=20) as late:
            assert late.recv(1) == b""
        for one in silent:
            one.close()
        answers = [b""]
        while not answers[-1].startswith(b"HTTP/1.0 200"):
            request = (
                f"GET /{server.token}/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            )
            try:
                answers.append(raw(server, request))
            except OSError:
                continue
        assert answers[-1].startswith(b"HTTP/1.0 200")


def test_several_pages_at_once(user: WebGround) -> None:
    """Ten pages ask at the same moment, and each gets the whole of it."""
    for number in range(5):
        user.clone(f"clone-{number}").claim(issue_number=100 + number)
    texts: list[str] = []
    with user.served() as server:
        askers = [
            threading.Thread(target=lambda: texts.append(ask(server).text)) for _ in range(10)
        ]
        for one in askers:
            one.start()
        for one in askers:
            one.join()
    assert len(texts) == 10
    for text in texts:
        assert [f"#{100 + number} " in text for number in range(5)] == [True] * 5


def test_nothing_is_left_when_it_ends(user: WebGround) -> None:
    """The port is free again, no thread of it lives, and no connection outlives its answer."""
    with user.served() as server:
        port = server.server_address[1]
        kept = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        kept.request("GET", f"/{server.token}/")
        assert kept.getresponse().read()
    assert kept.sock is None  # closed with the answer
    with QuickServer(user.worktrees(), port) as another:
        assert ask(another).status == 200
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    assert [one.name for one in threading.enumerate() if one.name == "page"] == []


@pytest.mark.parametrize(("name", "answer"), [("isatty", False), ("getppid", -1)])
@pytest.mark.usefixtures("interruptible")
def test_it_goes_with_its_terminal_and_with_whoever_started_it(
    user: WebGround, monkeypatch: pytest.MonkeyPatch, name: str, answer: int
) -> None:
    """It looks now and then whether both are there, and ends by itself once one is not."""
    monkeypatch.setattr(web_server, "GLANCE", 0.01)
    monkeypatch.setattr(os, "isatty", lambda _: True)
    server = QuickServer(user.worktrees())
    served: list[int] = []

    def leave() -> None:
        served.append(ask(server).status)
        monkeypatch.setattr(os, name, lambda *_: answer)

    web_server.serve(server, leave)
    assert (served, server.socket.fileno()) == ([200], -1)


def test_a_page_that_cannot_be_made_says_so_and_the_server_goes_on(
    user: WebGround, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect is one sentence, once, and no traceback; the other addresses are served."""
    with user.served() as server:

        def broken() -> None:
            raise ZeroDivisionError("odd\x1b[31m")

        monkeypatch.setattr(server.worktrees, "look", broken)
        assert [ask(server).status for _ in range(2)] == [500, 500]
        assert ask(server, "watch.css").status == 200
    out, err = capfd.readouterr()
    assert (out, err) == (
        "",
        "lifecycle: The page could not be made (ZeroDivisionError: odd\\x1b[31m).\n",
    )


def test_files_of_the_page_are_in_the_package() -> None:
    """Templates, style and script lie where an installed package has them."""
    folder = Path(WatchServer.__init__.__globals__["__file__"]).with_name("templates")
    assert {path.name for path in folder.iterdir()} == {
        "live.html", "watch.html", "watch.css", "watch.js",
    }  # fmt: skip
