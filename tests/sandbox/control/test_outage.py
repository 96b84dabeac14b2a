"""Every kind of fault, on the wire, before and after the write."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
import requests

from lifecycle.sandbox.control import Control, ControlError
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.control.outage import StopSignal
from tests.repeated import soaked

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from lifecycle.sandbox.server import Sandbox

    Api = Callable[..., requests.Response]
    Ask = Callable[..., Any]

COMMENT = {"json": {"body": "Done"}}


def comments(control: Control) -> int:
    """How many comments issue 42 has."""
    return len(control.world()["issues"]["42"]["comments"])


def test_502_before_the_write_writes_nothing(api: Api, control: Control) -> None:
    """The first POST fails with a page and no effect; the next one works."""
    control.add_fault(Fault("status", method="POST", path="/comments$"))
    answer = api("POST", "issues/42/comments", **COMMENT)
    assert (answer.status_code, answer.headers["Content-Type"]) == (502, "text/html")
    assert comments(control) == 0
    assert api("POST", "issues/42/comments", **COMMENT).status_code == 201


def test_502_after_the_write_has_written(api: Api, control: Control) -> None:
    """The answer is lost, the comment is there."""
    control.add_fault(Fault("status", when="after", path="/comments$", body='{"message":"Oops"}'))
    answer = api("POST", "issues/42/comments", **COMMENT)
    assert (answer.status_code, answer.json()) == (502, {"message": "Oops"})
    assert comments(control) == 1


def test_rate_limits_with_headers(api: Api, control: Control) -> None:
    """A 403 or 429 carries the headers that say how long to wait."""
    for status, headers in ((403, {"Retry-After": "60"}), (429, {"x-ratelimit-remaining": "0"})):
        message = "You have exceeded a secondary rate limit."
        control.add_fault(Fault("status", status=status, headers=headers, message=message))
        answer = api("GET", "issues/42")
        assert answer.status_code == status
        assert headers.items() <= dict(answer.headers).items()
        assert answer.json()["message"] == message


def test_count_skip_and_matching(api: Api, control: Control) -> None:
    """A fault lets `skip` matching requests through, strikes `count`, and spares all others."""
    control.add_fault(Fault("status", method="GET", path="issues/42$", skip=1, count=2))
    assert api("GET", "issues/41").status_code == 200
    assert api("PATCH", "issues/42", json={}).status_code == 200
    codes = [api("GET", "issues/42").status_code for _ in range(4)]
    assert codes == [200, 502, 502, 200]
    control.add_fault(Fault("status", count=100))
    assert api("GET", "issues/42").status_code == 502
    control.clear_faults()
    assert api("GET", "issues/42").status_code == 200


def test_graphql_error_of_a_type(observe: Ask, control: Control) -> None:
    """A rate limit of GraphQL is HTTP 200 with a type and no data, for one operation only."""
    fault = Fault(
        "graphql_error", operation="ObserveClaim", error_type="RATE_LIMITED", message="No"
    )
    control.add_fault(fault)
    assert observe() == {"errors": [{"type": "RATE_LIMITED", "message": "No"}]}
    assert "errors" not in observe()


def test_partial_data(observe: Ask, control: Control) -> None:
    """Parts of a real answer become null, each with an error and its path."""
    path: list[str | int] = ["repository", "issue", "comments"]
    control.add_fault(
        Fault(
            "graphql_error",
            when="after",
            error_type="RESOURCE_LIMITS_EXCEEDED",
            null_paths=[path, ["repository", "nothing", "here"]],
        )
    )
    answer = observe()
    assert answer["data"]["repository"]["issue"]["comments"] is None
    assert answer["data"]["repository"]["issue"]["number"] == 42
    assert [error["path"] for error in answer["errors"]] == [path]


@pytest.mark.parametrize("when", ["before", "after"])
def test_cut_connection(api: Api, control: Control, when: Any) -> None:
    """The connection ends without an answer, before or after the write."""
    control.add_fault(Fault("cut", method="POST", when=when))
    with pytest.raises(requests.ConnectionError):
        api("POST", "issues/42/comments", **COMMENT)
    assert comments(control) == (1 if when == "after" else 0)
    assert control.requests()[-1].status is None


@pytest.mark.parametrize("when", [soaked("before"), "after"])
def test_hang(api: Api, control: Control, when: Any) -> None:
    """No answer comes while the client waits, and others are served meanwhile."""
    control.add_fault(Fault("hang", method="POST", when=when))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(api, "POST", "issues/42/comments", **COMMENT, timeout=0.4)
        control.wait_for_requests(1)
        assert api("GET", "issues/42").status_code == 200
        with pytest.raises(requests.ReadTimeout):
            waiting.result()
    assert comments(control) == (1 if when == "after" else 0)


def test_trickle_never_ends(sandbox: Sandbox, control: Control) -> None:
    """Byte after byte comes, each within any read timeout, and no end."""
    control.add_fault(Fault("trickle", seconds=0.01))
    where = f"{sandbox.info.api_url}/user"
    with requests.get(where, stream=True, timeout=5) as answer:
        drops = answer.iter_content(1)
        got = [next(drops) for _ in range(5)]
    assert got == [b" "] * 5


def test_truncated_body(sandbox: Sandbox, control: Control) -> None:
    """The length is the whole one's, the bytes are half of it."""
    control.add_fault(Fault("truncate", when="after"))
    with requests.get(f"{sandbox.info.api_url}/user", stream=True, timeout=5) as answer:
        length = int(answer.headers["Content-Length"])
        chunks = answer.iter_content(length // 2)
        part = next(chunks)
        with pytest.raises(requests.exceptions.ChunkedEncodingError):
            next(chunks)
    assert 0 < len(part) < length
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(part)


def test_push_that_arrived_and_failed(
    control: Control, git: Callable[..., subprocess.CompletedProcess[str]], clone: Path
) -> None:
    """A push whose answer is lost fails for git and is there all the same."""
    control.add_fault(Fault("status", when="after", method="POST", path="git-receive-pack$"))
    done = git("push", "origin", "HEAD:work", cwd=clone, ok=False)
    assert done.returncode != 0
    assert "refs/heads/work" in control.world()["refs"]


def test_redirects_and_gone(api: Api, control: Control) -> None:
    """A renamed repository or a deleted issue is a status, a Location and a body of one's own."""
    where = {"Location": "/repositories/700001/issues/42"}
    control.add_fault(Fault("status", status=301, headers=where, body='{"message":"Moved"}'))
    answer = api("GET", "issues/42", allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (301, where["Location"])
    control.add_fault(Fault("status", status=410, message="This issue was deleted"))
    assert api("GET", "issues/42").json()["message"] == "This issue was deleted"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("status", path="["), "regular expression"),
        (Fault("truncate"), "truncated"),
        (Fault("graphql_error", null_paths=[["x"]]), "parts to null"),
        (Fault("explode"), "Invalid enum value"),  # type: ignore[arg-type]  # wrong on purpose
    ],
)
def test_faults_that_make_no_sense(control: Control, fault: Fault, words: str) -> None:
    """They are refused with a sentence when set, not ignored when they should strike."""
    with pytest.raises(ControlError, match=words):
        control.add_fault(fault)


def test_a_silent_connection_waits_for_its_two_ends() -> None:
    """It wakes when the client leaves or the sandbox stops, and for nothing that the client says."""
    signal = StopSignal()
    server, client = socket.socketpair()
    with server, client:
        client.sendall(b"more")
        assert signal.pause(server, 0.01) is False
        client.close()
        assert signal.pause(server, None) is True
    server, client = socket.socketpair()
    with server, client:
        signal.stop()
        assert signal.pause(server, None) is True
    signal.close()
