"""`lifecycle watch --web` as a process: what it prints, who sees its token, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lifecycle.settings.user_folder import known_clones
from tests.cli.views.view_ground import ViewGround
from tests.conftest import STARTED

pytestmark = [pytest.mark.started, pytest.mark.usefixtures("interruptible")]

SECONDS = 60


@contextmanager
def served(
    ground: ViewGround, *words: str, terminal: int = subprocess.DEVNULL, **more: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command while it serves, and the address that it printed."""
    with subprocess.Popen(
        [str(STARTED), "watch", "--web", "--json", *words],
        cwd=ground.root,
        env={**ground.environment, **more},
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.communicate()
            yield process, json.loads(line)["address"]
        finally:
            process.kill()


def page(address: str) -> str:
    """What a browser gets there."""
    with urllib.request.urlopen(address, timeout=SECONDS) as answer:
        return str(answer.read().decode())


def is_free(address: str) -> bool:
    """True if nobody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", urlsplit(address).port or 0)) != 0


def test_it_shows_this_worktree_and_writes_nothing(ground: ViewGround) -> None:
    """The page has the worktree that it is asked in; nothing is known or made by looking."""
    ground.in_review()
    before = sorted(path.name for path in ground.root.iterdir())
    with served(ground) as (_, address):
        text = page(address)
    assert "#42 Fix the race" in text
    assert "PR #107 waits for a person to merge it" in text
    assert sorted(path.name for path in ground.root.iterdir()) == before
    assert known_clones(ground.environment) == ()


def test_ctrl_c_ends_it(ground: ViewGround) -> None:
    """With 130 and one line; nothing listens any more, and a page that is open does not hold it."""
    with served(ground) as (process, address):
        page(address)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (130, "")
    assert err.strip() == "Interrupted; what was done so far is kept."
    assert is_free(address)


@pytest.mark.once("core/test_heard_signals hears each of several")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_ends_it_leaves_nothing(ground: ViewGround, number: int) -> None:
    """It ends well when it is asked to, in silence."""
    with served(ground) as (process, address):
        process.send_signal(number)
        assert process.communicate(timeout=SECONDS) == ("", "")
    assert process.returncode == 0
    assert is_free(address)


@pytest.mark.soak(
    "cli/views/test_watch_web.py::test_ctrl_c_ends_it",
    "views/web/test_web_server.py::test_it_goes_with_its_terminal_and_with_whoever_started_it",
)
def test_it_goes_with_its_terminal(ground: ViewGround) -> None:
    """A terminal that is closed ends it, also where no signal tells it so."""
    master, terminal = pty.openpty()
    try:
        with served(ground, terminal=terminal) as (process, address):
            os.close(master)
            assert process.wait(timeout=SECONDS) == 0
        assert is_free(address)
    finally:
        os.close(terminal)


@pytest.mark.soak(
    "cli/views/test_watch_web.py::test_ctrl_c_ends_it",
    "views/web/test_web_server.py::test_it_goes_with_its_terminal_and_with_whoever_started_it",
)
def test_it_goes_with_whoever_started_it(ground: ViewGround, tmp_path: Path) -> None:
    """A script that is killed leaves no server behind."""
    script = f'"{STARTED}" watch --web --json >"{tmp_path}/said" & wait'
    with subprocess.Popen(
        ["sh", "-c", script],
        cwd=ground.root,
        env=ground.environment,
        stdin=subprocess.DEVNULL,
    ) as shell:
        try:
            said = tmp_path / "said"
            while not (said.is_file() and said.read_text().endswith("\n")):
                assert shell.poll() is None
            address = json.loads(said.read_text())["address"]
        finally:
            shell.kill()  # else its end is waited for, which it is itself waiting for
    while not is_free(address):  # a server that stays is ended by the time that a test has
        os.sched_yield()
    assert is_free(address)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are listed in /proc")
def test_the_token_is_in_no_list_of_processes(ground: ViewGround) -> None:
    """All users of the machine can read the words that a command was started with."""
    with served(ground) as (process, address):
        token = urlsplit(address).path.strip("/")
        words = Path(f"/proc/{process.pid}/cmdline").read_text().split("\0")
    assert "--web" in words
    assert not [word for word in words if token in word]


def test_a_port_that_is_taken_is_one_sentence(ground: ViewGround) -> None:
    """Exit 1, nothing else happens, and the page that is there goes on."""
    with served(ground) as (_, address):
        port = str(urlsplit(address).port)
        done = ground.cli("watch", "--web", "--port", port)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"lifecycle: Port {port} of 127.0.0.1 cannot be used")
        assert len(done.stderr.splitlines()) == 1
        assert page(address)


def test_what_is_for_the_page_needs_the_page(ground: ViewGround) -> None:
    """--port says nothing on a terminal, and a page is not shown once."""
    for words, named in (
        (("--port", "8000"), "--web"),
        (("--web", "--once"), "--once"),
    ):
        done = ground.cli("watch", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert named in done.stderr.splitlines()[-1]


def test_outside_of_a_worktree_it_shows_all_clones(ground: ViewGround, tmp_path: Path) -> None:
    """It is about all of them, so it needs none to be asked in."""
    with served(ViewGround(tmp_path)) as (_, address):
        assert "knows no clone of yours yet" in page(address)
