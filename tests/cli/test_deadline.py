"""The one deadline of a command: said in `--help`, and kept whatever hangs; Ctrl-C on the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
import pytest

from lifecycle.cli import command_session
from lifecycle.cli.main import group, rows_of, run
from lifecycle.core import timing
from lifecycle.core.timing import Deadline, DeadlineReached, ending
from lifecycle.git.process import GitRepository
from lifecycle.sandbox.control.faults import Fault
from lifecycle.setup.doctor import examination, examined
from tests.batches import each_row
from tests.conftest import STARTED, ManualClock, Place

SOAKED = pytest.mark.soak(
    "cli/test_deadline.py::test_a_server_that_trickles_for_ever_is_left",
    "core/test_deadline.py::test_an_alarm_interrupts_what_may_be_interrupted",
)


def commands(parent: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command, with its words."""
    context = click.Context(parent)
    for word in parent.list_commands(context):
        found = parent.get_command(context, word)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, f"{name}{word} ")
        else:
            yield f"{name}{word}", found


EVERY = dict(commands(group))
ROWS = {folder: rows_of(f"{folder}/commands") for folder in ("run", "tracker", "workflow")}
ROWS |= {"feedback": rows_of("checks/commands"), "platform": rows_of("checks/platform")}
ROWS |= {"sandbox": rows_of("demo/commands"), "stage": rows_of("tracker/stage")}
ROWS |= {"": rows_of("commands")}


@each_row("name", EVERY)
def test_each_command_with_a_deadline_says_so(name: str) -> None:
    """The number in `--help` is the constant that ends the command, where a session sets it.

    A command has a session unless its row says that it is plain, and a limit unless the row says none.
    """
    group_name, _, word = name.partition(" ")
    row = ROWS[group_name][word] if group_name in ROWS else ROWS[""][name]
    has_deadline = row.get("is_timed", True) and not row.get("is_plain", False)
    said = " ".join((EVERY[name].help or "").split())
    assert (f"Ends after {command_session.SECONDS:g} seconds at the latest" in said) == has_deadline


