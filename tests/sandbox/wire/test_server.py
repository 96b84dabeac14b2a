"""Starting and stopping: in this process, and as a process of its own."""

from __future__ import annotations

import io
import json
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import requests

from lifecycle.sandbox.base.errors import SandboxError
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.server import Sandbox
from lifecycle.sandbox.wire.requestlog import RequestLog
from tests.repeated import soaked

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVE = """
import sys
from lifecycle.sandbox.server import serve
sys.exit(serve(out=sys.stdout, exit_with_parent=len(sys.argv) > 1))
"""


def test_info_has_all_that_a_client_needs(sandbox: Sandbox) -> None:
    """The info is one line of JSON with the promised keys, all of this machine."""
    line = sandbox.info.as_json()
    info = json.loads(line)
    assert "\n" not in line
    assert set(info) == {
        "api_url", "graphql_url", "git_url", "control_url", "token", "repository",
        "project_owner", "project_number",
    }  # fmt: skip
    assert {urlsplit(info[key]).hostname for key in info if key.endswith("_url")} == {"127.0.0.1"}
    assert (info["project_owner"], info["project_number"]) == ("octo-org", 1)


def test_two_sandboxes_know_nothing_of_each_other(sandbox: Sandbox) -> None:
    """Each has its own port, world and repository."""
    with Sandbox() as other:
        Control(other.info.control_url).comment(42, "Here")
        assert other.port != sandbox.port
        assert Control(sandbox.info.control_url).world()["issues"]["42"]["comments"] == []


def test_a_port_that_is_taken(sandbox: Sandbox, capfd: pytest.CaptureFixture[str]) -> None:
    """It is one sentence that names the port, and nothing is left behind."""
    with (
        pytest.raises(SandboxError, match=f"Port {sandbox.port} on 127.0.0.1"),
        Sandbox(port=sandbox.port),
    ):
        pytest.fail("two servers on one port")
    assert capfd.readouterr() == ("", "")


def test_git_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without git on PATH the sandbox says so."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="install git"), Sandbox():
        pytest.fail("started without git")


def test_stopping_waits_for_nobody() -> None:
    """A hanging request, an endless one and a silent connection end with the sandbox."""
    with Sandbox() as sandbox:
        control, info = Control(sandbox.info.control_url), sandbox.info
        control.add_fault(Fault("hang", path="/user"))
        control.add_fault(Fault("trickle", path="/repos"))
        ended: list[str] = []
        threads = [
            threading.Thread(target=_ask, args=(f"{info.api_url}{path}", ended))
            for path in ("/user", "/repos/octo-org/hello-service")
        ]
        for thread in threads:
            thread.start()
        address = urlsplit(info.api_url)
        silent = socket.create_connection((address.hostname, address.port))
        control.wait_for_requests(2)
        folder = sandbox._folder
    for thread in threads:
        thread.join(timeout=5)
    silent.close()
    assert sorted(ended) == ["/repos/octo-org/hello-service", "/user"]
    assert folder is not None
    assert not Path(folder.name).exists()


def _ask(url: str, ended: list[str]) -> None:
    try:
        requests.get(url, timeout=20)
    except requests.RequestException:
        ended.append(urlsplit(url).path)


def test_stopping_twice_is_stopping_once() -> None:
    """A second stop does nothing."""
    with Sandbox() as sandbox:
        url = f"{sandbox.info.api_url}/user"
        sandbox.stop()
        with pytest.raises(requests.ConnectionError):
            requests.get(url, timeout=5)


def test_connections_after_the_stop_are_refused() -> None:
    """Nothing listens any more."""
    with Sandbox() as sandbox:
        url = f"{sandbox.info.api_url}/user"
    with pytest.raises(requests.ConnectionError):
        requests.get(url, timeout=5)


@pytest.fixture
def served() -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A sandbox as a process, and its info."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, soaked(signal.SIGINT)])
def test_a_signal_ends_it_with_zero(
    served: tuple[subprocess.Popen[str], Any], number: signal.Signals
) -> None:
    """SIGINT and SIGTERM stop it at once, exit 0, without a word on stderr."""
    process, info = served
    headers = {"Authorization": f"token {info['token']}"}
    answer = requests.get(f"{info['api_url']}/user", headers=headers, timeout=10)
    assert answer.json()["login"] == "octocat"
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")


def test_it_ends_with_its_parent() -> None:
    """With the guard, a sandbox whose parent dies ends by itself."""
    parent = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {SERVE!r}, 'guard'])\n"
        "sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", parent],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        json.loads(process.stdout.readline())
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        # The pipe reaches its end only when the grandchild, which holds it too, is gone.
        assert process.stdout.read() == ""


def test_serve_outside_the_main_thread_is_refused() -> None:
    """Signals need the main thread; the error is Python's own and nothing has started."""
    caught: list[BaseException] = []

    def run() -> None:
        from lifecycle.sandbox.server import serve

        try:
            serve(out=io.StringIO())
        except ValueError as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(timeout=10)
    assert "main thread" in str(caught[0])


def test_the_log_keeps_the_newest_and_counts_all() -> None:
    """However many requests come, so many are kept; how many came is still known, until it is cleared."""
    log = RequestLog(entries=deque(maxlen=3))
    for number in range(5):
        log.begin("GET", f"/{number}", None, "rest")
    assert [entry.path for entry in log.newest(10)] == ["/2", "/3", "/4"]
    assert (log.total, log.counts()["rest"], len(log.listed())) == (5, 5, 3)
    assert log.await_count(5, 0)
    log.clear()
    assert (log.total, log.listed()) == (0, [])
    assert RequestLog().entries.maxlen
