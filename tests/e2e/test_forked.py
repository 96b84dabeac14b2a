"""A forked command is to everybody what a started one is: the same words, exit code and files."""

from __future__ import annotations

import ast
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import STARTED, Place
from tests.e2e.forked import STAGE, Forked, wanted
from tests.repeated import soaked

WORLD = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z|[0-9][0-9,]{3,}")
"""What differs from one run to the next: moments, ports, names with a moment, what is left of a limit."""

LINES: list[tuple[tuple[str, ...], dict[str, str], bytes]] = [
    (("--help",), {}, b""),
    (("status",), {"PYTHONIOENCODING": "ascii"}, b""),
    (("nonsense",), {}, b""),
    (("claim", "38", "--json"), {"GH_TOKEN": "wrong"}, b""),
    (("reconcile", "--dry-run", "--json"), {}, b""),
    (("hook", "session-start"), {}, b'{"hook_event_name": "SessionStart", "source": "startup"}'),
    (("hook", "on-stop"), {"CLAUDE_PROJECT_DIR": "/"}, b"{}"),
    (("hook", "nonsense"), {}, b"{}"),
]
"""Arguments, variables and standard input: what is answered well, refused, asked wrongly, and not known."""

MORE: list[tuple[tuple[str, ...], dict[str, str], bytes]] = [
    (("--version",), {}, b""),
    (("doctor",), {"PYTHONIOENCODING": "ascii"}, b""),
    (("status", "--json"), {}, b""),
    (("nudge", "done"), {}, b""),
    (("claim", "999999"), {}, b""),
    (("hook", "on-stop"), {}, b"[" * 200_000),
]
"""Further ones of the same kinds."""

KINDS = ((pytest.param, LINES), (soaked, MORE))


@pytest.mark.parametrize(
    ("arguments", "environment", "stdin"),
    [case(*line, id=" ".join(line[0])) for case, lines in KINDS for line in lines],
)
def test_it_says_what_a_started_command_says(
    place: Place,
    forked: Forked,
    arguments: tuple[str, ...],
    environment: dict[str, str],
    stdin: bytes,
) -> None:
    """The same bytes on stdout and stderr, the same exit code, and the same files left behind."""
    place.ready(phase="coding", status="In Progress")

    def ran(command: str) -> tuple[int, list[bytes], list[bytes], set[str]]:
        done = subprocess.run(
            [command, *arguments],
            cwd=place.root,
            env={**place.environment, "LIFECYCLE_BIN": str(STARTED), **environment},
            input=stdin,
            capture_output=True,
            check=False,
            timeout=100,
        )
        left = {path.name for path in place.root.iterdir()}
        said, told = (WORLD.sub(b"_", text).splitlines() for text in (done.stdout, done.stderr))
        return done.returncode, said, told, left

    if arguments == ("doctor",):
        ran(str(STARTED))  # the first one has something to record
    started = ran(str(STARTED))
    assert started[1] + started[2] or arguments[0] == "hook"
    assert ran(str(forked.command)) == started


@pytest.fixture(params=["as it is", "in Python"])
def asking(request: pytest.FixtureRequest, forked: Forked) -> str:
    """The command that asks the server; the one in Python is the other where there is no compiler."""
    return str(forked.command if request.param == "as it is" else forked.in_python)


def test_it_hands_over_what_it_was_given(place: Place, asking: str) -> None:
    """Words, variables, mask and streams arrive as they are: empty, not in UTF-8, with an end of line."""
    words, value = ["", "a b", "two\nlines", "\udcff", "="], "=\udcfe\n="
    staged = {STAGE: __name__, "TEST_SAY": "all", "TEST_VALUE": value}
    done = place.run(
        "sh", "-c", 'umask 031; exec "$@"', "sh", asking, *words, stdin=b"in", **staged
    )
    assert ast.literal_eval(done.stdout) == (words, value, str(place.root), 0o031, "in")
    assert (done.returncode, done.stderr) == (3, "err")


