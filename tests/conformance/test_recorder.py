"""What sandboxes write down, and that a test whose sandbox answers wrongly fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import requests

from lifecycle.sandbox.base.errors import SandboxError
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from lifecycle.sandbox.wire.recorder import VARIABLE
from tests.conformance import sources
from tests.conformance.exchange import Exchange, from_line
from tests.conformance.judge import Watch
from tests.conftest import STARTED
from tests.needed import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("conformance")  # one process builds the oracles


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that sandboxes begun from here on append to."""
    path = tmp_path / "exchanges"
    monkeypatch.setenv(VARIABLE, str(path))
    return path


@pytest.fixture
def recorded(record: Path) -> Iterator[SandboxInfo]:
    """A sandbox that writes down what it answers."""
    with Sandbox() as running:
        yield running.info


def _lines(record: Path) -> list[Exchange]:
    return [from_line(line) for line in record.read_text(encoding="utf-8").splitlines()]


def _ask(info: SandboxInfo, method: str, path: str, **more: Any) -> requests.Response:
    more.setdefault("headers", {})["Authorization"] = f"token {info.token}"
    return requests.request(method, f"{info.api_url}{path}", timeout=10, **more)


def test_an_exchange_is_written_down_whole(recorded: SandboxInfo, record: Path) -> None:
    """Method, path, query, both bodies, status and headers are kept; the credential is not."""
    path = f"/repos/{recorded.repository}/issues"
    listed = _ask(recorded, "GET", f"{path}?state=all")
    again = _ask(recorded, "GET", path, headers={"If-None-Match": listed.headers["ETag"]})
    said = _ask(recorded, "POST", f"{path}/42/comments", json={"body": "hi"})
    first, second, third = _lines(record)
    assert (first.method, first.path, first.query) == ("GET", path, "state=all")
    assert first.body() == listed.json()
    assert (again.status_code, second.status, second.text) == (200, 200, again.text)
    assert second.is_conditional
    assert (third.sent, third.status, third.body()) == ({"body": "hi"}, 201, said.json())
    assert first.headers["x-github-request-id"] == listed.headers["x-github-request-id"]
    assert recorded.token not in record.read_text(encoding="utf-8")


def test_a_document_is_written_down_with_its_answer(recorded: SandboxInfo, record: Path) -> None:
    """GraphQL's request is kept, which its answer is held against."""
    query = {"query": "query Q { viewer { login } }"}
    answer = _ask(recorded, "POST", "/graphql", json=query)
    (one,) = _lines(record)
    assert (one.path, one.sent, one.body()) == ("/graphql", query, answer.json())


def test_faults_are_told_apart(recorded: SandboxInfo, record: Path) -> None:
    """What a fault says is marked; what it hides is kept as answered; silence leaves nothing."""
    control = Control(recorded.control_url)
    control.add_fault(Fault("status", path="/user", status=502, when="after"))
    _ask(recorded, "GET", "/user")
    assert [(one.status, one.fault) for one in _lines(record)] == [(200, None), (502, "after")]
    control.add_fault(Fault("cut", path="/user"))
    with pytest.raises(requests.ConnectionError):
        _ask(recorded, "GET", "/user")
    assert len(_lines(record)) == 2


def test_other_processes_append_to_the_same_file(recorded: SandboxInfo, record: Path) -> None:
    """A sandbox that a command serves writes to the file that its environment names."""
    with subprocess.Popen(
        [str(STARTED), "sandbox", "serve"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        other = SandboxInfo(**json.loads(process.stdout.readline()))
        _ask(other, "GET", "/rate_limit")
        _ask(recorded, "GET", "/user")
        process.terminate()
    assert [one.path for one in _lines(record)] == ["/rate_limit", "/user"]


def test_a_file_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever names a file in a folder that is not there is told so, in one sentence."""
    path = tmp_path / "nowhere" / "exchanges"
    monkeypatch.setenv(VARIABLE, str(path))
    with pytest.raises(SandboxError) as caught, Sandbox():
        pass
    assert str(caught.value) == (
        f"{path} cannot be written; name another file in {VARIABLE}, or unset it."
    )


def test_a_line_under_way_is_left_for_the_next_look(tmp_path: Path) -> None:
    """Half a line is not read, and nothing is read twice."""
    path = tmp_path / "exchanges"
    line = json.dumps({"method": "GET", "path": "/user", "status": 200})
    path.write_text(f"{line}\n{line[:9]}")
    watch = Watch(path, judge=_nobody)
    assert [one.path for one in watch.fresh()] == ["/user"]
    with path.open("a") as file:
        file.write(f"{line[9:]}\n")
    assert [one.path for one in watch.fresh()] == ["/user"]
    assert watch.fresh() == []


def _nobody() -> Any:
    raise AssertionError("nothing is judged here")


LIAR = """
import json, os
from pathlib import Path

def _say(**more):
    record = {"method": "GET", "path": "/repos/o/r/issues/7", "status": 200, "text": "{}",
              "headers": {"content-type": "application/json", "etag": "x", "x-github-request-id": "y"}}
    with Path(os.environ["LIFECYCLE_SANDBOX_RECORD"]).open("a") as file:
        file.write(json.dumps({**record, **more}) + "\\n")

def test_before():
    pass

def test_liar():
    _say()

def test_after():
    _say(path="/repos/o/r/branches/b/rename", method="POST", status=403)
"""


@pytest.mark.soak(
    "conformance/test_calibration.py::test_a_broken_answer_is_caught",
    "conformance/test_recorder.py::test_faults_are_told_apart",
)
def test_the_test_that_caused_it_fails(tmp_path: Path) -> None:
    """The one test whose sandbox answered wrongly fails, with call, status, pointer and what is wrong."""
    for target in ("openapi", "sdl"):
        sources.need(target)
    (tmp_path / "test_inner.py").write_text(LIAR)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conformance.plugin", "-p", "no:cacheprovider",
         "-p", "no:anyio", "-q", "--rootdir", str(tmp_path), str(tmp_path / "test_inner.py")],
        cwd=ROOT,
        env={**os.environ, "LIFECYCLE_REQUIRE": "all"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )  # fmt: skip
    assert "3 passed, 1 error" in done.stdout, done.stdout
    assert "ERROR at teardown of test_liar" in done.stdout
    assert "The embedded GitHub answered as GitHub does not:" in done.stdout
    assert (
        'GET /repos/{owner}/{repo}/issues/{issue_number} 200 (whole answer): "assignee" is a required'
        in done.stdout
    )