@pytest.fixture
def here(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Commands run in this process, in the clone, and have three seconds."""
    monkeypatch.chdir(place.root)
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(command_session, "SECONDS", 3.0)
    return place


@dataclass(frozen=True)
class Stalled:
    """Such a server: where it is, and whether somebody has connected to it."""

    url: str
    is_taken: threading.Event


@pytest.fixture
def stalled() -> Iterator[Stalled]:
    """A git server that takes a connection, and sends a byte now and then for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over, taken_one = threading.Event(), threading.Event()

        def serve() -> None:
            taken = []
            while not over.is_set():
                try:
                    connection, _ = listening.accept()
                except OSError:
                    break
                taken.append(connection)
                taken_one.set()
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            for connection in taken:
                connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield Stalled(f"http://127.0.0.1:{listening.getsockname()[1]}", taken_one)
        over.set()
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_server_that_trickles_for_ever_is_left(
    here: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """A byte now and then keeps each read alive; the command ends, with a sentence and exit 1."""
    here.ready()
    here.control.add_fault(Fault("trickle", operation="ObserveClaim", seconds=0.05, count=9))
    assert run(["tick"]) == 1
    shown = capsys.readouterr()
    assert "time" in shown.out + shown.err
    assert "Traceback" not in shown.out + shown.err
    assert here.claim()["phase"] == "ready_for_pr"
    here.control.clear_faults()
    assert here.cli("tick").returncode == 0


@SOAKED
def test_a_claim_that_ran_out_of_time_says_what_is_held(
    here: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The assignment trickles: the lease is there, the sentence says so, and the next run goes on."""
    monkeypatch.setattr(command_session, "SECONDS", 12.0)  # enough for what comes before
    here.control.add_fault(Fault("trickle", path="/assignees$", seconds=0.05, count=9))
    assert run(["claim", "42"]) == 1
    assert "may still hold #42" in capsys.readouterr().err
    assert not here.has_claim()
    here.control.clear_faults()
    assert here.cli("claim", "42").returncode == 0


def test_a_stalled_git_server_does_not_hold_handoff(
    here: Place, stalled: Stalled, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command ends with its time and says what hung, and what was not pushed; the phase stays."""
    here.ready(phase="coding")
    here.git("remote", "set-url", "origin", f"{stalled.url}/octo-org/hello-service.git")
    assert run(["handoff", "--summary", "Fix"]) == 1
    sentence = capsys.readouterr().err
    assert (
        "git ls-remote took too long and was ended. So nobody knows whether claude/fix-42 reached origin."
        in sentence
    )
    assert "The phase was not changed; hand off again." in sentence
    assert here.claim()["phase"] == "coding"


def test_a_validation_is_not_counted() -> None:
    """While the deadline stands still neither it nor the alarm ends anything; what was left, is left."""
    clock = ManualClock()
    deadline = Deadline.after(clock, 5.0)
    with deadline.standing_still():
        clock.sleep(3600)
        assert deadline.remaining() == 10.0
    assert 4.0 < deadline.left <= 5.0


def test_the_alarm_rings_for_a_deadline_that_is_over() -> None:
    """And not before: a deadline that was moved meanwhile is asked again."""
    clock = ManualClock()
    deadline = Deadline.after(clock, 3600.0)
    rang = []
    try:
        with ending(deadline, lambda: os._exit(1)):
            deadline.renew(-100.0)
            signal.raise_signal(signal.SIGALRM)
    except DeadlineReached:
        rang.append("moved nearer")
    with ending(deadline, lambda: os._exit(1)):
        deadline.renew(3600.0)
        signal.raise_signal(signal.SIGALRM)
        rang.append("moved away")
    assert rang == ["moved nearer", "moved away"]


@SOAKED
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_with_130_and_leaves_nothing_half_done(place: Place, stalled: Stalled) -> None:
    """SIGINT to the whole group while git hangs: one sentence, no lock of git's, and the next goes on."""
    place.ready(phase="coding")
    url = place.git("remote", "get-url", "origin")
    place.git("remote", "set-url", "origin", f"{stalled.url}/octo-org/hello-service.git")
    process = subprocess.Popen(
        [str(STARTED), "handoff", "--summary", "Fix"],
        cwd=place.root,
        env=place.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert stalled.is_taken.wait(60)  # git talks to it
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.strip().splitlines() == ["Interrupted; what was done so far is kept."]
    assert not list((place.root / ".git").rglob("*.lock"))
    place.git("remote", "set-url", "origin", url)
    done = place.cli("handoff", "--summary", "Fix")
    assert done.returncode == 0, done.stderr
    assert place.claim()["phase"] == "ready_for_pr"


@SOAKED
@pytest.mark.usefixtures("interruptible")
def test_what_changes_the_files_here_is_let_finish(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a switch: the switch is whole, and no lock is left."""
    place.git("branch", "other")
    hook = place.root / ".git/hooks/post-checkout"
    hook.write_text("#!/bin/sh\nread _ < awaited\nkill -INT $TESTED\nsleep 0.3\ntouch finished\n")
    hook.chmod(0o755)
    monkeypatch.setenv("TESTED", str(os.getpid()))
    # A signal while git is being started would leave it to itself: only then is it waited for.
    awaited, heard = place.root / "awaited", timing._heard
    os.mkfifo(awaited)

    def hears(*about: Any) -> tuple[str, str]:
        awaited.write_text("\n")
        return heard(*about)

    monkeypatch.setattr(timing, "_heard", hears)
    git = GitRepository(place.root, Deadline(ManualClock(), None), place.environment)
    with pytest.raises(KeyboardInterrupt):
        git.run("switch", "other")
    monkeypatch.undo()
    assert (place.root / "finished").exists()
    assert git.current_branch() == "other"


def test_doctor_says_how_long_it_may_take() -> None:
    """The number in its `--help` is the constant that ends it."""
    assert f"ends after {examined.SECONDS:g} seconds at the latest" in " ".join(
        (EVERY["doctor"].help or "").split()
    )


@SOAKED
def test_doctor_leaves_a_server_that_trickles(
    here: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that sends a byte now and then is a finding, and the other checks are told."""
    monkeypatch.setattr(examined, "SECONDS", 2.0)
    here.control.add_fault(
        Fault("trickle", path="^/user$|^/graphql$|^/repos", seconds=0.05, count=99)
    )
    assert run(["doctor"]) == 1
    shown = capsys.readouterr()
    assert "GitHub did not answer in time" in shown.out
    assert "No hook is installed" in shown.out
    assert "Traceback" not in shown.out + shown.err


def test_a_check_that_the_alarm_ended_is_a_finding(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The alarm rings in the middle of a check: the report has a line for it, and all the others."""

    def hangs(_case: examined.Examined) -> None:
        raise DeadlineReached

    monkeypatch.setattr(examination, "FAMILIES", (("board", hangs, ""), *examination.FAMILIES[:1]))
    report = examination.examine(place.root, place.environment, place.clock)
    assert "before everything was checked" in report.findings[0].sentence
    assert len(report.findings) > 1


@SOAKED
def test_reconcile_leaves_a_server_that_trickles(
    here: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run whose server keeps each read alive ends at its minutes, with a report that says so."""
    here.control.add_fault(Fault("trickle", path="^/graphql$", seconds=0.05, count=99))
    assert run(["reconcile", "--minutes", "0.03"]) == 1
    shown = capsys.readouterr()
    assert "time" in shown.out + shown.err
    assert "Traceback" not in shown.out + shown.err