def test_it_ends_as_its_process_ends(place: Place, asking: str) -> None:
    """Killed by a signal, a forked process is seen as killed by that signal, by whoever waits for it."""
    note = place.root.parent / "note"
    staged = {"TEST_KILL_AT": "1", "TEST_KILL_NOTE": str(note)}
    place.ready()
    done = place.run(asking, "hook", "on-stop", stdin=b"{}", **staged)
    assert done.returncode == -signal.SIGKILL
    assert len(note.read_text().splitlines()) == 1


def test_a_closed_stream_is_refused_and_the_server_goes_on(place: Place, asking: str) -> None:
    """What cannot be handed over ends the command, so that no test believes to have closed it."""
    for closed in ("<&-", ">&-"):
        done = place.run("sh", "-c", f'"{asking}" --version {closed}')
        assert (done.returncode, done.stdout) == (1, ""), closed
        assert "is not forked" in done.stderr
    assert place.run(asking, "--version").returncode == 0


@pytest.mark.parametrize("sent", [b"", b"\0\0", b"\0\0\1\0half"])
def test_a_command_that_ends_before_it_has_asked_stops_nobody(
    place: Place, forked: Forked, sent: bytes
) -> None:
    """The server answers the next one: it waits for no byte that nobody will send."""
    with socket.socket(socket.AF_UNIX) as gone:
        gone.connect(str(forked.folder / "socket"))
        gone.sendall(sent)
    assert place.run(str(forked.command), "--version").returncode == 0


def stage(environment: Mapping[str, str]) -> None:
    """Called in the forked process before it is the command: say so, and end when told to."""
    if "TEST_SAY" in environment:
        mask = os.umask(0)
        got = sys.argv[1:], environment["TEST_VALUE"], str(Path.cwd()), mask, sys.stdin.read()
        os.write(1, ascii(got).encode())
        os.write(2, b"err")
        os._exit(3)
    os.write(1, b"forked")
    os.read(0, 1)
    os._exit(0)


def test_a_command_that_is_killed_as_its_process_ends_stops_nobody(
    place: Place, forked: Forked
) -> None:
    """The server hears of both ends at once: nobody reads the exit code, and the next is answered."""
    stdin, told = os.pipe()
    heard, stdout = os.pipe()
    environment = {**place.environment, STAGE: __name__}
    asked = wanted([], place.root, 0o022, environment, os.getpid())
    with socket.socket(socket.AF_UNIX) as command:
        command.connect(str(forked.folder / "socket"))
        socket.send_fds(command, [len(asked).to_bytes(4, "big")], [stdin, stdout, stdout])
        command.sendall(asked)
        os.close(stdin)
        os.close(stdout)
        assert os.read(heard, 16) == b"forked"
        os.kill(forked.process.pid, signal.SIGSTOP)
        os.close(told)
        assert os.read(heard, 16) == b""  # the process has closed its files: it ends
        os.close(heard)
    os.kill(forked.process.pid, signal.SIGCONT)
    assert place.run(str(forked.command), "--version").returncode == 0


def test_a_fork_sees_the_environment_of_its_own_command(place: Place, forked: Forked) -> None:
    """A variable that one command had is gone for the next, and the other way round."""
    lifecycle = str(forked.command)
    nobody = place.run(lifecycle, "claim", "999999", GH_TOKEN="")
    assert "sees no issue" not in nobody.stderr
    somebody = place.run(lifecycle, "claim", "999999")
    assert somebody.returncode == 1
    assert "The token from GH_TOKEN sees no issue" in somebody.stderr
    assert place.run(lifecycle, "claim", "999999", GH_TOKEN="").stderr == nobody.stderr


def test_what_one_command_compiled_no_later_one_does(place: Place, forked: Forked) -> None:
    """Each pattern is told to the server once, which every later command is a fork of."""
    place.ready(phase="coding", status="In Progress")
    patterns = forked.folder / "patterns"
    before = patterns.read_text(encoding="ascii").splitlines()  # several at once may tell the same
    for _ in range(2):
        assert place.cli("status").returncode == 0
        told = patterns.read_text(encoding="ascii").splitlines()
        new = told[len(before) :]
        assert len(new) == len({*new} - {*before})
        before = told
